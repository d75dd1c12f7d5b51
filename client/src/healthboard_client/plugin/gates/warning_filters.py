"""The filters of `warnings`.

Guarantees: it tells only what lasts. pytest puts the filters back after each test as
long as its own `warnings` plugin is on; then nothing can leak, and nothing is told.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from healthboard_client.plugin.gates.gate import Gate, Words, told_difference

if TYPE_CHECKING:
    from healthboard_client.plugin.states import Change, State


class WarningFilters(Gate):
    name = family = "warnings"
    words = {
        "filters": Words(
            "changed the filters of warnings and did not restore them",
            "Later tests no longer see a warning, or fail by one.\n"
            "Use warnings.catch_warnings() or @pytest.mark.filterwarnings.",
        )
    }

    def __init__(self, *, undone_by_pytest: bool) -> None:
        self._idle = undone_by_pytest

    def take(self) -> State:
        if self._idle:
            return {}
        return {"warnings.filters": tuple(map(_told, warnings.filters))}

    def kind(self, _change: Change) -> str:
        return "filters"

    def item(self, change: Change) -> str:
        return told_difference(change)


def _told(one: tuple[object, ...]) -> str:
    """A filter as it is written on the command line."""
    action, message, category, module, line = one
    where = f"{_pattern(module)}:{line}" if module or line else ""
    return ":".join((str(action), _pattern(message), _name(category), where)).rstrip(
        ":"
    )


def _name(category: object) -> str:
    return str(getattr(category, "__name__", category))


def _pattern(compiled: object) -> str:
    if compiled is None:
        return ""
    return str(getattr(compiled, "pattern", compiled))
