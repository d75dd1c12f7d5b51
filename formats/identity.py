"""Which test case an element is: its key, the same whatever format reports it.

Guarantees: pytest's xunit1, xunit2, reportlog, trace and gate forms of one test give
one key; equal keys need equal (file, suites, class, name) but for volatile parts;
nothing is cut off. The rules are design.md's; docs/identity.md explains them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from formats.prefixes import IdentityRules, Prefixes
from formats.volatile import mask_names, may_be_volatile, strip_checkout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.report import Element

_SEPARATOR = "\x1f"  # stands in no XML document
_SUITES = "\x1e"
_UNSTORABLE = re.compile("[\x00\x1e\x1f\ud800-\udfff]")
_SLASHES = re.compile(r"/{2,}|(?:(?<=/)|^)(?:\./)+")
COLLECTION = " (collection)"

_new = tuple.__new__

MOST_KNOWN = 20_000  # identities that are remembered, some 17 MB
MOST_PLACES = 10_000
_LONGEST_KNOWN = 300  # characters of a name

RANK_DOTTED = 1  # classname and name: where the file ends is not known
RANK_FILE = 2  # with the file, or a whole tuple of another framework
RANK_NODEID = 3  # pytest's own node id


class Identity(NamedTuple):
    """`raw` is the key without masking; `masked` the volatile parts found."""

    key: str
    nodeid: str
    rank: int
    file: str
    suite: str
    name: str
    params: str
    masked: tuple[str, ...]
    raw: str


class _Place(NamedTuple):
    """What all tests of one class in one file share; texts end at a separator."""

    key: str
    raw: str
    nodeid: str
    rank: int
    file: str
    suite: str
    pytest: bool
    masked: tuple[str, ...]


@lru_cache(maxsize=4)
def _kept(rules: IdentityRules) -> list[Identifier]:
    return [Identifier(rules)]


def identifier(rules: IdentityRules | None = None) -> Identifier:
    """Return an identifier for one upload: the last one's, as long as it is not full.

    A suite says the same names again and again, and looking one up costs a quarter of
    deciding it.
    """
    kept = _kept(rules or IdentityRules())
    if kept[0].is_full():
        kept[0] = Identifier(rules)
    return kept[0]


class Identifier:
    """Identifies elements; remembers each class, and many tests, that it has seen."""

    def __init__(self, rules: IdentityRules | None = None) -> None:
        self._prefixes = Prefixes(rules or IdentityRules())
        # By whether pytest wrote it; then by class name, file and suites.
        self._classes: dict[bool, dict[tuple[object, ...], _Place]] = {
            True: {},
            False: {},
        }
        self._modules: dict[str, _Place] = {}
        self._known: dict[bool, dict[tuple[object, ...], Identity]] = {
            True: {},
            False: {},
        }

    def is_full(self) -> bool:
        return (
            any(len(known) >= MOST_KNOWN for known in self._known.values())
            or len(self._modules) + sum(map(len, self._classes.values())) > MOST_PLACES
        )

    def identify_all(self, elements: Sequence[Element]) -> list[Identity]:
        """Decide for each; what is known is looked up without a call for each."""
        known, identify = self._known, self.identify
        # By places: test id, node id and collection say more than name to suites do.
        return [
            (None if one[10] or one[9] or one[17] else known[one[16]].get(one[:4]))
            or identify(one)
            for one in elements
        ]

    def identify(self, element: Element) -> Identity:
        """Decide which test case this element is."""
        if element.test_id:
            return self._explicit(element)
        if element.nodeid:
            return self.identify_nodeid(element.nodeid, collection=element.collection)
        if element.collection or not (element.classname or not element.pytest):
            return self._pseudo_case(element)
        known = self._known[element.pytest]
        said = element[:4]  # name, class name, file and suites
        identity = known.get(said)
        if identity is None:
            identity = self._join_place(element)
            if len(known) < MOST_KNOWN and len(element.name) <= _LONGEST_KNOWN:
                known[said] = identity
        return identity

    def _join_place(self, element: Element) -> Identity:
        places = self._classes[element.pytest]
        seen = element[1:4]
        place = places.get(seen)
        if place is None:
            place = places[seen] = self._place(element)
        return _join(place, element.name)

    def identify_nodeid(self, nodeid: str, *, collection: bool = False) -> Identity:
        """Decide which test case a pytest node id names."""
        if collection:
            return _bare(self._nodeid_place(nodeid), COLLECTION)
        head, bracket, params = nodeid.partition("[")
        where, colons, name = head.rpartition("::")
        if not colons:
            return _bare(self._nodeid_place(nodeid), "")
        place = self._modules.get(where)
        if place is None:
            place = self._modules[where] = self._nodeid_place(where)
        return _join(place, f"{name}{bracket}{params}" if bracket else name)

    def _explicit(self, element: Element) -> Identity:
        shown = self.identify(element._replace(test_id=""))
        key = f"id{_SEPARATOR}{_normal(element.test_id)}"
        return shown._replace(key=key, raw=key, masked=())

    def _pseudo_case(self, element: Element) -> Identity:
        """A suite that broke, or a module that pytest could not import or skipped."""
        failed = element.collection or element.message.startswith("collection failure")
        suffix = COLLECTION if failed else ""
        name = _normal(element.name).removesuffix(COLLECTION)
        if element.pytest and not element.classname:
            return _bare(_pytest_place(self._prefixes.dotted(name), ""), suffix)
        name = name or element.file or (element.suites or ("",))[-1]
        element = element._replace(
            file="" if element.file == name else element.file,
            suites=tuple(suite for suite in element.suites if suite != name),
        )
        return _join(self._place(element), f"{name}{suffix}")

    def _place(self, element: Element) -> _Place:
        file = self._prefixes.path(_clean_path(_normal(element.file)))
        if is_pytest(element):
            dotted = self._prefixes.dotted(_normal(element.classname))
            return _pytest_place(dotted, self._prefixes.pytest_path(file))
        classname = self._prefixes.classname(_normal(element.classname))
        own_names = {"", classname, element.classname, file, element.file}
        suites = [s for s in map(_normal, element.suites) if s not in own_names]
        suite, path = "::".join(suites), _SUITES.join(suites)
        short, file_mask = _short_path(file)
        (suite_key, suite_mask), (class_key, class_mask) = (
            mask_names(path),
            mask_names(classname),
        )
        masked_short, short_mask = mask_names(short)
        nodeid = "::".join(part for part in (short, *suites, classname, "") if part)
        return _Place(
            key=_SEPARATOR.join((masked_short, suite_key, class_key, "")),
            raw=_SEPARATOR.join((file, path, classname, "")),
            nodeid=f"{nodeid}::" if nodeid else "",
            rank=RANK_FILE,
            file=short,
            suite=suite,
            pytest=False,
            masked=file_mask + short_mask + suite_mask + class_mask,
        )

    def _nodeid_place(self, where: str) -> _Place:
        path, colons, suite = _normal(where).partition("::")
        path = _clean_path(path)
        dotted = self._prefixes.dotted(_dotted(path))
        if colons:
            dotted = f"{dotted}.{suite.replace('::', '.')}"
        key, masked = mask_names(dotted)
        file = self._prefixes.pytest_path(self._prefixes.path(path))
        nodeid = f"{file}{colons}{suite}::"
        return _Place(
            f"{key}::", f"{dotted}::", nodeid, RANK_NODEID, file, suite, True, masked
        )


def identify(element: Element, rules: IdentityRules | None = None) -> Identity:
    """Identify one element; for many, keep one `Identifier`."""
    return Identifier(rules).identify(element)


def is_pytest(element: Element) -> bool:
    """Tell whether pytest wrote this element."""
    if element.pytest or element.nodeid:
        return True
    if not element.file.endswith(".py") or not element.classname:
        return False
    module = _dotted(_clean_path(element.file))
    return f"{element.classname}.".startswith(f"{module}.")


def _pytest_place(dotted: str, file: str) -> _Place:
    key, masked = mask_names(dotted)
    module = _dotted(file)
    rest = dotted.removeprefix(module)
    nodeid, rank, suite = f"{dotted}::", RANK_DOTTED, ""
    if file.endswith(".py") and rest != dotted and rest[:1] in ("", "."):
        rank, suite = RANK_FILE, rest[1:].replace(".", "::")
        nodeid = f"{file}::{suite}::" if suite else f"{file}::"
    return _Place(f"{key}::", f"{dotted}::", nodeid, rank, file, suite, True, masked)


def _join(place: _Place, name: str) -> Identity:
    key, raw, nodeid, rank, file, suite, pytest, masked = place
    base, params, masked_name = name, "", name
    if not (name.isascii() and name.isidentifier()):
        base = masked_name = name = _normal(name)
        if may_be_volatile(name):
            masked_name, found = mask_names(name)
            masked += found
        if name.endswith("]"):
            base, params = _split_params(name, pytest=pytest)
    # The plain constructor costs twice as much, and this runs for every result.
    return _new(
        Identity,
        (
            key + masked_name,
            nodeid + name,
            rank,
            file,
            suite,
            base,
            params,
            masked,
            raw + name,
        ),
    )


def _bare(place: _Place, suffix: str) -> Identity:
    """A whole module or file as a test case."""
    nodeid = place.nodeid.removesuffix("::") + suffix
    return Identity(
        place.key.removesuffix("::") + suffix,
        nodeid,
        place.rank,
        place.file,
        place.suite,
        nodeid,
        "",
        place.masked,
        place.raw.removesuffix("::") + suffix,
    )


def _split_params(name: str, *, pytest: bool) -> tuple[str, str]:
    base, _, params = name.partition("[")
    if not base or not (pytest or (params != "]" and not base[-1].isspace())):
        return name, ""
    return base, params[:-1]


def _normal(text: str) -> str:
    if text.isascii():
        if text.isprintable():
            return text
    else:
        text = unicodedata.normalize("NFC", text)
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _clean_path(path: str) -> str:
    return _SLASHES.sub(_one_slash, path.replace("\\", "/")) if path else ""


def _one_slash(match: re.Match[str]) -> str:
    return "/" if match.group().startswith("//") else ""


def _short_path(path: str) -> tuple[str, tuple[str, ...]]:
    """An absolute path's part below the checkout, and the path if it was one."""
    short = strip_checkout(path)
    return short, ((path,) if short != path else ())


def _dotted(path: str) -> str:
    return path.replace("/", ".").removesuffix(".py")
