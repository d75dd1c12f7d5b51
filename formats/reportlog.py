"""pytest-reportlog: the lines of a test's phases, folded into its attempts.

Guarantees: a `Reading` whose tests have their outcome, texts, attempts, process and
place, or `Rejected` with the number of the first bad line. Types and keys that are
not known are ignored. Where the log does not tell two processes apart the order is
less than traced (docs/order.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from formats.executions import Execution, read_executions
from formats.json_lines import JsonLines, clean, number
from formats.limits import DEFAULT_LIMITS, Limits
from formats.longrepr import message_of, text_of
from formats.outcomes import Outcome
from formats.plurals import agree, counted
from formats.report import Note, OrderQuality, Problem, Reading, Rejected
from formats.reportlog_phases import Phase, Trial
from formats.reportlog_processes import Processes

if TYPE_CHECKING:
    from formats.json_lines import Json

_TYPE = "$report_type"
_TEST_TYPES = frozenset({"TestReport", "SubTestReport", "SubtestReport"})


def read_reportlog(stream: BinaryIO, *, limits: Limits = DEFAULT_LIMITS) -> Reading:
    """Read a seekable stream that holds a report log, plain, gzip or zstd."""
    lines = JsonLines(stream, limits=limits)
    log = _Log(limits)
    known = False
    for line, record in lines:
        kind = record.get(_TYPE)
        known = known or kind is not None or "pytest_version" in record
        if not known:
            raise Rejected(f"{_TYPE}: missing, so this is no report log", line=line)
        if isinstance(kind, str):
            log.read(kind, record, line)
    return log.finish(lines.notes)


class _Log:
    """What the lines so far amount to."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._processes = Processes()
        self._trials: list[Trial] = []
        self._open: dict[tuple[str, str], Trial] = {}
        self._broken: dict[str, Execution] = {}  # modules that were not collected
        self._kept = 0
        self._left_out = 0

    def read(self, kind: str, record: dict[str, Json], line: int) -> None:
        if kind in _TEST_TYPES:
            self._add_phase(record, line, subtest=kind != "TestReport")
        elif kind == "CollectReport":
            self._add_collection(record, line)
        elif kind == "SessionStart":
            self._processes.start_session()

    def finish(self, notes: list[Note]) -> Reading:
        executions = []
        unfinished = []
        for trial in self._trials:
            outcome = trial.outcome()
            if outcome is None:
                unfinished.append(trial)
            else:
                executions.append(trial.execution(outcome))
        if unfinished:
            message = (
                f"{counted(len(unfinished), 'test')} began and did not end and "
                f"{agree(len(unfinished), 'is', 'are')} left out, the last one is "
                f"{unfinished[-1].nodeid[:200]}"
            )
            notes.append(Note("unfinished-test", message, unfinished[-1].line))
        if self._left_out:
            texts = counted(self._left_out, "failure")
            message = f"the texts of {texts} were left out: too many"
            notes.append(Note("texts-left-out", message))
        executions += self._broken.values()
        return read_executions(executions, order=self._order(notes), notes=notes)

    def _order(self, notes: list[Note]) -> OrderQuality:
        if self._processes.interleaved:
            message = "tests ran side by side and the log does not say where"
            notes.append(Note("order-unknown", message, self._processes.interleaved))
            return OrderQuality.UNKNOWN
        if self._processes.untold_restart:
            message = "a worker crashed and the log does not tell its successor apart"
            notes.append(Note("order-assumed", message, self._processes.untold_restart))
            return OrderQuality.ASSUMED
        return OrderQuality.TRACED

    def _add_phase(self, record: dict[str, Json], line: int, *, subtest: bool) -> None:
        nodeid = _text(record, "nodeid", line)
        phase = _phase(record, line)
        if not nodeid:
            raise Rejected("nodeid: empty", line=line)
        if len(nodeid) > self._limits.name:
            message = f"nodeid: longer than {self._limits.name:,} characters"
            raise Rejected(message, line=line)
        if subtest and phase.outcome not in ("failed", "rerun"):
            return
        worker, process = self._processes.place(record, nodeid, phase, line)
        trial = self._open.get((nodeid, process))
        if trial is None or (not subtest and trial.ends_before(phase)):
            trial = self._begin(nodeid, worker, process, line)
        if subtest:
            trial.add_subtest(phase)
        else:
            trial.add(phase)
        if phase.outcome != "passed" or phase.xfail_reason:
            self._tell(trial, record, phase)

    def _begin(self, nodeid: str, worker: str, process: str, line: int) -> Trial:
        if len(self._trials) >= self._limits.cases:
            raise Rejected(f"more than {self._limits.cases:,} tests", line=line)
        trial = Trial(nodeid, line, worker, process)
        self._trials.append(trial)
        self._open[nodeid, process] = trial
        return trial

    def _tell(self, trial: Trial, record: dict[str, Json], phase: Phase) -> None:
        longrepr = record.get("longrepr")
        message = message_of(longrepr, limits=self._limits)
        if phase.xfail_reason:
            message = clean(phase.xfail_reason)[: self._limits.message]
        sections = (
            None if phase.outcome in ("passed", "skipped") else record.get("sections")
        )
        trial.message = trial.message or message
        text = text_of(longrepr, sections, limits=self._limits)
        self._kept += len(text)
        if self._kept > self._limits.kept:
            self._left_out += 1
        elif len(trial.texts) < self._limits.parts:
            trial.texts.append(text)
            self._add_problem(trial, phase, message, longrepr)

    def _add_problem(
        self, trial: Trial, phase: Phase, message: str, longrepr: Json
    ) -> None:
        if phase.outcome not in ("failed", "rerun"):
            return
        outcome = Outcome.FAILED if phase.when == "call" else Outcome.ERROR
        text = text_of(longrepr, None, limits=self._limits)
        self._kept += len(text)
        trial.problems.append(Problem(outcome, message, text))

    def _add_collection(self, record: dict[str, Json], line: int) -> None:
        self._processes.collected(record)
        if record.get("outcome") not in ("failed", Outcome.ERROR):
            return
        nodeid = clean(_text(record, "nodeid", line))[: self._limits.name]
        longrepr = record.get("longrepr")
        if nodeid in self._broken:
            return  # each worker collects the module and tells of it
        self._broken[nodeid] = Execution(
            nodeid=nodeid or "session",
            outcome=Outcome.ERROR,
            line=line,
            worker="",
            process="",
            message=message_of(longrepr, limits=self._limits),
            text=text_of(longrepr, record.get("sections"), limits=self._limits),
            collection=True,
        )


def _phase(record: dict[str, Json], line: int) -> Phase:
    outcome = _text(record, "outcome", line)
    outcome = "rerun" if outcome == "retried" else outcome
    if outcome not in ("passed", "failed", "skipped", "rerun"):
        raise Rejected("outcome: must be passed, failed, skipped or rerun", line=line)
    reason = record.get("wasxfail")
    start = number(record.get("start"))
    duration = number(record.get("duration"))
    return Phase(
        when=_text(record, "when", line),
        outcome=outcome,
        xfail="wasxfail" in record,
        xfail_reason=reason if isinstance(reason, str) else "",
        start=start if start and start > 0 else None,
        duration=duration if duration is not None and duration >= 0 else None,
    )


def _text(record: dict[str, Json], key: str, line: int) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise Rejected(
            f"{key}: {'missing' if value is None else 'must be a text'}", line=line
        )
    return clean(value)
