"""Statistics of test cases over a window, from the days' totals.

Guarantees: one query; excluded and bad runs are in none of the figures; both classes
of branches count.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from results import day_columns, rates
from results.day_columns import BUCKETS, COUNTS, DayColumns
from results.models import Day
from results.queries.shapes import CaseStats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def days_of(project_id: int, *, today: date, window: int) -> list[DayColumns]:
    """Return the days of a window that ends today."""
    rows = Day.objects.filter(
        project_id=project_id,
        date__gt=today - timedelta(days=window),
        date__lte=today,
    )
    found = rows.values_list("data", flat=True)
    return [decoded(bytes(data)) for data in found if data]


@lru_cache(maxsize=256)
def decoded(data: bytes) -> DayColumns:
    """A day's bytes never change their meaning, so the same bytes are unpacked once."""
    return day_columns.decode(data)


def stats_of(days: Sequence[DayColumns], numbers: Sequence[int]) -> list[CaseStats]:
    """Return the statistics of some tests, in their order."""
    wanted = np.array(numbers, np.int32)
    counts = {name: np.zeros(len(wanted), np.int64) for name in COUNTS}
    total, longest = np.zeros(len(wanted)), np.zeros(len(wanted))
    histogram = np.zeros((len(wanted), BUCKETS), np.int64)
    for day in days:
        rows = np.searchsorted(day.tests, wanted)
        rows[rows == len(day.tests)] = 0
        if not len(day.tests):
            continue
        here = np.flatnonzero(day.tests[rows] == wanted)
        at = rows[here]
        for name in COUNTS:
            counts[name][here] += day.counts[name][at]
        total[here] += day.total_s[at]
        longest[here] = np.maximum(longest[here], day.max_s[at])
        histogram[here] += day.histogram(at)
    return [
        _stats(
            {name: int(counts[name][place]) for name in COUNTS},
            histogram[place],
            float(total[place]),
            float(longest[place]),
        )
        for place in range(len(wanted))
    ]


def sums_of(days: Sequence[DayColumns]) -> dict[str, NDArray[np.float64]]:
    """Return, by test number, the counts of all tests and their `total_s`."""
    size = max((int(day.tests[-1]) + 1 for day in days if len(day.tests)), default=0)
    sums = {name: np.zeros(size) for name in (*COUNTS, "total_s")}
    for day in days:
        where = _places(day.tests)
        for name in COUNTS:
            sums[name][where] += day.counts[name]
        sums["total_s"][where] += day.total_s
    return sums


def _places(tests: NDArray[np.int32]) -> NDArray[np.int32] | slice:
    """Return where rising numbers stand: of a whole suite a slice, at a tenth of the
    cost of an index."""
    if not len(tests) or int(tests[-1]) - int(tests[0]) >= len(tests):
        return tests
    return slice(int(tests[0]), int(tests[-1]) + 1)


def _stats(
    counts: dict[str, int],
    histogram: NDArray[np.int64],
    total_s: float,
    max_s: float,
) -> CaseStats:
    executed = counts["runs"] - counts["skipped"]
    timed = bool(histogram.any())
    return CaseStats(
        **counts,
        fail_rate=rates.fail_rate(
            failing=counts["failed"] + counts["errors"],
            runs=counts["runs"],
            not_executed=counts["skipped"],
        ),
        flake_rate=rates.beta_rate(min(counts["flaky"], executed), executed),
        p50_s=_at_most(day_columns.quantile(histogram, 0.5), max_s),
        p95_s=_at_most(day_columns.quantile(histogram, 0.95), max_s),
        max_s=max_s if timed else None,
        total_s=total_s,
    )


def _at_most(value: float | None, longest: float) -> float | None:
    """A bucket is wider than what is in it: no quantile lies above the maximum."""
    return None if value is None else min(value, longest)
