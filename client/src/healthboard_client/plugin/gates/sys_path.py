"""Where modules are looked for: `sys.path`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from healthboard_client.plugin.gates.gate import Gate, Words, told_difference

if TYPE_CHECKING:
    from healthboard_client.plugin.states import Change, State


class SysPath(Gate):
    name = family = "sys_path"
    words = {
        "changed": Words(
            "changed sys.path and did not restore it",
            "Later imports find other modules.\n"
            "Use monkeypatch.syspath_prepend, or monkeypatch.setattr(sys, 'path', …).",
        )
    }

    def take(self) -> State:
        return {"sys.path": tuple(map(str, sys.path))}

    def kind(self, _change: Change) -> str:
        return "changed"

    def item(self, change: Change) -> str:
        return told_difference(change)
