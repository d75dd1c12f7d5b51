"""What the queries of test cases, trends and the search return; see `shapes`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime

    from results.rates import Rate


@dataclass(frozen=True, slots=True)
class CaseStats:
    """Of the runs in the window, excluded and bad ones left out."""

    runs: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    flaky: int = 0
    fail_rate: float | None = None
    flake_rate: Rate | None = None
    p50_s: float | None = None
    p95_s: float | None = None
    max_s: float | None = None
    total_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CaseTally:
    """Of all tests; `failed` and `flaky` are those that were so in the window."""

    tests: int
    gone: int
    failed: int
    flaky: int


@dataclass(frozen=True, slots=True)
class CaseRow:
    """`last_seen` is kept to the day; `state`: active, or gone (not seen for 30 days)."""

    id: int
    project_id: int
    number: int
    nodeid: str
    file: str
    suite: str
    name: str
    params: str
    line: int | None
    state: str
    first_seen: datetime
    last_seen: datetime
    first_run: int | None
    stats: CaseStats = field(default_factory=CaseStats)


@dataclass(frozen=True, slots=True)
class HistoryCell:
    run: int
    run_name: str
    started_at: datetime
    outcome: str
    flaky: bool
    leaking: bool
    conflict: bool
    attempts: int
    duration_s: float | None
    branch: str
    commit: str
    pr: int | None
    environment: Mapping[str, str]
    branch_class: str
    excluded: bool
    message: str
    failure: int | None
    failure_group: str | None


@dataclass(frozen=True, slots=True)
class CaseFailures:
    """A test's failures with one fingerprint, the newest group first."""

    group: str
    title: str
    message: str  # of the newest
    total: int
    first_at: datetime
    last_at: datetime
    last_run: int
    last_failure: int


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A day. `value` is None where nothing was measured; `of` is its denominator."""

    date: date
    value: float | None
    of: int
    runs: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Trend:
    metric: str
    window_days: int
    branch_class: str | None
    points: list[TrendPoint]  # every day of the window, oldest first
    runs: int
    excluded_runs: int
    bad_runs: int


@dataclass(frozen=True, slots=True)
class Hit:
    """`kind`: test, file, commit, run, pr. `id` where the thing has one."""

    kind: str
    label: str
    id: int | None = None
    detail: str = ""
