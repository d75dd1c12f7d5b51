"""Reads of day totals: trends. No block is decoded."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from results.queries.shapes import Trend


class Metric(StrEnum):
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
    branch_class: str | None = None,  # default, other; None: both
    today: date | None = None,
) -> Trend:
    raise NotImplementedError
