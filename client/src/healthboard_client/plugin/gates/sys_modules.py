"""Modules that are taken out of `sys.modules`, replaced, or detached from their parent.

Guarantees: adding a module is no leak; a purge that puts the same objects back is none;
a look needs no lock, and other threads may import meanwhile, for what is searched is a
copy that the interpreter makes in one step. Where nothing happened only the watched
part is compared, and nothing is copied. Identity decides; only an object that claims to
be equal to a module (`mock.ANY`) could stand in for it unseen.
"""

from __future__ import annotations

import operator
import sys
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from healthboard_client.plugin.gates.gate import Gate, Words
from healthboard_client.plugin.states import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from healthboard_client.plugin.states import Change, State
    from healthboard_client.plugin.watched import Watched

_ORPHANS = (
    "Every later importer gets another module object, so a test or a fixture that "
    "holds the earlier one works on an orphan.\n"
    "Put the modules back, and the attributes of their parents too: use the fixture "
    'fresh_import("package.module"), or monkeypatch.delitem(sys.modules, name) and '
    "monkeypatch.setattr(parent, child, module)."
)
_ATTRIBUTE = ":"  # package:child, a key that no module's name can be


class _Loose(NamedTuple):
    """A child that its parent does not hold; it may come to."""

    namespace: Mapping[str, object]
    child: str
    value: object

    def is_unchanged(self) -> bool:
        return self.namespace.get(self.child, MISSING) is self.value


class _Group(NamedTuple):
    """Values that are looked up together in one dictionary."""

    namespace: Mapping[str, object]
    getter: Callable[[Any], tuple[object, ...]]  # Any: what itemgetter takes
    values: tuple[object, ...]
    plain: bool  # no value compares by anything but identity

    def is_unchanged(self, namespace: Mapping[str, object]) -> bool:
        try:
            values = self.getter(namespace)
        except KeyError:
            return False
        if self.plain:  # tuples of the same objects are equal at the first look
            return values == self.values
        return all(map(is_, values, self.values))


class SysModules(Gate):
    name = family = "sys_modules"
    same = staticmethod(operator.is_)
    words = {
        "removed": Words(
            "removed {count} module(s) from sys.modules and did not restore them",
            _ORPHANS,
        ),
        "replaced": Words(
            "replaced {count} module(s) in sys.modules by other objects", _ORPHANS
        ),
        "detached": Words(
            "detached {count} module(s) from the attribute of their parent package",
            "`import package.module` still finds the module, while `package.module` is "
            "gone or another object: a patch of one does not reach the other.\n"
            "Restore the parent's attribute together with sys.modules; the fixture "
            "fresh_import does both.",
        ),
    }

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._state: State = {}
        self._groups: list[_Group] = []
        self._loose: list[_Loose] = []
        self._mark: tuple[int, str] = (-1, "")

    def take(self) -> State:
        modules = sys.modules
        if _mark(modules) == self._mark and self._is_unchanged(modules):
            return self._state
        return self._look(modules.copy())

    def take_before(self, _last: State | None) -> State:
        """What the last test left, as long as no module came or went since."""
        if _last is self._state and _mark(sys.modules) == self._mark:
            return self._state
        return self.take()

    def kind(self, change: Change) -> str:
        if change.before is MISSING:
            return ""
        if _ATTRIBUTE in change.key:
            return "detached" if change.after is MISSING else ""
        return "removed" if change.after is MISSING else "replaced"

    def judged(self, made: Sequence[Change]) -> Sequence[Change]:
        """A module that is gone, or its parent, is not told as detached as well."""
        modules = {one.key: one for one in made if _ATTRIBUTE not in one.key}
        told: list[Change] = []
        for change in made:
            parent, attribute, child = change.key.partition(_ATTRIBUTE)
            if attribute:
                above = modules.get(parent)
                if f"{parent}.{child}" in modules or (above and above.after is MISSING):
                    continue
            told.append(change)
        return told

    def item(self, change: Change) -> str:
        return change.key.replace(_ATTRIBUTE, ".")

    def _is_unchanged(self, modules: dict[str, Any]) -> bool:
        if not self._groups:
            return True
        first, *others = self._groups
        return (
            first.is_unchanged(modules)
            and all(group.is_unchanged(group.namespace) for group in others)
            and all(loose.is_unchanged() for loose in self._loose)
        )

    def _look(self, modules: dict[str, Any]) -> State:  # Any: tests put anything there
        """Search a copy: what is watched, and which of it its parent holds."""
        held = {
            name: module
            for name, module in modules.items()
            if self._watched.holds(name, module)
        }
        parents: dict[int, tuple[dict[str, Any], dict[str, object]]] = {}
        state: dict[str, object] = dict(held)
        self._loose = []
        for name, module in held.items():
            parent, _, child = name.rpartition(".")
            namespace = getattr(modules.get(parent), "__dict__", None)
            if not parent or namespace is None:
                continue
            value = namespace.get(child, MISSING)
            if value is module:
                state[f"{parent}{_ATTRIBUTE}{child}"] = module
                known = parents.setdefault(id(namespace), (namespace, {}))
                known[1][child] = module
            else:
                self._loose.append(_Loose(namespace, child, value))
        self._state = state
        self._mark = _mark(modules)
        self._groups = [_group(modules, held)] if held else []
        self._groups += [_group(*parent) for parent in parents.values()]
        return state


def _group(namespace: Mapping[str, object], held: dict[str, object]) -> _Group:
    # Of one name alone, itemgetter would return the value and no tuple.
    names = [*held, next(iter(held))]
    values = tuple(held[name] for name in names)
    plain = all(type(value).__eq__ is object.__eq__ for value in values)
    return _Group(namespace, itemgetter(*names), values, plain)


def _mark(modules: dict[str, Any]) -> tuple[int, str]:
    """What is another one after any insertion: the size, and the newest name."""
    try:
        return len(modules), next(reversed(modules), "")
    except RuntimeError:  # another thread imported between the two steps
        return -2, ""
