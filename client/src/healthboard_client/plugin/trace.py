"""One attempt of one test, folded from the reports of its phases.

Guarantees: what breaks outside of the call is an error, as a report would count it; a
failed subtest fails its test, a skipped one skips nothing; `rerun` is an attempt that
another one follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_PHASES = ("setup", "call", "teardown")


class Attempt:
    """What is known of a test that runs now."""

    __slots__ = (
        "_failed", "_phase", "_said", "duration", "nodeid", "pid", "position", "start",
    )  # fmt: skip

    def __init__(self, nodeid: str, *, pid: int, position: int, start: float) -> None:
        self.nodeid = nodeid
        self.pid = pid
        self.position = position
        self.start = start
        self.duration = 0.0
        self._failed = False
        self._said = ""
        self._phase = "setup"

    def add(self, report: pytest.TestReport) -> None:
        """Take in a report of one phase, or of a subtest."""
        if getattr(report, "context", None) is not None:  # a subtest's
            if report.failed:
                self._set("failed", "call")
            return
        self.duration += report.duration
        phase: str = report.when
        outcome: str = report.outcome  # a plugin has words of its own
        if outcome == "rerun":
            self._set("rerun", phase)
        elif report.failed:
            self._set("failed" if phase == "call" else "error", phase)
        elif hasattr(report, "wasxfail"):
            self._set("xfailed" if report.skipped else "xpassed", phase)
        elif report.skipped:
            self._set("skipped", phase)
        elif phase == "call":
            self._set("passed", phase)

    def outcome(self) -> tuple[str, str]:
        """Return the outcome ("" as long as it has none) and the phase it arose in."""
        return self._said, self._phase

    def _set(self, outcome: str, phase: str) -> None:
        """An attempt's outcome gets worse and never better."""
        rank = _SEVERITY[outcome]
        if not self._said or rank > _SEVERITY[self._said]:
            self._said = outcome
            self._phase = phase if phase in _PHASES else "call"


_SEVERITY = {
    "passed": 0,
    "xpassed": 1,
    "xfailed": 1,
    "skipped": 1,
    "failed": 2,
    "error": 3,
    "rerun": 4,
}
