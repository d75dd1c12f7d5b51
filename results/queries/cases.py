"""Reads of test cases: lists, one case, its history and failures."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import Count, Q

from results.models import TestCase
from results.queries import cursors
from results.queries.histories import failures, history
from results.queries.rows import case_row
from results.queries.shapes import (
    AmbiguousCaseError,
    CaseRow,
    CaseStats,
    CaseTally,
    CursorError,
    Page,
)
from results.queries.statistics import days_of, stats_of, sums_of
from results.queries.windows import End, end_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.db.models import QuerySet
    from numpy.typing import NDArray

    from results.day_columns import DayColumns

__all__ = [
    "failures",
    "find_case",
    "get_case",
    "history",
    "list_cases",
    "rank_cases",
    "tally",
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
    by_name: bool = False,
    cursor: str | None = None,
    limit: int = 50,
    now: datetime | None = None,
) -> Page[CaseRow]:
    """List test cases in the order in which they were first met, or by node id.

    `q` is part of a node id, `file` a whole one, `state` active or gone; the
    statistics are of `window` days (`windows`).
    """
    end = end_of(project_id, now=now)
    cases = _chosen(project_id, end, q=q, file=file, state=state)
    if by_name:
        cases = _by_name(cases, project_id, cursor)
    else:
        if cursor is not None:
            cases = cases.filter(number__gt=cursors.read(cursor, int)[0])
        cases = cases.order_by("number")
    found = list(cases[: limit + 1])
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
    return rank_cases(project_id, by=by, window=window, limit=limit, now=now).items


def rank_cases(
    project_id: int,
    *,
    by: str,
    q: str | None = None,
    file: str | None = None,
    state: str | None = None,
    window: int = 30,
    cursor: str | None = None,
    limit: int = 50,
    now: datetime | None = None,
) -> Page[CaseRow]:
    """Rank the tests that pass the filters of `list_cases`, all of them."""
    end = end_of(project_id, now=now)
    days = days_of(project_id, today=end.day, window=window)
    value, executed = _values(days, by)
    chosen = _chosen(project_id, end, q=q, file=file, state=state)
    if q or file or state:
        value = np.where(_marked(chosen, len(value)), value, 0)
    # Among equals the one that was seen more often says more.
    ranked = np.lexsort((-executed, -value))[: int(np.count_nonzero(value > 0))]
    at = int(cursors.read(cursor, int)[0]) if cursor is not None else 0
    numbers = ranked[max(at, 0) :][:limit].tolist()
    cases = {case.number: case for case in chosen.filter(number__in=numbers)}
    rows = _with_stats([cases[n] for n in numbers if n in cases], days, end)
    more = at + limit < len(ranked)
    return Page(rows, cursors.write(at + limit)) if more else Page(rows)


def tally(
    project_id: int, *, window: int = 30, now: datetime | None = None
) -> CaseTally:
    """Count a project's tests: those there are, those gone, those in trouble."""
    end = end_of(project_id, now=now)
    gone = Q(last_seen__lt=end.moment - GONE_AFTER)
    counted = TestCase.objects.filter(project_id=project_id).aggregate(
        tests=Count("pk"), gone=Count("pk", filter=gone)
    )
    sums = sums_of(days_of(project_id, today=end.day, window=window))
    return CaseTally(
        **counted,
        failed=int(np.count_nonzero(sums["failed"] + sums["errors"])),
        flaky=int(np.count_nonzero(sums["flaky"])),
    )


def _chosen(
    project_id: int, end: End, *, q: str | None, file: str | None, state: str | None
) -> QuerySet[TestCase]:
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
    return cases


def _by_name(
    cases: QuerySet[TestCase], project_id: int, cursor: str | None
) -> QuerySet[TestCase]:
    """Order by node id. The cursor names a test by its number: ids may be long."""
    if cursor is not None:
        number = cursors.read(cursor, int)[0]
        last = TestCase.objects.filter(project_id=project_id, number=number).first()
        if last is None:
            raise CursorError(f"no cursor of this list: {cursor[:80]!r}")
        later = Q(nodeid__gt=last.nodeid)
        cases = cases.filter(later | Q(nodeid=last.nodeid, number__gt=number))
    return cases.order_by("nodeid", "number")


def _marked(cases: QuerySet[TestCase], size: int) -> NDArray[np.bool_]:
    """Mark the numbers of these cases in an array of all that have figures."""
    numbers = np.fromiter(cases.values_list("number", flat=True), np.int64)
    marked = np.zeros(size, np.bool_)
    marked[numbers[numbers < size]] = True
    return marked


def _values(
    days: Sequence[DayColumns], by: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what tests are ranked by, and how often each was executed."""
    if by not in RANKINGS:
        raise ValueError(f"{by!r} is no ranking: use one of {', '.join(RANKINGS)}")
    sums = sums_of(days)
    failing = sums["failed"] + sums["errors"]
    executed = np.maximum(sums["runs"] - sums["skipped"], 1)
    value = {
        "fail_rate": failing / executed,
        "flake_rate": sums["flaky"] / executed,
        "failed_runs": failing,
        "total_s": sums["total_s"],
    }[by]
    return value, executed


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
