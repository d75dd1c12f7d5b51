"""Pull requests: whose their failures are, who waits for whom, the journey."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Query, Router, Schema

from analysis.attribution import Share
from api.access import asker_of, project_of
from api.addresses import finding_url, pull_url, run_url
from api.paging import Paged
from api.parameters import MAX_PR, Days, Environment, Text
from api.problems import NotFound
from api.pull_shapes import (
    AttributedShape,
    BlockersShape,
    FlakyShape,
    GoneShape,
    GraphShape,
    JourneyPointShape,
    JourneyShape,
    OwnLeakerShape,
    PullFindingShape,
    PullRunShape,
    PullShape,
    SharesShape,
)
from api.shapes import Listing
from pulls import queries

if TYPE_CHECKING:
    from pulls.shapes import FindingItem, Item, JourneyPoint, PullRow

router = Router(tags=["pulls"])

_UNJUDGED = "Its verdict is being made."


class PullFilters(Paged):
    state: Literal["open", "closed", "merged"] | None = None
    verdict: Literal["clear", "yours", "not_yours", "blocked", "unknown"] | None = None
    red: bool | None = Field(None, description="by the policies of the project")
    q: Text | None = Field(None, description="part of a title or author, or a number")


class JourneyFilters(Schema):
    window: Days = Field(
        "90d", validate_default=True, description="days back from now, 1d to 400d"
    )
    environment: Environment | None = Field(
        None, description="os=linux,python=3.12, whole; else the most used one"
    )


@router.get("/projects/{project:p}/pulls", response=Listing[PullShape])
def list_pulls(
    request: HttpRequest, p: str, filters: Query[PullFilters]
) -> Listing[PullShape]:
    """A project's pull requests with their verdicts, the newest first."""
    project = project_of(asker_of(request), p)
    page = queries.list_pulls(
        project.pk,
        state=filters.state,
        word=filters.verdict,
        red=filters.red,
        q=filters.q,
        cursor=filters.cursor,
        limit=filters.limit,
    )
    items = [_pull(row, project.slug) for row in page.items]
    return Listing[PullShape](items=items, next=page.next)


@router.get("/projects/{project:p}/pulls/{number:n}", response=PullShape)
def get_pull(request: HttpRequest, p: str, n: int) -> PullShape:
    """One pull request: whose its failures are, and what to do."""
    project = project_of(asker_of(request), p)
    row = queries.get_pull(project.pk, n) if 0 < n <= MAX_PR else None
    if row is None:
        raise NotFound(f"Nothing is known of a pull request #{n}.")
    return _pull(row, project.slug)


@router.get("/projects/{project:p}/graph", response=GraphShape, by_alias=True)
def get_graph(request: HttpRequest, p: str) -> dict[str, Any]:  # Any: JSON
    """Which pull request waits for, or is related to, which."""
    project = project_of(asker_of(request), p)
    graph = queries.graph(project.pk)
    return {
        "nodes": [
            {
                "number": node.number,
                "state": node.state,
                "title": node.title,
                "verdict": node.word or None,
                "red": node.red,
            }
            for node in graph.nodes
        ],
        "edges": [
            {
                "from": edge.from_number,
                "to": edge.to,
                "kind": edge.kind,
                "open": edge.open,
                "source": edge.source,
                "reason": edge.reason or None,
            }
            for edge in graph.edges
        ],
        "cycles": graph.cycles,
    }


@router.get("/projects/{project:p}/journey", response=JourneyShape)
def get_journey(
    request: HttpRequest, p: str, filters: Query[JourneyFilters]
) -> JourneyShape:
    """The failing tests of the default branch, and what each fix earned."""
    project = project_of(asker_of(request), p)
    asked = None
    if filters.environment is not None:
        pairs = (part.partition("=") for part in filters.environment.split(","))
        asked = {key.strip(): value for key, _, value in pairs}
    found = queries.journey(
        project,
        since=timezone.now() - timedelta(days=filters.window),
        environment=asked,
    )
    return JourneyShape(
        environment=dict(found.environment),
        environments=[dict(one) for one in found.environments],
        points=[_point(one) for one in found.points],
        changes=[_point(one) for one in found.changes],
    )


def _pull(row: PullRow, slug: str) -> PullShape:
    told = row.told
    return PullShape(
        number=row.number,
        title=row.title,
        state=row.state,
        draft=row.draft,
        author=row.author or None,
        head=row.head or None,
        base=row.base_branch or None,
        merge_base=told.base or None if told else None,
        base_quality=told.quality or None if told else None,
        verdict=told.word if told else "unknown",
        sentence=told.sentence if told else _UNJUDGED,
        red=told.red if told else False,
        reasons=told.reasons if told else [],
        leaks=_shares(told.leaks if told else []),
        failures=_shares(told.failures if told else []),
        findings=[_finding(one, slug) for one in told.findings] if told else [],
        blockers=BlockersShape(**asdict(row.blockers)),
        blocks=row.blocks,
        advice=told.advice if told else [],
        untested=told.untested or None if told else None,
        merge_commit=row.merge_commit or None,
        runs=_runs(row),
        pending=row.pending,
        judged_at=row.at,
        changed_at=row.changed_at,
        web_url=row.url or None,
        url=pull_url(slug, row.number),
    )


def _runs(row: PullRow) -> list[PullRunShape]:
    return [
        PullRunShape(
            id=run.id,
            run=run.name,
            outcome=run.outcome,
            complete=run.complete,
            environment=dict(run.environment),
            tests=run.tests,
            url=run_url(run.id),
        )
        for run in (row.told.runs if row.told else [])
    ]


def _shares(items: list[Item]) -> SharesShape:
    return SharesShape(
        **{
            share.value: [_item(one) for one in items if one.share == share]
            for share in Share
        }
    )


def _item(item: Item) -> AttributedShape:
    leaker = item.leaker
    return AttributedShape(
        test=item.test,
        nodeid=item.nodeid,
        kind=item.kind,
        reason=item.reason,
        why=item.why,
        environments=[dict(one) for one in item.environments],
        fingerprint=item.fingerprint or None,
        title=item.title,
        message=item.message or None,
        run=item.run,
        base_run=item.base_run,
        base_commit=item.base_commit or None,
        gone=GoneShape(**asdict(item.gone)) if item.gone else None,
        leaker=OwnLeakerShape(
            id=leaker.id,
            test=leaker.test,
            nodeid=leaker.nodeid,
            share=leaker.share,
            status=leaker.status,
        )
        if leaker
        else None,
        flaky=FlakyShape(**asdict(item.flaky)) if item.flaky else None,
        fixed_by=item.fixed_by,
        gate=item.gate or None,
        gate_new=item.gate_new,
        recipe=item.recipe or None,
    )


def _finding(one: FindingItem, slug: str) -> PullFindingShape:
    return PullFindingShape(
        id=one.id,
        severity=one.severity,
        state=one.state,
        path=one.path,
        line=one.line,
        title=one.title,
        share=one.share,
        reason=one.reason,
        cluster=one.cluster,
        owner=one.owner or None,
        due=datetime.fromisoformat(one.due),
        url=finding_url(slug, one.id),
    )


def _point(point: JourneyPoint) -> JourneyPointShape:
    return JourneyPointShape(
        at=point.at,
        run=point.run,
        commit=point.commit or None,
        failing=point.failing,
        tests=point.tests,
        gone=point.gone,
        come=point.come,
        pull=point.pull,
        among=point.among,
    )
