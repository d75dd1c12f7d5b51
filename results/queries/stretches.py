"""A stretch of days as one: a week against the one before, a test since its fix.

Guarantees: one query each, whatever the data; no block is decoded; excluded and bad
runs are in none of the figures, and are counted beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from results.models import Day
from results.queries.statistics import decoded, sums_of
from results.queries.trends import quantile
from results.rates import Rate, beta_rate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date
    from typing import Any

    type Row = tuple[date, Any, Any]  # Any: JSON, bytes


@dataclass(frozen=True, slots=True)
class Stretch:
    """Totals of some days. A test that failed on several of them counts once."""

    runs: int = 0
    red_runs: int = 0  # failed, damaged or incomplete ones
    executed: int = 0
    passed: int = 0
    pass_rate: float | None = None
    flake_rate: Rate | None = None
    tests: int = 0
    failed_tests: int = 0
    flaky_tests: int = 0
    p50_s: float | None = None
    p95_s: float | None = None
    bad_runs: int = 0
    excluded_runs: int = 0


@dataclass(frozen=True, slots=True)
class Tried:
    """How often a test was executed, and how often it failed."""

    runs: int = 0
    failed: int = 0


def stretch(
    project_id: int, first: date, last: date, *, branch_class: str | None = None
) -> Stretch:
    """Sum the days from `first` to `last`, both included."""
    return stretches(project_id, [(first, last)], branch_class=branch_class)[0]


def stretches(
    project_id: int, spans: list[tuple[date, date]], *, branch_class: str | None = None
) -> list[Stretch]:
    """Sum several stretches of days; still one query."""
    rows = Day.objects.filter(
        project_id=project_id,
        date__gte=min(first for first, _ in spans),
        date__lte=max(last for _, last in spans),
    )
    if branch_class is not None:
        rows = rows.filter(branch_class=branch_class)
    found = list(rows.order_by("date").values_list("date", "totals", "data"))
    return [
        _summed([row for row in found if first <= row[0] <= last])
        for first, last in spans
    ]


def tried_since(
    project_id: int,
    since: Mapping[int, date],
    *,
    until: date | None = None,
    branch_class: str | None = None,
) -> dict[int, Tried]:
    """Return, by test number, what the days since its own day say of a test."""
    if not since:
        return {}
    rows = Day.objects.filter(project_id=project_id, date__gte=min(since.values()))
    if branch_class is not None:
        rows = rows.filter(branch_class=branch_class)
    if until is not None:
        rows = rows.filter(date__lte=until)
    numbers = np.array(sorted(since), np.int64)
    starts = [since[number] for number in numbers.tolist()]
    runs, failed = np.zeros(len(numbers)), np.zeros(len(numbers))
    for day, data in rows.values_list("date", "data"):
        if not data:
            continue
        columns = decoded(bytes(data))
        at = np.minimum(
            np.searchsorted(columns.tests, numbers), max(len(columns.tests) - 1, 0)
        )
        if not len(columns.tests):
            continue
        here = columns.tests[at] == numbers
        here &= np.array([start <= day for start in starts])
        counts = columns.counts
        runs += np.where(here, (counts["runs"] - counts["skipped"])[at], 0)
        failed += np.where(here, (counts["failed"] + counts["errors"])[at], 0)
    return {
        number: Tried(int(ran), int(bad))
        for number, ran, bad in zip(numbers.tolist(), runs, failed, strict=True)
    }


def _summed(rows: list[Row]) -> Stretch:
    told = [totals for _, totals, _ in rows if totals]
    sums = sums_of([decoded(bytes(data)) for _, _, data in rows if data])
    executed = _sum(told, "results") - _sum(told, "skipped")
    passed, flaky = _sum(told, "passed"), _sum(told, "flaky")
    seconds = sorted(each for one in told for each in _list(one, "durations"))
    red = [
        count
        for one in told
        for outcome, count in _dict(one, "outcomes").items()
        if outcome not in ("passed", "no_results")
    ]
    return Stretch(
        runs=_sum(told, "runs"),
        red_runs=sum(red),
        executed=executed,
        passed=passed,
        pass_rate=passed / executed if executed else None,
        flake_rate=beta_rate(min(flaky, executed), executed),
        tests=int(np.count_nonzero(sums["runs"])),
        failed_tests=int(np.count_nonzero(sums["failed"] + sums["errors"])),
        flaky_tests=int(np.count_nonzero(sums["flaky"])),
        p50_s=quantile(seconds, 0.5),
        p95_s=quantile(seconds, 0.95),
        bad_runs=_sum(told, "bad_runs"),
        excluded_runs=_sum(told, "excluded_runs"),
    )


def _sum(totals: list[dict[str, object]], name: str) -> int:
    return sum(int(str(one.get(name, 0))) for one in totals)


def _list(one: dict[str, object], name: str) -> list[float]:
    value = one.get(name, [])
    return value if isinstance(value, list) else []


def _dict(one: dict[str, object], name: str) -> dict[str, int]:
    value = one.get(name, {})
    return value if isinstance(value, dict) else {}
