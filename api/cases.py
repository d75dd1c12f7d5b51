"""Test cases: a project's list, one case by id or node id, its history."""

from __future__ import annotations

from typing import Literal

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Field, Query, Router
from ninja.responses import Response

from api.access import asker_of, project_by_id, project_of
from api.addresses import test_url
from api.paging import Paged
from api.parameters import MAX_PATH_NUMBER, Days, Text
from api.problems import FieldError, Invalid, NotFound
from api.shapes import (
    CaseShape,
    DecisionsShape,
    HistoryShape,
    Listing,
    RateShape,
    StatsShape,
)
from results.queries import cases as facts
from results.queries import shapes
from review import owners, standings
from review.standings import Held

router = Router(tags=["tests"])

NO_TEST = "There is no such test."
HISTORY = "/history"
JSON = "application/json; charset=utf-8"


class CaseFilters(Paged):
    nodeid: Text | None = Field(
        None, description="exact, or any suffix that is unique in the project"
    )
    q: Text | None = Field(None, description="part of the node id, in any case")
    file: Text | None = Field(None, description="exact")
    state: Literal["active", "gone"] | None = None
    window: Days = Field(
        "30d",
        validate_default=True,
        description="days that the statistics speak of, 1d to 400d",
    )


@router.get("/projects/{project:p}/tests", response=Listing[CaseShape])
def list_tests(
    request: HttpRequest, p: str, filters: Query[CaseFilters]
) -> Listing[CaseShape]:
    """A project's tests, in the order in which they were first met."""
    project = project_of(asker_of(request), p)
    if filters.nodeid is not None:
        found = look_up(project.pk, filters.nodeid, field="nodeid")
        if found is not None:
            found = facts.get_case(found.id, window=filters.window)
        items = [found] if found and _fits(found, filters) else []
        return Listing[CaseShape](items=_cases(project.pk, items), next=None)
    page = facts.list_cases(
        project.pk,
        q=filters.q,
        file=filters.file,
        state=filters.state,
        window=filters.window,
        cursor=filters.cursor,
        limit=filters.limit,
    )
    return Listing[CaseShape](items=_cases(project.pk, page.items), next=page.next)


@router.get("/tests/{number:id}", response=CaseShape)
def get_test(request: HttpRequest, id: int) -> CaseShape:
    """One test with its statistics of the last 30 days."""
    return _one(_case_by_id(request, id))


@router.get("/tests/{number:id}/history", response=Listing[HistoryShape])
def get_test_history(
    request: HttpRequest, id: int, paged: Query[Paged]
) -> Listing[HistoryShape]:
    """A test's results, newest first."""
    return _history(_case_by_id(request, id), paged)


@router.get(
    "/projects/{project:p}/tests/{nodeid:test}/history",
    response=Listing[HistoryShape],
)
def get_named_history(
    request: HttpRequest, p: str, test: str, paged: Query[Paged]
) -> Listing[HistoryShape] | HttpResponse:
    """A test's results by its id or encoded node id, newest first."""
    project = project_of(asker_of(request), p)
    whole = exact(project.pk, test + HISTORY)
    if whole is not None:  # a node id may itself end so: `/history` is matched last
        return Response(_one(whole).dict(), content_type=JSON)
    return _history(case_in(project.pk, test), paged)


@router.get("/projects/{project:p}/tests/{nodeid:test}", response=CaseShape)
def get_named_test(request: HttpRequest, p: str, test: str) -> CaseShape:
    """One test by its id or encoded node id."""
    project = project_of(asker_of(request), p)
    return _one(case_in(project.pk, test))


def _case_by_id(request: HttpRequest, case_id: int) -> shapes.CaseRow:
    row = facts.get_case(case_id)
    if row is None:
        raise NotFound(NO_TEST)
    project_by_id(asker_of(request), row.project_id, otherwise=NO_TEST)
    return row


def case_in(project_id: int, text: str) -> shapes.CaseRow:
    if text.isascii() and text.isdigit() and int(text) <= MAX_PATH_NUMBER:
        row = facts.get_case(int(text))
        if row is not None and row.project_id == project_id:
            return row
    found = None if "\0" in text else look_up(project_id, text, field="test")
    if found is None:
        raise NotFound(NO_TEST)
    return found


def exact(project_id: int, nodeid: str) -> shapes.CaseRow | None:
    if "\0" in nodeid:
        return None
    try:
        found = facts.find_case(project_id, nodeid)
    except shapes.AmbiguousCaseError:
        return None
    return found if found is not None and found.nodeid == nodeid else None


def look_up(project_id: int, text: str, *, field: str) -> shapes.CaseRow | None:
    """Find a test by id, node id or unique suffix; several are the asker's fault."""
    try:
        return facts.find_case(project_id, text)
    except shapes.AmbiguousCaseError as error:
        some = ", ".join(error.candidates[:3])
        message = f"several tests end with this, such as {some}; give more of it"
        raise Invalid(FieldError(field, message)) from None


def _fits(row: shapes.CaseRow, filters: CaseFilters) -> bool:
    """Tell whether a test that was looked up passes the other filters too."""
    return (
        (filters.q is None or filters.q.casefold() in row.nodeid.casefold())
        and filters.file in (None, row.file)
        and filters.state in (None, row.state)
    )


def _history(row: shapes.CaseRow, paged: Paged) -> Listing[HistoryShape]:
    page = facts.history(row.id, limit=paged.limit, before=paged.cursor)
    items = [_cell(cell) for cell in page.items]
    return Listing[HistoryShape](items=items, next=page.next)


def _one(row: shapes.CaseRow) -> CaseShape:
    return _cases(row.project_id, [row])[0]


def _cases(project_id: int, rows: list[shapes.CaseRow]) -> list[CaseShape]:
    """Put beside each test who owns it, and what was decided of it."""
    held = standings.held_of([row.id for row in rows], now=timezone.now())
    files = owners.by_file(project_id, (row.file for row in rows))
    return [
        _case(row, held.get(row.id), owners.owner_of(row.id, row.file, held, files))
        for row in rows
    ]


def _case(row: shapes.CaseRow, held: Held | None, owner: str) -> CaseShape:
    decided = held.state if held else None
    return CaseShape(
        id=row.id,
        nodeid=row.nodeid,
        file=row.file or None,
        line=row.line,
        suite=row.suite or None,
        name=row.name,
        params=row.params or None,
        owner=owner or None,
        state=decided or row.state,
        decisions=_decisions(held),
        first_seen=row.first_seen,
        last_seen=row.last_seen,
        stats=_stats(row.stats),
        url=test_url(row.id),
    )


def _decisions(held: Held | None) -> DecisionsShape:
    held = held or Held(0)
    return DecisionsShape(
        quarantined_until=held.quarantined_until if held.quarantined else None,
        muted=held.muted,
        muted_until=held.muted_until if held.muted else None,
        muted_failures=held.muted_failures if held.muted else None,
        accepted_reason=held.accepted_reason if held.accepted else None,
        fix_by=held.fix_by,
        ticket=held.ticket or None,
        fixed_at=held.fixed_at,
        fixed_commit=held.fixed_commit or None,
    )


def _stats(stats: shapes.CaseStats) -> StatsShape:
    rate = stats.flake_rate
    return StatsShape(
        runs=stats.runs,
        fail_rate=stats.fail_rate,
        flake_rate=RateShape(mean=rate.mean, low=rate.low, high=rate.high)
        if rate
        else None,
        p50_s=stats.p50_s,
        p95_s=stats.p95_s,
    )


def _cell(cell: shapes.HistoryCell) -> HistoryShape:
    return HistoryShape(
        run=cell.run,
        run_name=cell.run_name,
        started_at=cell.started_at,
        outcome=cell.outcome,
        flaky=cell.flaky,
        conflict=cell.conflict,
        attempts=cell.attempts,
        duration_s=cell.duration_s,
        branch=cell.branch or None,
        commit=cell.commit or None,
        pr=cell.pr,
        environment=dict(cell.environment),
        excluded=cell.excluded,
        message=cell.message or None,
        failure_group=cell.failure_group,
    )
