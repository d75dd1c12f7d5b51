"""Which modules are watched.

Guarantees: a name is an exact module or the head of a dotted one, so `agent` watches
`agent` and `agent.loop` and never `agentic`; what is excluded is excluded though it be
watched. Where nothing is named, the project's own modules are watched.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_INSTALLED = frozenset({"site-packages", "dist-packages", ".venv", "venv", ".tox"})


class Watched:
    """Answers for each module once; a name keeps its answer."""

    def __init__(
        self, prefixes: Sequence[str], excluded: Sequence[str], *, root: Path
    ) -> None:
        self._prefixes = frozenset(prefixes)
        self._excluded = frozenset(excluded)
        self._root = root
        self._known: dict[str, bool] = {}

    def holds(self, name: str, module: object) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._decide(name, module)
        return known

    def _decide(self, name: str, module: object) -> bool:
        if _is_below(name, self._excluded):
            return False
        if self._prefixes:
            return _is_below(name, self._prefixes)
        return self._is_own(module)

    def _is_own(self, module: object) -> bool:
        """Tell whether it lies in the project, outside of what is installed."""
        # Not by getattr: a lazy module would import itself.
        file = getattr(module, "__dict__", {}).get("__file__")
        if not isinstance(file, str):
            return False
        path = Path(file)
        if not path.is_relative_to(self._root):
            return False
        return _INSTALLED.isdisjoint(path.relative_to(self._root).parts)


def _is_below(name: str, prefixes: frozenset[str]) -> bool:
    while name:
        if name in prefixes:
            return True
        name = name.rpartition(".")[0]
    return False
