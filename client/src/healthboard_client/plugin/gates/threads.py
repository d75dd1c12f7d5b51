"""Threads that are left alive.

Guarantees: a thread is known by its object, never by its number, which a later thread
may have; one that is about to end has a moment to do so.
"""

from __future__ import annotations

import operator
import threading
from typing import TYPE_CHECKING

from healthboard_client.plugin.gates.gate import Gate, Words
from healthboard_client.plugin.states import MISSING

if TYPE_CHECKING:
    from healthboard_client.plugin.states import Change, State


class Threads(Gate):
    name = family = "threads"
    same = staticmethod(operator.is_)
    grace = 0.2
    words = {
        "alive": Words(
            "left {count} thread(s) alive",
            "It runs on in later tests, and may change what they see.\n"
            "Tell it to end and join it, in a fixture's teardown or by a context "
            "manager (an executor's `with`).",
        )
    }

    def take(self) -> State:
        return {
            f"{thread.name} (thread {thread.ident})": thread
            for thread in threading.enumerate()
        }

    def kind(self, change: Change) -> str:
        return "" if change.after is MISSING else "alive"
