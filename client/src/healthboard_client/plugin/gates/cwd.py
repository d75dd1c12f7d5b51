"""The working directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from healthboard_client.plugin.gates.gate import Gate, Words

if TYPE_CHECKING:
    from healthboard_client.plugin.states import Change, State

_DELETED = "(a deleted directory)"


class Cwd(Gate):
    name = family = "cwd"
    words = {
        "changed": Words(
            "changed the working directory and did not go back",
            "Later tests resolve relative paths in another directory, or in one that "
            "is deleted.\nUse monkeypatch.chdir, which goes back.",
        )
    }

    def __init__(self) -> None:
        self._state: State = {}

    def take(self) -> State:
        try:
            where = os.getcwd()  # noqa: PTH109  # a Path would cost more than the look
        except FileNotFoundError:
            where = _DELETED
        if self._state.get("cwd") != where:
            self._state = {"cwd": where}
        return self._state

    def kind(self, _change: Change) -> str:
        return "changed"

    def item(self, change: Change) -> str:
        return str(change.after)
