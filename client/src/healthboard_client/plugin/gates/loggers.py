"""Handlers and levels of loggers.

Guarantees: pytest's own handlers and a library's NullHandler are nobody's leak, nor is
a logger that is merely asked for.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from healthboard_client.plugin.gates.gate import Gate, Words

if TYPE_CHECKING:
    from healthboard_client.plugin.states import Change, State

_LEVEL, _HANDLERS = "level", "handlers"


class Loggers(Gate):
    name = family = "logging"
    words = {
        _HANDLERS: Words(
            "changed the handlers of {count} logger(s) and did not restore them",
            "Later tests log twice, into closed streams, or not at all.\n"
            "Remove the handler in a fixture's teardown, and call logging.basicConfig "
            "or dictConfig only where the loggers are put back afterwards.",
        ),
        _LEVEL: Words(
            "changed the level of {count} logger(s) and did not restore it",
            "Later tests see messages that they did not, or miss some.\n"
            "Use caplog.set_level, which puts the level back.",
        ),
    }

    def take(self) -> State:
        state: dict[str, object] = {
            "level logging.disable": logging.root.manager.disable
        }
        known = logging.root.manager.loggerDict.copy()
        for name, logger in (("root", logging.root), *known.items()):
            if not isinstance(logger, logging.Logger):
                continue  # a place that only keeps children together
            if logger.level:
                state[f"{_LEVEL} {name}"] = logger.level
            handlers = tuple(one for one in logger.handlers if not _is_idle(one))
            if handlers:
                state[f"{_HANDLERS} {name}"] = handlers
        return state

    def kind(self, change: Change) -> str:
        return change.key.partition(" ")[0]

    def item(self, change: Change) -> str:
        return change.key.partition(" ")[2]


def _is_idle(handler: logging.Handler) -> bool:
    kind = type(handler)
    return kind is logging.NullHandler or kind.__module__ == "_pytest.logging"
