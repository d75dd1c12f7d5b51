"""Findings, reviews and effects of a project."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from ninja import Field, Query, Router

from api.access import asker_of, project_of
from api.addresses import finding_url
from api.finding_shapes import (
    ConfidenceShape,
    EffectShape,
    FindingShape,
    LinkedLeak,
    PlaceShape,
    ProvenanceShape,
    ResourceShape,
    ReviewShape,
    UnparsedShape,
)
from api.paging import Paged
from api.parameters import MAX_PATH_NUMBER, MAX_PR, Text
from api.shapes import Listing
from findings import effect_queries, queries
from findings.effect_queries import EffectFilters
from findings.filters import Filters
from findings.links import Links, links_of
from findings.models import Effect
from findings.shapes import FindingRow, ReviewRow

router = Router(tags=["findings"])

SARIF = "application/sarif+json"

SeverityName = Literal["P0", "P1", "P2", "P3"]
StateName = Literal[
    "live",
    "open",
    "reopened",
    "resolved",
    "accepted",
    "false positive",
    "won't fix",
    "fixed",
]
VerdictName = Literal[
    "failed",
    "contradicted",
    "pending",
    "unverified",
    "not_executed",
    "state_observed",
    "verified",
]


class FindingFilters(Paged):
    severity: SeverityName | None = None
    state: StateName | None = Field(None, description="or live: open or reopened")
    pr: int | None = Field(None, ge=1, le=MAX_PR)
    path: Text | None = Field(None, description="part of the path, in any case")
    owner: Text | None = Field(None, description="or -: nobody")
    overdue: bool | None = None
    format: Literal["json", "sarif"] = Field(
        "json",
        description="sarif: all of them as one SARIF 2.1.0 log; without a state those "
        "that are resolved or fixed are left out",
    )


class ReviewFilters(Paged):
    pr: int | None = Field(None, ge=1, le=MAX_PR)


class EffectsAsked(Paged):
    run: int | None = Field(None, ge=1, le=MAX_PATH_NUMBER, description="a run's id")
    verdict: VerdictName | None = None


@router.get("/projects/{project:p}/findings", response=Listing[FindingShape])
def list_findings(
    request: HttpRequest, p: str, filters: Query[FindingFilters]
) -> Listing[FindingShape] | JsonResponse:
    """A project's findings, the most pressing first."""
    project = project_of(asker_of(request), p)
    now = timezone.now()
    asked = Filters(
        severity=filters.severity or "",
        state=filters.state or "",
        pr=filters.pr,
        path=filters.path or "",
        owner=filters.owner or "",
        overdue=filters.overdue,
    )
    if filters.format == "sarif":
        log = queries.as_sarif(project.pk, asked, now=now)
        return JsonResponse(log, content_type=SARIF)
    page = queries.list_findings(
        project.pk, asked, now=now, cursor=filters.cursor, limit=filters.limit
    )
    links = links_of(project.pk, page.items)
    items = [_finding(row, project.slug, links[row.id]) for row in page.items]
    return Listing[FindingShape](items=items, next=page.next)


@router.get("/projects/{project:p}/reviews", response=Listing[ReviewShape])
def list_reviews(
    request: HttpRequest, p: str, filters: Query[ReviewFilters]
) -> Listing[ReviewShape]:
    """A project's reviews, the newest first."""
    project = project_of(asker_of(request), p)
    page = queries.list_reviews(
        project.pk, pr=filters.pr, cursor=filters.cursor, limit=filters.limit
    )
    items = [_review(row) for row in page.items]
    return Listing[ReviewShape](items=items, next=page.next)


@router.get("/projects/{project:p}/effects", response=Listing[EffectShape])
def list_effects(
    request: HttpRequest, p: str, filters: Query[EffectsAsked]
) -> Listing[EffectShape]:
    """Effects of agents' runs and how they were judged, by sequence."""
    project = project_of(asker_of(request), p)
    page = effect_queries.list_effects(
        project.pk,
        EffectFilters(run=filters.run, verdict=filters.verdict or ""),
        cursor=filters.cursor,
        limit=filters.limit,
    )
    items = [_effect(row) for row in page.items]
    return Listing[EffectShape](items=items, next=page.next)


def _finding(row: FindingRow, slug: str, links: Links) -> FindingShape:
    same: dict[str, Any] = {  # Any: a value of any field
        name: getattr(row, name)
        for name in FindingShape.model_fields
        if name not in ("also_at", "rule", "reason", "owner", "effect_id", "leaks")
        and hasattr(row, name)
    }
    return FindingShape(
        **same,
        also_at=[PlaceShape(line=line, end_line=end) for line, end in row.also_at],
        rule=row.rule or None,
        reason=row.reason or None,
        owner=row.owner or None,
        effect_id=row.effect_id or None,
        leaks=[
            LinkedLeak(
                id=each.leak,
                test=each.test,
                nodeid=each.nodeid,
                kind=each.kind,
                runs=each.runs,
            )
            for each in links.leaks
        ],
        url=finding_url(slug, row.id),
    )


def _review(row: ReviewRow) -> ReviewShape:
    confidence = None
    if row.score is not None and row.out_of is not None:
        confidence = ConfidenceShape(score=row.score, of=row.out_of)
    return ReviewShape(
        id=row.id,
        pr=row.pr,
        commit=row.commit or None,
        at=row.at,
        upload=row.upload,
        confidence=confidence,
        provenance=ProvenanceShape(**row.provenance),
        unparsed=[UnparsedShape(**each) for each in row.unparsed],
        partial=row.partial,
        complete=row.complete,
        reviewers=list(row.reviewers),
        raised=row.raised,
        counts=row.counts,
    )


def _effect(row: Effect) -> EffectShape:
    return EffectShape(
        id=row.pk,
        effect_id=row.effect_id,
        lineage=row.lineage,
        run=row.ledger.run_id,
        upload=row.ledger.upload_id,
        tool=row.tool,
        action=row.action,
        execution=row.execution,
        impact=row.impact or None,
        verdict=row.verdict,
        reason=row.reason,
        cleanup=row.cleanup,
        unresolved_impact=row.unresolved_impact,
        external=row.external,
        disclosure=row.disclosure or None,
        targets=[ResourceShape(**each) for each in row.targets],
        scope_known=row.scope_known,
        superseded_by=row.superseded_by or None,
        replayed=row.replayed,
        running_at_end=row.running_at_end,
        test=row.test_id,
        nodeid=row.test.nodeid if row.test else row.test_name or None,
        obligations=row.detail["obligations"],
        timeline=row.detail["timeline"],
    )
