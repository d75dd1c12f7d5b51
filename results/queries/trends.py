"""Reads of day totals: trends. No block is decoded."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from results.models import Day
from results.queries.shapes import Trend, TrendPoint
from results.queries.windows import end_of
from results.rates import beta_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    type Totals = dict[str, Any]  # Any: JSON, as `day_totals` makes it


class Metric(StrEnum):
    """Of a day: the share of executed results that passed; the share of them that is
    flaky; how many tests failed at all; and how long its runs took."""

    PASS_RATE = "pass_rate"  # noqa: S105 - a rate, no password
    FLAKE_RATE = "flake_rate"
    FAILED_TESTS = "failed_tests"
    DURATION_P50 = "duration_p50"
    DURATION_P95 = "duration_p95"


def trend(
    project_id: int,
    metric: Metric,
    *,
    window_days: int = 30,
    branch_class: str | None = None,
    today: date | None = None,
) -> Trend:
    """Return one point for every day of a window; see `windows` for its end."""
    today = today or end_of(project_id).day
    first = today - timedelta(days=window_days - 1)
    days = Day.objects.filter(project_id=project_id, date__gte=first, date__lte=today)
    if branch_class is not None:
        days = days.filter(branch_class=branch_class)
    by_date: dict[date, list[Totals]] = defaultdict(list)
    for day, totals in days.order_by("date", "branch_class").values_list(
        "date", "totals"
    ):
        if totals:
            by_date[day].append(totals)
    dates = [first + timedelta(days=n) for n in range(window_days)]
    told = [one for some in by_date.values() for one in some]
    return Trend(
        metric=metric.value,
        window_days=window_days,
        branch_class=branch_class,
        points=[_point(day, metric, by_date.get(day, [])) for day in dates],
        runs=_sum(told, "runs"),
        excluded_runs=_sum(told, "excluded_runs"),
        bad_runs=_sum(told, "bad_runs"),
    )


def _point(day: date, metric: Metric, totals: Sequence[Totals]) -> TrendPoint:
    runs = _sum(totals, "runs")
    if not runs:
        return TrendPoint(day, None, 0, 0)
    executed = _sum(totals, "results") - _sum(totals, "skipped")
    if metric is Metric.PASS_RATE:
        share = _sum(totals, "passed") / executed if executed else None
        return TrendPoint(day, share, executed, runs)
    if metric is Metric.FLAKE_RATE:
        rate = beta_rate(min(_sum(totals, "flaky"), executed), executed)
        if rate is None:
            return TrendPoint(day, None, 0, runs)
        return TrendPoint(day, rate.mean, executed, runs, rate.low, rate.high)
    if metric is Metric.FAILED_TESTS:
        # A test that failed on both classes of branches is one of each class.
        failed = float(_sum(totals, "failed_tests"))
        return TrendPoint(day, failed, _sum(totals, "tests"), runs)
    seconds = sorted(value for one in totals for value in one.get("durations", []))
    share = 0.5 if metric is Metric.DURATION_P50 else 0.95
    return TrendPoint(day, quantile(seconds, share), len(seconds), runs)


def quantile(rising: Sequence[float], share: float) -> float | None:
    """Interpolate between the two nearest values."""
    if not rising:
        return None
    place = share * (len(rising) - 1)
    low = int(place)
    high = min(low + 1, len(rising) - 1)
    return rising[low] + (rising[high] - rising[low]) * (place - low)


def _sum(totals: Sequence[Totals], name: str) -> int:
    return sum(int(one.get(name, 0)) for one in totals)
