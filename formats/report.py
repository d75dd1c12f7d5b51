"""What the readers of this package return.

Every reader of test results (`junit`, `reportlog`, `order`) turns bytes into one
`Reading`; `assembly.assemble` joins the readings of one upload into one
`Contribution`, in which each test case stands once. Everything is plain values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from formats.gates import LeakFact
    from formats.outcomes import Outcome


class Rejected(Exception):
    """Known bad input: the sender's fault, with its place. Never retried."""

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.path = path


class OrderQuality(StrEnum):
    TRACED = "traced"
    ASSUMED = "assumed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Note:
    """A warning: something was repaired, replaced, ignored or looks odd."""

    code: str  # stable, e.g. "control-characters", "declared-counts-differ"
    message: str  # for people; says what and how often
    line: int | None = None


class Problem(NamedTuple):
    """One failure of an attempt that has several, or output beside it: its own words,
    without the output."""

    outcome: Outcome  # failed or error
    message: str
    text: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a test inside one run. Durations in seconds.

    `problems`, `rest` and `gated` are as in `Element`.
    """

    outcome: Outcome
    duration: float | None = None
    message: str = ""
    text: str = ""
    problems: tuple[Problem, ...] = ()
    rest: Outcome | None = None
    gated: Outcome | None = None


class Element(NamedTuple):
    """One test as one file tells it: a `<testcase>`, or the folded lines of a log.

    `attempts` holds the *earlier* attempts that the file itself names as such (flaky
    and rerun elements, repeated trace lines), oldest first; the element's own fields
    are the last attempt. Times in seconds; `start` in Unix seconds.

    Of a failing one, `problems` are its failures where there are several or output
    beside them (else message and text are the one), and `rest` is its outcome without
    them (None: passed). `gated` is the outcome that it had before a gate's failure was
    taken from it (`gated.py`).
    """

    name: str
    classname: str = ""
    file: str = ""
    suites: tuple[str, ...] = ()  # enclosing suite names, outermost first
    outcome: Outcome = "passed"  # type: ignore[assignment]
    duration: float | None = None
    message: str = ""
    text: str = ""
    attempts: tuple[Attempt, ...] = ()
    nodeid: str = ""  # where the file gives a whole pytest node id (reportlog, trace)
    test_id: str = ""  # an explicit `test_id` property wins over everything
    line: int | None = None
    worker: str = ""  # e.g. gw0; empty when not known
    process: str = ""  # worker and pid, or testrun_uid and worker; empty: not known
    position: int | None = None  # from 0 within the process
    start: float | None = None
    pytest: bool = False  # written by pytest: the key is dotted (identity.py)
    collection: bool = False  # a suite-level or collection error, a pseudo case
    problems: tuple[Problem, ...] = ()
    rest: Outcome | None = None
    gated: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Reported:
    """Elements as the report has them, by the rules of the JUnit corpus."""

    tests: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0

    def __add__(self, other: Reported) -> Reported:
        return Reported(
            self.tests + other.tests,
            self.passed + other.passed,
            self.failed + other.failed,
            self.errors + other.errors,
            self.skipped + other.skipped,
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file says, before identity is decided.

    `elements` are in file order. Suite-level and collection errors are elements with
    `collection=True`; suite-level ones are not part of `reported`, but pytest's
    collection errors are, where they stand as cases. `incomplete` says why a file
    whose complete cases were kept is still not whole (a cut-off report).
    """

    elements: list[Element]
    reported: Reported = Reported()
    suites: int = 0
    suite_level_results: int = 0
    rerun_or_flaky: int = 0
    declared_tests: int | None = None
    started_at: datetime | None = None  # earliest stamp with a zone, UTC
    later_starts: tuple[datetime, ...] = ()  # the other such stamps, ascending
    zoneless_start: str = ""  # earliest stamp without a zone, as written
    wall_s: float | None = None  # the document's own total time
    total_time_s: float | None = None  # sum of readable case times
    order: OrderQuality = OrderQuality.UNKNOWN
    incomplete: str = ""
    notes: list[Note] = field(default_factory=list)


class TestResult(NamedTuple):
    """One test case's result in one upload: identity decided, attempts folded.

    `attempts` is empty for the common single attempt without an earlier one; else it
    holds the earlier attempts, oldest first. `process` indexes `Contribution.processes`
    (-1: not known).
    """

    key: str  # normalised identity; its digest is the stored key
    nodeid: str
    rank: int  # how rich the node id is: the richest seen is displayed
    file: str
    suite: str
    name: str
    params: str
    outcome: Outcome
    duration: float | None = None
    message: str = ""
    text: str = ""
    attempts: tuple[Attempt, ...] = ()
    flaky: bool = False
    process: int = -1
    position: int = -1
    start: float | None = None
    line: int | None = None
    collection: bool = False
    gated: bool = False  # message and text are a gate's: the outcome is without it


class TestLeak(NamedTuple):
    """A leak and the case that leaks; None at session level.

    `reported` is the case's outcome in the report where the gate's failure was all of
    it; `from_text` tells a recognised text from a gate's own payload.
    """

    fact: LeakFact
    case: TestResult | None
    from_text: bool = False
    reported: Outcome | None = None


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A bad file of an upload, with its place."""

    file: str
    message: str
    line: int | None = None
    column: int | None = None
    path: str | None = None
    kind: str = ""  # of the file; empty: not known


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one upload says about one part of one run. Each test stands once."""

    results: list[TestResult]
    processes: list[str]
    order: OrderQuality
    reported: Reported
    started_at: datetime | None = None
    later_starts: tuple[datetime, ...] = ()
    zoneless_start: str = ""
    duration_s: float = 0.0  # sum of the tests' durations, all attempts
    wall_s: float | None = None
    repeats: str = ""  # "attempts" or "invocations" where ids stood repeatedly
    only_in_report: int = 0
    only_in_trace: int = 0
    leaks: list[TestLeak] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
