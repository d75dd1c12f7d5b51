"""A project's numbers over time, one point a day."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema

from api.access import asker_of, project_of
from api.parameters import Days
from api.shapes import PointShape, TrendShape
from results.queries import shapes
from results.queries import trends as facts

router = Router(tags=["trends"])


class Metric(StrEnum):
    """Every metric of the contract. What nothing measures yet has an empty series."""

    PASS_RATE = "pass_rate"  # noqa: S105 - a share, no password
    FLAKE_RATE = "flake_rate"
    FAILED_TESTS = "failed_tests"
    DURATION_P50 = "duration_p50"
    DURATION_P95 = "duration_p95"
    OPEN_LEAKERS = "open_leakers"
    OPEN_FINDINGS = "open_findings"
    LOST_S = "lost_s"


_MEASURED = frozenset(metric.value for metric in facts.Metric)


class TrendFilters(Schema):
    metric: Metric
    window: Days = Field(
        "30d", validate_default=True, description="days back from today, 1d to 400d"
    )
    by: Literal["day"] = "day"
    branch_class: Literal["default", "other"] | None = Field(
        None, description="only the default branch, or only the others"
    )


@router.get("/projects/{project:p}/trends", response=TrendShape)
def get_trend(request: HttpRequest, p: str, filters: Query[TrendFilters]) -> TrendShape:
    """One metric over a window of days, in the project's zone."""
    project = project_of(asker_of(request), p)
    trend = None
    if filters.metric in _MEASURED:
        trend = facts.trend(
            project.pk,
            facts.Metric(filters.metric),
            window_days=filters.window,
            branch_class=filters.branch_class,
        )
    return TrendShape(
        metric=filters.metric,
        window=f"{filters.window}d",
        by=filters.by,
        branch_class=filters.branch_class,
        points=[_point(point) for point in trend.points] if trend else [],
        runs=trend.runs if trend else 0,
        excluded_runs=trend.excluded_runs if trend else 0,
    )


def _point(point: shapes.TrendPoint) -> PointShape:
    return PointShape(
        date=point.date,
        value=point.value,
        of=point.of,
        runs=point.runs,
        low=point.low,
        high=point.high,
    )
