"""Leaks: the single facts that gates told, by a payload or in a report's text."""

from __future__ import annotations

from dataclasses import asdict

from django.http import HttpRequest
from ninja import Field, Query, Router

from api.access import asker_of, project_of
from api.cases import look_up
from api.paging import Paged
from api.parameters import MAX_PATH_NUMBER, MAX_PR, Text
from api.shapes import LeakDetailShape, LeakShape, Listing
from results.queries import leaks as facts

router = Router(tags=["leaks"])


class LeakFilters(Paged):
    run: int | None = Field(None, ge=1, le=MAX_PATH_NUMBER, description="a run's id")
    test: Text | None = Field(
        None, description="a test's id, its node id, or a suffix that is unique"
    )
    kind: Text | None = Field(None, description="such as sys_modules.removed; exact")
    pr: int | None = Field(None, ge=1, le=MAX_PR)


@router.get("/projects/{project:p}/leaks", response=Listing[LeakShape])
def list_leaks(
    request: HttpRequest, p: str, filters: Query[LeakFilters]
) -> Listing[LeakShape]:
    """What tests left behind by the word of a gate, the newest run first."""
    project = project_of(asker_of(request), p)
    test = None
    if filters.test is not None:
        found = look_up(project.pk, filters.test, field="test")
        if found is None:
            return Listing[LeakShape](items=[], next=None)
        test = found.id
    page = facts.list_leaks(
        project.pk,
        run=filters.run,
        test=test,
        kind=filters.kind,
        pr=filters.pr,
        cursor=filters.cursor,
        limit=filters.limit,
    )
    items = [_leak(row) for row in page.items]
    return Listing[LeakShape](items=items, next=page.next)


def _leak(row: facts.LeakRow) -> LeakShape:
    return LeakShape(
        test=row.test,
        nodeid=row.nodeid,
        kind=row.kind,
        gate=row.gate or None,
        items=row.items,
        item_count=row.item_count,
        phase=row.phase or None,
        worker=row.worker or None,
        position=row.position,
        enforced=row.enforced,
        opted_out=row.opted_out,
        message=row.message or None,
        recipe=row.recipe or None,
        detail=LeakDetailShape(**asdict(row.detail)) if row.detail else None,
        run=row.run,
        commit=row.commit or None,
    )
