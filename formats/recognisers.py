"""Gates' failures among ordinary ones, told by their texts.

Guarantees: a text counts only where it is the exception (`said.py`), and only for the
case that carries it; what merely quotes a gate is none. Our own patterns take time
linear in the text, a project's are cut off (`own_patterns.py`).
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from formats.gates import (
    ENTRY,
    MOST_ITEMS,
    MOST_NAME,
    EntryDetail,
    LeakFact,
    entry_leak,
)
from formats.json_lines import clean
from formats.said import Said, said

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from formats.own_patterns import OwnPatterns

_SPACE = re.compile(r"\s+")
_REMOVED = re.compile(
    r"(?<!\s)\s+removed\s+(\d{1,9})\s+module\(s\)\s+from\s+sys\.modules"
    r"\s+and\s+did\s+not\s+restore\s+them(?![^\W_])"
)
_LIST = re.compile(
    r"\s*:\s*([^\s,()]+(?:\s*,\s*[^\s,()]+)*)(?:\s*,?\s*\(\+\d+\s+more\))?"
)
_COUNTED = re.compile(r"(?<!\w)(\d{1,9})\s+entr(?:y|ies)(?!\w)")
_REASON = re.compile(r"\[([^\[\]\n]{1,500})\]\s+agent_session=")
_REPR = r"(None|'(?:[^'\\\n]|\\.){0,20000}'|\"(?:[^\"\\\n]|\\.){0,20000}\")"
_VALUES = re.compile(_REPR + r"\s+prompt=" + _REPR)
_QUOTES = frozenset("'\"`")
_UNPLAIN = re.compile("[\\s'\"`]")


class Carrier(NamedTuple):
    """The case whose failure the text is."""

    name: str  # with its parameters
    nodeid: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a failure's text says of leaks; `whole`: the case itself did not fail."""

    leaks: tuple[LeakFact, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Recogniser:
    """`word` must stand in a text before `build` looks at it; `words` are for people."""

    name: str
    kind: str
    words: str
    word: str
    pattern: re.Pattern[str]
    build: Callable[[Said, re.Match[str], Carrier], list[LeakFact]]


def _removed_modules(
    told: Said, match: re.Match[str], carrier: Carrier
) -> list[LeakFact]:
    nodeid = squeezed(told.text[: match.start()])
    if not is_carried(nodeid, carrier):
        return []
    listed = _LIST.match(told.text, match.end())
    end = listed.end() if listed else match.end()
    names = listed[1].split(",") if listed else []
    items = tuple(name.strip().rstrip('".;') for name in names)
    return [
        LeakFact(
            test_nodeid=nodeid,
            kind="sys_modules.removed",
            gate="sys_modules",
            items=items[:MOST_ITEMS],
            item_count=max(int(match[1]), len(items)),
            phase=told.phase,
            message=squeezed(told.text[:end]),
            recipe=told.text[end:].lstrip('."').strip(),
        )
    ]


def _guard_entries(told: Said, match: re.Match[str], _: Carrier) -> list[LeakFact]:
    """One leak for each entry behind a header that says how many there are."""
    text = told.text
    leaks: list[LeakFact] = []
    header, at = "", 0
    while reason := _REASON.search(text, at):
        values = _VALUES.match(text, reason.end())
        path = text[at : reason.start()]
        if not leaks:
            header, path = _split_header(path)
            if not _is_header(header, match):
                return []
        path = path.strip()
        if not values or not path or "\n" in path:
            break
        detail = EntryDetail(
            path, reason[1].strip(), _value(values[1]), _value(values[2])
        )
        leaks.append(replace(entry_leak(detail, message=header), phase=told.phase))
        at = values.end()
    return leaks


def _split_header(text: str) -> tuple[str, str]:
    """The header, and the first path: on the next line, or behind the last colon."""
    header, newline, path = text.rstrip().rpartition("\n")
    if "\n" in header.strip():
        return "", path
    if newline:
        return squeezed(header), path
    header, _, path = re.sub(r":\s+", ":\n", text).rpartition("\n")
    return squeezed(header), path


def _is_header(header: str, counted: re.Match[str]) -> bool:
    quoted = header[:1] in _QUOTES or header.startswith("assert ")
    return header.endswith(":") and counted[0] in header and not quoted


def _value(written: str) -> str | None:
    try:
        value = ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return clean(written[1:-1])
    return None if value is None else clean(str(value))


BUILT_IN: tuple[Recogniser, ...] = (
    Recogniser(
        "sys_modules",
        "sys_modules.removed",
        "<node id> removed <N> module(s) from sys.modules and did not restore them",
        "sys.modules",
        _REMOVED,
        _removed_modules,
    ),
    Recogniser(
        "state_guard",
        ENTRY,
        "<N> entries …: <path>  [<reason>]  agent_session=…  prompt=…",
        "agent_session=",
        _COUNTED,
        _guard_entries,
    ),
)


class Recognisers:
    """The table of one upload: ours, and the project's own."""

    def __init__(self, own: OwnPatterns | None = None) -> None:
        self._own = own

    def find(
        self, message: str, text: str, carrier: Carrier, *, spoken: Sequence[str] = ()
    ) -> Found | None:
        """Return the leaks that a failure's text tells of, None for any other one.

        `spoken` are messages of gates whose payload came with the report, with single
        blanks: a text that begins with one is that gate's failure, and no new leak.
        """
        table = [one for one in BUILT_IN if one.word in message or one.word in text]
        if not table and not spoken and self._own is None:
            return None
        told = list(said(message, text))
        leaks: list[list[LeakFact] | None] = [
            _built_in(one, table, carrier) or _spoken(one, spoken) for one in told
        ]
        if self._own is not None:
            leaks = self._own.add(told, leaks, carrier)
        if all(some is None for some in leaks):
            return None
        found = merged([leak for some in leaks for leak in some or ()])
        if found and all(leak.test_nodeid is None for leak in found):
            return Found(found, whole=False)  # a session's: the case keeps its outcome
        return Found(found, whole=_is_whole(message, text, told, leaks))


def _built_in(
    told: Said, table: Sequence[Recogniser], carrier: Carrier
) -> list[LeakFact] | None:
    for one in table:
        match = one.pattern.search(told.text)
        leaks = one.build(told, match, carrier) if match else []
        if leaks:
            return leaks
    return None


def _spoken(told: Said, spoken: Sequence[str]) -> list[LeakFact] | None:
    if not spoken:
        return None
    text = squeezed(told.text)
    return [] if any(text.startswith(words) for words in spoken) else None


def _is_whole(
    message: str,
    text: str,
    told: Sequence[Said],
    leaks: Sequence[list[LeakFact] | None],
) -> bool:
    """Tell whether the failure is nothing but the gate's.

    The message decides; of an exception group all members. Where the producer wrote none (a reader then takes the text's
    first line for it) every exception of the text must be a gate's.
    """
    members = [some for one, some in zip(told, leaks, strict=True) if one.member]
    if members:
        return all(some is not None for some in members)
    for one, some in zip(told, leaks, strict=True):
        if one.in_message and some is not None:
            return True
    if message.strip() and not text.lstrip().startswith(message.strip()):
        return False
    blocks = [some for one, some in zip(told, leaks, strict=True) if not one.in_message]
    return all(some is not None for some in blocks)


def merged(leaks: Sequence[LeakFact]) -> tuple[LeakFact, ...]:
    """One leak a test, kind and entry: the one that names most, all recipes' longest."""
    best: dict[object, LeakFact] = {}
    for leak in leaks:
        key = (leak.test_nodeid, leak.kind, leak.detail)
        known = best.get(key)
        if known is None:
            best[key] = leak
            continue
        fuller = max(known, leak, key=lambda one: (len(one.items), one.item_count))
        recipe = max(known.recipe, leak.recipe, key=len)
        phase = known.phase or leak.phase
        if (recipe, phase) != (fuller.recipe, fuller.phase):
            fuller = replace(fuller, recipe=recipe, phase=phase)
        best[key] = fuller
    return tuple(best.values())


def is_carried(nodeid: str, carrier: Carrier) -> bool:
    """Tell whether a text is a node id whose last part names the carrying case.

    A path may hold blanks, but then it must be the carrier's own: a sentence that ends
    in a node id is none.
    """
    if not nodeid or len(nodeid) > MOST_NAME:
        return False
    head, bracket, params = nodeid.partition("[")
    where, colons, last = head.rpartition("::")
    if not colons or f"{last}{bracket}{params}" != squeezed(carrier.name):
        return False
    plain = _UNPLAIN.search(where) is None
    return bool(where) and (plain or nodeid == squeezed(carrier.nodeid))


def squeezed(text: str) -> str:
    """The text with single blanks for any white space."""
    return _SPACE.sub(" ", text).strip()
