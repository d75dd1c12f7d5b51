"""What the queries return: plain frozen values, never model rows.

Guarantees: times are aware and UTC, durations are seconds, shares are 0..1, and a
value that is not known is None (never 0 in its place).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from results.queries.case_shapes import (
    CaseFailures,
    CaseRow,
    CaseStats,
    CaseTally,
    HistoryCell,
    Hit,
    Trend,
    TrendPoint,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

__all__ = [
    "AmbiguousCaseError",
    "AttemptRow",
    "CaseFailures",
    "CaseRow",
    "CaseStats",
    "CaseTally",
    "ChangeRow",
    "Changes",
    "Comparison",
    "Completeness",
    "Counts",
    "CursorError",
    "Exclusion",
    "FailureDetail",
    "FailureGroup",
    "FailureRow",
    "HistoryCell",
    "Hit",
    "Lane",
    "MissingPart",
    "OrderCounts",
    "Page",
    "Part",
    "Problem",
    "ProjectSummary",
    "RatePoint",
    "ReportedCounts",
    "ResultRow",
    "RunDetail",
    "RunNote",
    "RunRow",
    "Timeline",
    "Trend",
    "TrendPoint",
]


class CursorError(ValueError):
    """A cursor that this server did not give out."""


class AmbiguousCaseError(LookupError):
    """A text that ends several node ids; `candidates` names some of them."""

    def __init__(self, asked: str, candidates: Sequence[str]) -> None:
        super().__init__(f"{asked!r} fits {len(candidates)} or more tests")
        self.asked = asked
        self.candidates = list(candidates)


@dataclass(frozen=True, slots=True)
class Page[T]:
    """A page of a list. `next` is None at its end; items may be fewer than asked."""

    items: list[T]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    tests: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    xfailed: int = 0
    xpassed: int = 0
    flaky: int = 0
    conflicts: int = 0


@dataclass(frozen=True, slots=True)
class ReportedCounts:
    tests: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list. `outcome`: passed, failed, incomplete, damaged, no_results."""

    id: int
    project_id: int
    name: str
    environment: Mapping[str, str]
    branch: str
    commit: str
    head_sha: str
    pr: int | None
    ci_url: str
    outcome: str
    instead: str  # of results, alone: gate, effects or review; else empty
    failed_outside: bool  # the command failed, no case did
    leaks: int  # that gates told, opted out ones not
    leaks_raised: int  # … that fail the run
    started_at: datetime
    started_from: str  # context, report or receipt
    zoneless_start: str  # a stamp as written, its zone unknown
    duration_s: float
    wall_s: float | None
    order: str  # traced, assumed, unknown
    attempts: int
    counts: Counts
    excluded: bool
    bad: bool  # most of its tests failed: left out of statistics


@dataclass(frozen=True, slots=True)
class Part:
    """A shard of a job at its latest attempt. `state`: complete, incomplete, damaged,
    missing, failed_outside."""

    job: str
    index: int
    count: int
    attempt: int
    tests: int
    failing: int
    duration_s: float
    wall_s: float | None
    order: str
    exit_code: int | None
    state: str
    uploads: list[int]


@dataclass(frozen=True, slots=True)
class AttemptRow:
    attempt: int
    parts: int
    counts: Counts


@dataclass(frozen=True, slots=True)
class MissingPart:
    job: str
    index: int
    count: int


@dataclass(frozen=True, slots=True)
class Completeness:
    expected_shards: int
    received: int
    missing: list[int]
    missing_parts: list[MissingPart]
    duplicated_tests: list[str]  # the first 100 node ids
    duplicated_total: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a run is not simply green. `kind`: damage, mended, context, count,
    conflict, duplicate, leak, outside, part."""

    kind: str
    message: str
    upload: int | None = None


@dataclass(frozen=True, slots=True)
class RunNote:
    upload: int
    code: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class OrderCounts:
    processes: int
    only_in_report: int
    only_in_trace: int
    repeats: list[str]  # how repeated ids were read: attempts, invocations


@dataclass(frozen=True, slots=True)
class Exclusion:
    at: datetime
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunDetail:
    """A run's page: one row with all that hangs on it, results excepted."""

    row: RunRow
    base_sha: str
    base_branch: str
    merge_base: str
    committed_at: datetime | None
    reported: ReportedCounts
    parts: list[Part]  # received and missing, by job and index
    attempts: list[AttemptRow]
    completeness: Completeness
    problems: list[Problem]
    notes: list[RunNote]
    order: OrderCounts
    exclusion: Exclusion | None
    uploads: list[int]
    previous_run: int | None  # the one before on the same branch and environment
    facts_deleted: bool  # retention has removed the single results


@dataclass(frozen=True, slots=True)
class ResultRow:
    """`test` is the test case's id. `position` counts from 0 in its process."""

    test: int
    nodeid: str
    outcome: str
    flaky: bool
    leaking: bool
    conflict: bool
    duplicate: bool
    attempts: int
    duration_s: float | None
    worker: str
    position: int | None
    message: str
    failure_group: str | None  # hex of the fingerprint
    failure: int | None  # id for `failure_detail`


@dataclass(frozen=True, slots=True)
class FailureRow:
    failure: int
    test: int
    nodeid: str
    outcome: str
    message: str
    counted: bool  # the run's outcome for this test; else an earlier attempt


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures of a run with one fingerprint; `rows` are the first 50."""

    group: str
    title: str
    total: int  # counted failures
    earlier: int  # failures of attempts that were superseded
    rows: list[FailureRow]


@dataclass(frozen=True, slots=True)
class FailureDetail:
    id: int
    project_id: int
    run: int
    run_name: str
    test: int
    nodeid: str
    outcome: str
    attempt: int
    upload: int
    group: str
    title: str
    message: str
    text: str
    text_bytes: int  # of the whole text as it came
    cut: bool  # the middle of the text was left out


@dataclass(frozen=True, slots=True)
class ChangeRow:
    test: int
    nodeid: str
    before: str | None  # None: not in the base
    after: str | None  # None: not in this run
    before_s: float | None
    after_s: float | None


@dataclass(frozen=True, slots=True)
class Changes:
    """One kind of change; `rows` are the first 100 of `total`."""

    total: int
    rows: list[ChangeRow]


@dataclass(frozen=True, slots=True)
class Comparison:
    run: RunRow
    base: RunRow
    newly_failing: Changes
    fixed: Changes
    still_failing: Changes
    added: Changes
    removed: Changes
    newly_skipped: Changes
    slower: Changes  # by time lost, most first
    faster: Changes


@dataclass(frozen=True, slots=True)
class Lane:
    """What one process did. `starts` are seconds from the timeline's start."""

    worker: str
    job: str
    index: int
    attempt: int
    tests: int  # all of them; the lists hold the shown ones, in order of start
    busy_s: float
    end_s: float
    starts: list[float]
    durations: list[float]
    outcomes: list[str]
    test_ids: list[int]
    nodeids: list[str]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Lanes with the longest and the failing tests; `exact` where starts are known,
    else they are laid end to end."""

    exact: bool
    order: str
    started_at: datetime | None
    lanes: list[Lane]
    shown: int
    total: int


@dataclass(frozen=True, slots=True)
class RatePoint:
    date: date
    pass_rate: float | None
    runs: int


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    """`last_run` of any branch, `last_default_run` of the default branch."""

    project_id: int
    last_run: RunRow | None
    last_default_run: RunRow | None
    sparkline: list[RatePoint]  # 30 days, oldest first; default branch if it has any
    branch_class: str
    tests: int
    runs: int  # in those 30 days, all branches
