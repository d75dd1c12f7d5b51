"""Importing modules afresh, and leaving no trace of it.

Guarantees: afterwards the same module objects stand in `sys.modules` and in the
attributes of their parents as before, the deepest first; copies that were imported
meanwhile are gone, and so are modules below the named ones that were not there before.
The objects that were purged are not touched: who holds one can go on with it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

_ABSENT = object()


class FreshImport:
    """Modules, and all below them, purged until `restore`; use it by `with`."""

    def __init__(self, *names: str) -> None:
        if not names or not all(names):
            raise ValueError("fresh_import needs the name of a module")
        self._names = names
        self._held: dict[str, object] = {}
        self._attributes: list[tuple[str, object, object]] = []
        self._purged = False

    def __enter__(self) -> FreshImport:
        if self._purged:
            return self
        self._purged = True
        modules = sys.modules
        self._held = {name: modules[name] for name in _below(self._names)}
        outermost = [
            name for name in self._names if name.rpartition(".")[0] not in self._held
        ]
        for name in outermost:
            parent = modules.get(name.rpartition(".")[0])
            self._attributes.append((name, parent, _set(parent, name, _ABSENT)))
        for name in _deepest_first(self._held):
            del modules[name]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.restore()

    def restore(self) -> None:
        """Put everything back; a second time does nothing."""
        if not self._purged:
            return
        self._purged = False
        modules: dict[str, object] = sys.modules  # type: ignore[assignment]
        for name in _deepest_first(_below(self._names)):
            del modules[name]
        for name in _deepest_first(self._held):
            modules[name] = self._held[name]
        for name, parent, value in reversed(self._attributes):
            # A parent that came meanwhile stays, without what was evicted.
            _set(parent or modules.get(name.rpartition(".")[0]), name, value)
        self._attributes.clear()


fresh_import = FreshImport


@pytest.fixture(name="fresh_import")
def fresh_import_fixture() -> Iterator[Callable[..., FreshImport]]:
    """Purge modules until the test ends, or the `with` block: fresh_import("agent")."""
    opened: list[FreshImport] = []

    def purge(*names: str) -> FreshImport:
        opened.append(FreshImport(*names).__enter__())
        return opened[-1]

    yield purge
    for one in reversed(opened):
        one.restore()


def _below(names: tuple[str, ...]) -> list[str]:
    heads = tuple(f"{name}." for name in names)
    # Other threads import meanwhile; copying is one step of the interpreter.
    loaded = sys.modules.copy()
    return [name for name in loaded if name in names or name.startswith(heads)]


def _deepest_first(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: -name.count("."))


def _set(parent: object, name: str, value: object) -> object:
    """Set, or with `_ABSENT` take away, what a parent calls its child; return the old."""
    namespace = getattr(parent, "__dict__", None)
    child = name.rpartition(".")[2]
    if parent is None or namespace is None:
        return _ABSENT
    old = namespace.get(child, _ABSENT)
    if value is _ABSENT:
        namespace.pop(child, None)
    else:
        namespace[child] = value
    return old
