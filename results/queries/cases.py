"""Reads of test cases: lists, one case, its history and failures."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from results.models import TestCase
from results.queries import cursors
from results.queries.histories import failures, history
from results.queries.rows import case_row
from results.queries.shapes import AmbiguousCaseError, CaseRow, CaseStats, Page
from results.queries.statistics import days_of, stats_of, sums_of
from results.queries.windows import End, end_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from results.day_columns import DayColumns

__all__ = [
    "failures",
    "find_case",
    "get_case",
    "history",
    "list_cases",
    "worst_cases",
]

GONE_AFTER = timedelta(days=30)
MOST_CANDIDATES = 10
RANKINGS = ("fail_rate", "flake_rate", "failed_runs", "total_s")


def list_cases(
    project_id: int,
    *,
    q: str | None = None,
    file: str | None = None,
    state: str | None = None,
    window: int = 30,
    cursor: str | None = None,
    limit: int = 50,
    now: datetime | None = None,
) -> Page[CaseRow]:
    """List test cases in the order in which they were first met.

    `q` is part of a node id, `file` a whole one, `state` active or gone; the
    statistics are of `window` days (`windows`).
    """
    end = end_of(project_id, now=now)
    gone_before = end.moment - GONE_AFTER
    cases = TestCase.objects.filter(project_id=project_id)
    if q:
        cases = cases.filter(nodeid__icontains=q)
    if file:
        cases = cases.filter(file=file)
    if state == "active":
        cases = cases.filter(last_seen__gte=gone_before)
    elif state == "gone":
        cases = cases.filter(last_seen__lt=gone_before)
    if cursor is not None:
        cases = cases.filter(number__gt=cursors.read(cursor, int)[0])
    found = list(cases.order_by("number")[: limit + 1])
    shown = found[:limit]
    days = days_of(project_id, today=end.day, window=window)
    rows = _with_stats(shown, days, end)
    if len(found) <= limit:
        return Page(rows)
    return Page(rows, cursors.write(shown[-1].number))


def worst_cases(
    project_id: int,
    *,
    by: str,
    window: int = 30,
    limit: int = 10,
    now: datetime | None = None,
) -> list[CaseRow]:
    """Rank tests by one of `RANKINGS`, the worst first; what is zero is left out."""
    if by not in RANKINGS:
        raise ValueError(f"{by!r} is no ranking: use one of {', '.join(RANKINGS)}")
    end = end_of(project_id, now=now)
    days = days_of(project_id, today=end.day, window=window)
    sums = sums_of(days)
    failing = sums["failed"] + sums["errors"]
    executed = np.maximum(sums["runs"] - sums["skipped"], 1)
    value = {
        "fail_rate": failing / executed,
        "flake_rate": sums["flaky"] / executed,
        "failed_runs": failing,
        "total_s": sums["total_s"],
    }[by]
    # Among equals the one that was seen more often says more.
    ranked = np.lexsort((-executed, -value))[:limit]
    numbers = [int(number) for number in ranked if value[number] > 0]
    cases = {
        case.number: case
        for case in TestCase.objects.filter(project_id=project_id, number__in=numbers)
    }
    return _with_stats([cases[n] for n in numbers if n in cases], days, end)


def get_case(
    case_id: int, *, window: int = 30, now: datetime | None = None
) -> CaseRow | None:
    """Return one test case with its statistics."""
    case = TestCase.objects.filter(pk=case_id).first()
    if case is None:
        return None
    end = end_of(case.project_id, now=now)
    days = days_of(case.project_id, today=end.day, window=window)
    return _with_stats([case], days, end)[0]


def find_case(project_id: int, text: str) -> CaseRow | None:
    """Find a test by its whole node id, else by a unique suffix, else by its id.

    Raise `AmbiguousCaseError` where the text fits several.
    """
    cases = TestCase.objects.filter(project_id=project_id)
    exact = list(cases.filter(nodeid=text).order_by("pk")[:MOST_CANDIDATES])
    found = exact or _ending(project_id, text)
    if not found and text.isascii() and text.isdigit() and len(text) < 19:
        found = list(cases.filter(pk=int(text)))
    if len(found) > 1:
        raise AmbiguousCaseError(text, [case.nodeid for case in found])
    return get_case(found[0].pk) if found else None


def _ending(project_id: int, text: str) -> list[TestCase]:
    """SQLite compares without regard to case, so case is looked at here too."""
    if not text:
        return []
    cases = TestCase.objects.filter(project_id=project_id, nodeid__endswith=text)
    found = cases.order_by("pk").iterator()
    return [
        case
        for case, _ in zip(
            (case for case in found if case.nodeid.endswith(text)),
            range(MOST_CANDIDATES),
            strict=False,
        )
    ]


def _with_stats(
    cases: Sequence[TestCase], days: Sequence[DayColumns], end: End
) -> list[CaseRow]:
    stats: list[CaseStats] = stats_of(days, [case.number for case in cases])
    return [
        case_row(case, gone_before=end.moment - GONE_AFTER, stats=own)
        for case, own in zip(cases, stats, strict=True)
    ]
