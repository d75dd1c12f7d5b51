"""Runs: a project's list, one run, its results."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from django.http import HttpRequest
from ninja import Field, Query, Router

from api.access import asker_of, project_by_id, project_of
from api.addresses import run_url
from api.paging import Paged
from api.parameters import MAX_PR, Environment, Instant, Text
from api.problems import NotFound
from api.shapes import (
    AttemptShape,
    CauseShape,
    CompletenessShape,
    CountsShape,
    Listing,
    ProblemOfRun,
    ReportedShape,
    ResultShape,
    RunShape,
    RunSummary,
    ShardShape,
)
from formats.outcomes import FAILING
from leaks.queries import Cause, causes_of
from results.queries import runs as facts
from results.queries import shapes

router = Router(tags=["runs"])

NO_RUN = "There is no such run."

RunOutcomeName = Literal["passed", "failed", "incomplete", "damaged", "no_results"]
ResultOutcomeName = Literal[
    "passed", "failed", "error", "skipped", "xfailed", "xpassed", "flaky", "failing"
]


class RunFilters(Paged):
    branch: Text | None = None
    commit: Text | None = Field(None, description="seven or more hex digits: a prefix")
    pr: int | None = Field(None, ge=1, le=MAX_PR)
    environment: Environment | None = Field(
        None, description="key=value, several with commas: all of them"
    )
    since: Instant | None = Field(None, description="started at this time or later")
    until: Instant | None = Field(None, description="started before this time")
    outcome: RunOutcomeName | None = None


class ResultFilters(Paged):
    outcome: ResultOutcomeName | None = Field(
        None, description="or flaky; or failing: failed and error"
    )
    q: Text | None = Field(None, description="part of the node id, in any case")
    attempt: int | None = Field(
        None, ge=1, le=32767, description="what this attempt said, not the last one"
    )


@router.get("/projects/{project:p}/runs", response=Listing[RunSummary])
def list_runs(
    request: HttpRequest, p: str, filters: Query[RunFilters]
) -> Listing[RunSummary]:
    """A project's runs, newest first."""
    project = project_of(asker_of(request), p)
    page = facts.list_runs(
        project.pk,
        branch=filters.branch,
        commit=filters.commit,
        pr=filters.pr,
        environment=filters.environment,
        since=filters.since,
        until=filters.until,
        outcome=filters.outcome,
        cursor=filters.cursor,
        limit=filters.limit,
    )
    items = [_summary(row) for row in page.items]
    return Listing[RunSummary](items=items, next=page.next)


@router.get("/runs/{number:id}", response=RunShape)
def get_run(request: HttpRequest, id: int) -> RunShape:
    """One run with its parts, attempts, completeness and problems."""
    detail, slug = _run_of(request, id)
    row = detail.row
    return RunShape(
        **_summary(row).dict(),
        project=slug,
        attempts=[_attempt(attempt) for attempt in detail.attempts],
        base_sha=detail.base_sha or None,
        base_branch=detail.base_branch or None,
        merge_base=detail.merge_base or None,
        committed_at=detail.committed_at,
        reported=ReportedShape(**asdict(detail.reported)),
        shards=[_shard(part) for part in detail.parts],
        completeness=_completeness(detail.completeness),
        problems=[ProblemOfRun(**asdict(each)) for each in detail.problems],
        uploads=detail.uploads,
    )


@router.get("/runs/{number:id}/results", response=Listing[ResultShape])
def list_results(
    request: HttpRequest, id: int, filters: Query[ResultFilters]
) -> Listing[ResultShape]:
    """A run's results, one a test: that of its latest attempt."""
    _run_of(request, id)
    page = facts.list_results(
        id,
        outcome=filters.outcome,
        q=filters.q,
        attempt=filters.attempt,
        cursor=filters.cursor,
        limit=filters.limit,
    )
    found = causes_of(id, {row.test for row in page.items if row.outcome in FAILING})
    items = [_result(row, found.get(row.test)) for row in page.items]
    return Listing[ResultShape](items=items, next=page.next)


def _run_of(request: HttpRequest, run_id: int) -> tuple[shapes.RunDetail, str]:
    detail = facts.get_run(run_id)
    if detail is None:
        raise NotFound(NO_RUN)
    project = project_by_id(asker_of(request), detail.row.project_id, otherwise=NO_RUN)
    return detail, project.slug


def _summary(row: shapes.RunRow) -> RunSummary:
    return RunSummary(
        id=row.id,
        run=row.name,
        environment=dict(row.environment),
        branch=row.branch or None,
        commit=row.commit or None,
        head_sha=row.head_sha or None,
        pr=row.pr,
        outcome=row.outcome,
        failed_outside=row.failed_outside,
        started_at=row.started_at,
        counts=_counts(row.counts),
        duration_s=row.duration_s,
        wall_s=row.wall_s,
        order=row.order,
        excluded=row.excluded,
        ci_url=row.ci_url or None,
        url=run_url(row.id),
    )


def _counts(counts: shapes.Counts) -> CountsShape:
    return CountsShape(
        tests=counts.tests,
        passed=counts.passed,
        failed=counts.failed,
        errors=counts.errors,
        skipped=counts.skipped,
        xfailed=counts.xfailed,
        xpassed=counts.xpassed,
        flaky=counts.flaky,
    )


def _attempt(row: shapes.AttemptRow) -> AttemptShape:
    return AttemptShape(
        attempt=row.attempt, shards=row.parts, counts=_counts(row.counts)
    )


def _shard(part: shapes.Part) -> ShardShape:
    return ShardShape(
        index=part.index,
        count=part.count,
        tests=part.tests,
        duration_s=part.duration_s,
        state=part.state,
        job=part.job,
        attempt=part.attempt,
        wall_s=part.wall_s,
        exit_code=part.exit_code,
        uploads=part.uploads,
    )


def _completeness(value: shapes.Completeness) -> CompletenessShape:
    return CompletenessShape(
        expected_shards=value.expected_shards,
        received=value.received,
        missing=value.missing,
        duplicated_tests=value.duplicated_tests,
    )


def _result(row: shapes.ResultRow, cause: Cause | None) -> ResultShape:
    return ResultShape(
        test=row.test,
        nodeid=row.nodeid,
        outcome=row.outcome,
        attempts=row.attempts,
        duration_s=row.duration_s,
        worker=row.worker or None,
        position=row.position,
        message=row.message or None,
        failure_group=row.failure_group,
        cause=cause.nodeid if cause and cause.claimed else None,
        suspect=None if cause is None else _cause(cause),
        flaky=row.flaky,
        leaking=row.leaking,
        conflict=row.conflict,
        duplicate=row.duplicate,
    )


def _cause(cause: Cause) -> CauseShape:
    return CauseShape(
        leaker=cause.leaker,
        test=cause.test,
        nodeid=cause.nodeid,
        type=cause.kind,
        status=cause.status,
        posterior=cause.posterior,
        ran_before=cause.ran_before,
    )
