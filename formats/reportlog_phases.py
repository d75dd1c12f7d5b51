"""Setup, call and teardown of one attempt, folded into its outcome.

Guarantees: pytest's own reading of the phases: what breaks outside the call is an
error, a marked failure is xfailed, a marked pass xpassed, and an attempt that never
reached an end has no outcome.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from formats.executions import Execution
from formats.outcomes import Outcome
from formats.report import Problem


class Phase(NamedTuple):
    """One line of the log."""

    when: str  # setup, call, teardown, or "???" for the test a worker died in
    outcome: str  # passed, failed, skipped or rerun
    xfail: bool
    xfail_reason: str
    start: float | None
    duration: float | None


@dataclass(slots=True)
class Trial:
    """One attempt under construction."""

    nodeid: str
    line: int
    worker: str
    process: str
    start: float | None = None
    duration: float | None = None
    message: str = ""
    texts: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    setup: Outcome | None = None
    call: Outcome | None = None
    broken: bool = False  # outside the call

    def ends_before(self, phase: Phase) -> bool:
        """Tell whether a line begins another attempt rather than goes on with this."""
        return phase.when == "setup" or phase.when in self.seen

    def add_subtest(self, phase: Phase) -> None:
        """A failed part of the call, told before the call itself."""
        self._add_call(phase)

    def add(self, phase: Phase) -> None:
        self.seen.add(phase.when)
        if phase.start is not None and (self.start is None or phase.start < self.start):
            self.start = phase.start
        if phase.duration is not None:
            self.duration = (self.duration or 0.0) + phase.duration
        if phase.when == "call":
            self._add_call(phase)
        elif phase.outcome in ("failed", "rerun"):
            self.broken = True
        elif phase.when == "setup" and phase.outcome == "skipped":
            self.setup = Outcome.XFAILED if phase.xfail else Outcome.SKIPPED

    def outcome(self) -> Outcome | None:
        if self.broken:
            return Outcome.ERROR
        if self.call is not None:
            return self.call
        return self.setup

    def rest(self) -> Outcome | None:
        """The outcome without what failed; None: passed."""
        if self.call is not None:
            return None if self.call is Outcome.FAILED else self.call
        return self.setup

    def execution(self, outcome: Outcome) -> Execution:
        return Execution(
            nodeid=self.nodeid,
            outcome=outcome,
            line=self.line,
            worker=self.worker,
            process=self.process,
            start=self.start,
            duration=self.duration,
            message=self.message,
            text="\n\n".join(text for text in self.texts if text),
            problems=tuple(self.problems),
            rest=self.rest(),
        )

    def _add_call(self, phase: Phase) -> None:
        if phase.outcome in ("failed", "rerun") or self.call is Outcome.FAILED:
            self.call = Outcome.FAILED
        elif phase.outcome == "passed":
            self.call = Outcome.XPASSED if phase.xfail else Outcome.PASSED
        else:
            self.call = Outcome.XFAILED if phase.xfail else Outcome.SKIPPED
