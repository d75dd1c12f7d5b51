"""The filters of `warnings`.

Guarantees: it tells only what lasts. pytest puts the filters back after each test as
long as its own `warnings` plugin is on; then nothing can leak, and nothing is told.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from healthboard_client.plugin.gates.gate import Gate, Words

if TYPE_CHECKING:
    from healthboard_client.plugin.states import Change, State


class WarningFilters(Gate):
    name = family = "warnings"
    words = {
        "filters": Words(
            "changed {count} filter(s) of warnings and did not restore them",
            "Later tests no longer see a warning, or fail by one.\n"
            "Use warnings.catch_warnings() or @pytest.mark.filterwarnings.",
        )
    }

    def __init__(self, *, undone_by_pytest: bool) -> None:
        self._idle = undone_by_pytest

    def take(self) -> State:
        if self._idle:
            return {}
        state: dict[str, object] = {}
        for action, message, category, module, line in warnings.filters:
            where = f"{_pattern(module)}:{line}" if module or line else ""
            parts = (action, _pattern(message), _name(category), where)
            state[":".join(parts).rstrip(":")] = True
        return state

    def kind(self, _change: Change) -> str:
        return "filters"


def _name(category: object) -> str:
    return str(getattr(category, "__name__", category))


def _pattern(compiled: object) -> str:
    if compiled is None:
        return ""
    return str(getattr(compiled, "pattern", compiled))
