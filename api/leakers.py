"""Leakers, their victims, unstable tests, and proofs from outside."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema
from ninja.responses import Response, Status

from api import cases
from api.access import asker_of, project_by_id, project_of
from api.leaker_shapes import (
    CandidateShape,
    CostShape,
    HarmShape,
    LeakerShape,
    ProbeShape,
    ProofShape,
    SeenShape,
    UnstableShape,
    VictimShape,
)
from api.paging import Paged
from api.parameters import Days, Text
from api.problems import Conflict, FieldError, Invalid, NotFound
from api.shapes import Listing, RateShape
from leaks import proofs, queries
from leaks.models import PairKind, Proof, ProofResult
from leaks.shapes import LeakerRow, PairRow, UnstableRow, VictimRow
from projects.models import Scope

router = Router(tags=["leakers"])

NO_LEAKER = "There is no such leaker."
PROOFS = "/proofs"
MOST_RUNS = 2**31 - 1

StateName = Literal[
    "suspected", "open", "muted", "dismissed", "fixed", "verified_fixed"
]


class LeakerFilters(Paged):
    state: StateName | None = Field(None, description="without it: all but suspected")


class FlakyFilters(Paged):
    window: Days = Field(
        "30d",
        validate_default=True,
        description="days in which they failed, and that the rate speaks of",
    )


class ProofBody(Schema, extra="forbid"):
    """The result of running the two alone, in this order."""

    leaker: Text = Field(description="a test's id, its node id, or a unique suffix")
    result: Literal["confirmed", "refuted"]
    type: Literal["victim", "brittle"] = "victim"
    how: str = Field("", max_length=10_000)
    command: str = Field("", max_length=10_000)
    runs: int | None = Field(None, ge=0, le=MOST_RUNS)
    failed: int | None = Field(None, ge=0, le=MOST_RUNS)
    commit: str = Field("", max_length=64)
    environment: dict[str, str] = Field(default_factory=dict, max_length=100)
    id: str = Field("", max_length=proofs.LONGEST_KEY, description="or Idempotency-Key")


@router.get("/projects/{project:p}/leakers", response=Listing[LeakerShape])
def list_leakers(
    request: HttpRequest, p: str, filters: Query[LeakerFilters]
) -> Listing[LeakerShape]:
    """Tests that leave something behind, the dearest first."""
    project = project_of(asker_of(request), p)
    page = queries.list_leakers(
        project.pk, state=filters.state, cursor=filters.cursor, limit=filters.limit
    )
    items = [_leaker(row) for row in page.items]
    return Listing[LeakerShape](items=items, next=page.next)


@router.get("/leakers/{number:id}", response=LeakerShape)
def get_leaker(request: HttpRequest, id: int) -> LeakerShape:
    """One leaker with its victims."""
    row = queries.get_leaker(id)
    if row is None:
        raise NotFound(NO_LEAKER)
    project_by_id(asker_of(request), row.project_id, otherwise=NO_LEAKER)
    return _leaker(row)


@router.get(
    "/projects/{project:p}/flaky", response=Listing[UnstableShape], by_alias=True
)
def list_flaky(
    request: HttpRequest, p: str, filters: Query[FlakyFilters]
) -> Listing[UnstableShape]:
    """Unstable tests with their class and its evidence, the dearest first."""
    project = project_of(asker_of(request), p)
    page = queries.list_unstable(
        project.pk, window=filters.window, cursor=filters.cursor, limit=filters.limit
    )
    items = [_unstable(row) for row in page.items]
    return Listing[UnstableShape](items=items, next=page.next)


@router.post(
    "/projects/{project:p}/victims/{nodeid:test}/proofs",
    response={201: ProofShape, 200: ProofShape},
)
def post_proof(
    request: HttpRequest, p: str, test: str, body: ProofBody
) -> Status[ProofShape]:
    """Tell the result of a reproduction; it outranks statistics. Scope upload."""
    asker = asker_of(request)
    project = project_of(asker, p, scope=Scope.UPLOAD)
    victim = cases.case_in(project.pk, test)
    leaker = cases.look_up(project.pk, body.leaker, field="leaker")
    if leaker is None:
        raise Invalid(FieldError("leaker", "there is no such test in the project"))
    if leaker.id == victim.id:
        raise Invalid(FieldError("leaker", "is the test itself"))
    told = proofs.Told(
        leaker=leaker.id,
        victim=victim.id,
        result=ProofResult(body.result),
        kind=PairKind(body.type),
        how=body.how,
        command=body.command,
        runs=body.runs,
        failed=body.failed,
        commit=body.commit,
        environment=body.environment,
    )
    key = body.id or request.headers.get("Idempotency-Key", "")
    try:
        proof, made = proofs.record(project, told, key=key, by=asker.name)
    except proofs.ProofConflict:
        raise Conflict("The id was used before, for another proof.") from None
    return Status(201 if made else 200, _proof(proof))


@router.get(
    "/projects/{project:p}/victims/{nodeid:test}/proofs",
    response=Listing[ProofShape],
)
def list_proofs(
    request: HttpRequest, p: str, test: str, paged: Query[Paged]
) -> Listing[ProofShape] | HttpResponse:
    """What reproductions said of a test, the newest first."""
    project = project_of(asker_of(request), p)
    whole = cases.exact(project.pk, test + PROOFS)
    if whole is not None:  # a node id may itself end so: `/proofs` is matched last
        told = _victim(queries.victim(whole.id))
        return Response(told.dict(by_alias=True), content_type=cases.JSON)
    case = cases.case_in(project.pk, test)
    page = queries.list_proofs(case.id, cursor=paged.cursor, limit=paged.limit)
    items = [_proof(proof) for proof in page.items]
    return Listing[ProofShape](items=items, next=page.next)


@router.get(
    "/projects/{project:p}/victims/{nodeid:test}", response=VictimShape, by_alias=True
)
def get_victim(request: HttpRequest, p: str, test: str) -> VictimShape:
    """Who breaks a test, as far as is known, and what would decide it."""
    project = project_of(asker_of(request), p)
    case = cases.case_in(project.pk, test)
    return _victim(queries.victim(case.id))


def _victim(row: VictimRow) -> VictimShape:
    return VictimShape(
        name=row.name or None,
        test=row.test,
        nodeid=row.nodeid,
        type=row.kind or None,
        candidates=[_candidate(pair) for pair in row.candidates],
        probe=_probe(row.probe),
        missing=row.missing or None,
        evidence=row.evidence,
    )


def _probe(told: dict[str, Any] | None) -> ProbeShape | None:  # Any: JSON
    if told is None:
        return None
    return ProbeShape(why=told["why"], command=told["command"] or None)


def _leaker(row: LeakerRow) -> LeakerShape:
    return LeakerShape(
        id=row.id,
        test=row.test,
        nodeid=row.nodeid,
        kinds=row.kinds,
        source=row.source,
        state=row.state,
        opened_at=row.opened_at,
        reopened_at=row.reopened_at,
        last_at=row.last_at,
        ticket=row.ticket or None,
        first_seen=SeenShape(
            run=row.first_run,
            commit=row.first_commit or None,
            pr=row.first_pr,
            at=row.first_at,
        ),
        victims=[_harm(pair) for pair in row.victims],
        cost=CostShape(
            failed_results=row.failed_results,
            failed_runs=row.failed_runs,
            lost_s=row.lost_s,
            affected_prs=row.pulls,
        ),
        reproduce=row.reproduce or None,
        recipe=row.recipe or None,
        method_version=row.method_version,
    )


_TABLE = (
    "test",
    "nodeid",
    "status",
    "failed_after",
    "passed_after",
    "failed_without",
    "passed_without",
    "p_value",
    "q_value",
    "current",
)


def _harm(pair: PairRow) -> HarmShape:
    same = {name: getattr(pair, name) for name in _TABLE}
    return HarmShape(**same, confidence=pair.posterior)


def _candidate(pair: PairRow) -> CandidateShape:
    same = {name: getattr(pair, name) for name in _TABLE}
    return CandidateShape(
        **same,
        type=pair.kind,
        posterior=pair.posterior,
        bf=pair.bf,
        group=pair.group,
        lives_for=pair.lives_for,
        evidence=pair.evidence,
    )


def _unstable(row: UnstableRow) -> UnstableShape:
    rate = row.flake_rate
    return UnstableShape(
        name=row.name,
        test=row.test,
        nodeid=row.nodeid,
        since=row.since,
        flake_rate=None
        if rate is None
        else RateShape(mean=rate.mean, low=rate.low, high=rate.high),
        failed_runs=row.failed_runs,
        affected_prs=row.affected_prs,
        lost_s=row.lost_s,
        last_failed=row.last_failed,
        missing=row.missing or None,
        evidence=row.evidence,
    )


def _proof(proof: Proof) -> ProofShape:
    return ProofShape(
        id=proof.key,
        leaker=proof.leaker_id,
        victim=proof.victim_id,
        result=proof.result,
        type=proof.kind,
        how=proof.how or None,
        command=proof.command or None,
        runs=proof.runs,
        failed=proof.failed,
        commit=proof.commit or None,
        environment=proof.environment,
        created_at=proof.created_at,
    )
