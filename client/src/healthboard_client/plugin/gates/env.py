"""Environment variables that a test sets, changes or removes.

Guarantees: names are told, values never, as they may be secrets.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from healthboard_client.plugin.gates.gate import Gate, Words, kind_of_value

if TYPE_CHECKING:
    from healthboard_client.plugin.states import Change, State

_RECIPE = (
    "Later tests of this process, and all processes that they start, see it.\n"
    "Use monkeypatch.setenv and monkeypatch.delenv, which put it back."
)
# pytest's own: another value in each phase.
_PASSING = frozenset({"PYTEST_CURRENT_TEST"})


class Env(Gate):
    name = family = "env"
    words = {
        "set": Words(
            "set {count} environment variable(s) and did not remove them", _RECIPE
        ),
        "changed": Words(
            "changed {count} environment variable(s) and did not restore them", _RECIPE
        ),
        "removed": Words(
            "removed {count} environment variable(s) and did not restore them", _RECIPE
        ),
    }

    def __init__(self) -> None:
        self._raw: object = None
        self._state: State = {}

    def take(self) -> State:
        # What os.environ decodes at each look; comparing it costs nearly nothing.
        raw = getattr(os.environ, "_data", None)
        if raw is not None and raw == self._raw:
            return self._state
        self._raw = None if raw is None else dict(raw)
        self._state = {
            name: value
            for name, value in os.environ.copy().items()
            if name not in _PASSING
        }
        return self._state

    def kind(self, change: Change) -> str:
        return kind_of_value(change)
