"""The marker `allow_leak`: tests that leak on purpose.

Guarantees: a marker without a gate and a reason fails its test, so nobody opts out
silently; what it lets pass is told and counted all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from healthboard_client.plugin.options import GATES

if TYPE_CHECKING:
    from collections.abc import Iterable

MARKER = "allow_leak"


class Exemptions:
    """What markers say; tests without one cost a look in a dictionary."""

    def __init__(self) -> None:
        self._faults: dict[str, str] = {}

    def read(self, items: Iterable[pytest.Item]) -> None:
        for item in items:
            for mark in item.iter_markers(MARKER):
                fault = _fault(mark)
                if fault:
                    self._faults[item.nodeid] = fault

    def check(self, item: pytest.Item) -> None:
        """Fail a test whose marker is not complete."""
        fault = self._faults.get(item.nodeid)
        if fault:
            pytest.fail(fault, pytrace=False)

    def reason(self, node: pytest.Item, gate: str, kind: str) -> str | None:
        """Return why this leak is meant; None where it is not."""
        for mark in node.iter_markers(MARKER):
            if not _fault(mark) and {gate, kind} & set(mark.args):
                return str(mark.kwargs["reason"])
        return None


def _fault(mark: pytest.Mark) -> str:
    reason = mark.kwargs.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        return f'{MARKER} needs a reason: @pytest.mark.{MARKER}("env", reason="…")'
    families = {str(name).partition(".")[0] for name in mark.args}
    unknown = sorted(families - set(GATES))
    if unknown or not families:
        names = ", ".join(GATES)
        return f"{MARKER} needs a gate ({names}), not {', '.join(unknown) or 'none'}"
    return ""
