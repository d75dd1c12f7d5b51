"""Reads of runs: lists, one run, its results, failures, comparison, timeline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.db.models import Q

from results.models import Run, Shard
from results.queries import cursors
from results.queries.comparison import compare
from results.queries.failures import failure_detail, failure_groups
from results.queries.results import list_results
from results.queries.rows import RUN_FIELDS, run_row
from results.queries.shapes import (
    AttemptRow,
    Completeness,
    Counts,
    Exclusion,
    MissingPart,
    OrderCounts,
    Page,
    Part,
    Problem,
    ReportedCounts,
    RunDetail,
    RunNote,
    RunRow,
)
from results.queries.summaries import summaries_for
from results.queries.timelines import timeline

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.db.models import QuerySet

__all__ = [
    "compare",
    "failure_detail",
    "failure_groups",
    "get_run",
    "list_results",
    "list_runs",
    "summaries_for",
    "timeline",
]

_HEX_PREFIX = re.compile(r"[0-9a-fA-F]{7,64}")


def list_runs(
    project_id: int,
    *,
    branch: str | None = None,
    commit: str | None = None,
    pr: int | None = None,
    environment: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    outcome: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[RunRow]:
    """List runs, the newest first. `since` is included, `until` is not.

    `commit` is compared with the tested commit and its head; 7 or more hex digits are
    a prefix. `environment` is "os=linux,python=3.12", or values alone.
    """
    runs = Run.objects.filter(project_id=project_id)
    exact = {"branch": branch, "pr": pr, "outcome": outcome}
    runs = runs.filter(**{k: v for k, v in exact.items() if v is not None})
    if commit is not None:
        runs = runs.filter(_of_commit(commit))
    if environment is not None:
        runs = runs.filter(environment_key__in=_environments(project_id, environment))
    if since is not None:
        runs = runs.filter(started_at__gte=since)
    if until is not None:
        runs = runs.filter(started_at__lt=until)
    if cursor is not None:
        runs = _after(runs, cursor)
    found = runs.only(*RUN_FIELDS).order_by("-started_at", "-pk")[: limit + 1]
    rows = [run_row(run) for run in found]
    if len(rows) <= limit:
        return Page(rows)
    last = rows[limit - 1]
    return Page(rows[:limit], cursors.write_moment(last.started_at, last.id))


def get_run(run_id: int) -> RunDetail | None:
    """Return one run with everything but its single results."""
    run = Run.objects.filter(pk=run_id).first()
    if run is None:
        return None
    shards = list(
        Shard.objects.filter(run=run)
        .order_by("upload_id")
        .defer("file_digests", "damage", "context", "reported")
    )
    return RunDetail(
        row=run_row(run),
        base_sha=run.base_sha,
        base_branch=run.base_branch,
        merge_base=run.merge_base,
        committed_at=run.committed_at,
        reported=ReportedCounts(**run.reported),
        parts=[Part(**part) for part in run.parts],
        attempts=[
            AttemptRow(row["attempt"], row["parts"], Counts(**row["counts"]))
            for row in run.by_attempt
        ],
        completeness=_completeness(run),
        problems=[Problem(**problem) for problem in run.problems],
        notes=[_note(shard, note) for shard in shards for note in shard.notes],
        order=_order(shards),
        exclusion=_exclusion(run),
        uploads=[shard.upload_id for shard in shards],
        previous_run=_previous(run),
        facts_deleted=run.facts_deleted,
    )


def _of_commit(asked: str) -> Q:
    exact = Q(commit=asked) | Q(head_sha=asked)
    if not _HEX_PREFIX.fullmatch(asked) or len(asked) == 64:
        return exact
    return exact | Q(commit__istartswith=asked) | Q(head_sha__istartswith=asked)


def _environments(project_id: int, asked: str) -> list[str]:
    """Return the keys of the environments that fit, compared outside the database."""
    wanted = [part.strip().partition("=") for part in asked.split(",") if part.strip()]
    known = Run.objects.filter(project_id=project_id).order_by()
    return [
        key
        for key, pairs in known.values_list("environment_key", "environment").distinct()
        if all(
            pairs.get(name) == value if equals else name in pairs.values()
            for name, equals, value in wanted
        )
    ]


def _after(runs: QuerySet[Run], cursor: str) -> QuerySet[Run]:
    moment, pk = cursors.read_moment(cursor)
    return runs.filter(Q(started_at__lt=moment) | Q(started_at=moment, pk__lt=pk))


def _completeness(run: Run) -> Completeness:
    told = run.completeness
    return Completeness(
        expected_shards=told.get("expected_shards", 0),
        received=told.get("received", 0),
        missing=told.get("missing", []),
        missing_parts=[MissingPart(**part) for part in told.get("missing_parts", [])],
        duplicated_tests=told.get("duplicated_tests", []),
        duplicated_total=told.get("duplicated_total", 0),
    )


def _note(shard: Shard, note: dict[str, str | int | None]) -> RunNote:
    line = note.get("line")
    return RunNote(
        upload=shard.upload_id,
        code=str(note["code"]),
        message=str(note["message"]),
        line=line if isinstance(line, int) else None,
    )


def _order(shards: Sequence[Shard]) -> OrderCounts:
    return OrderCounts(
        processes=sum(len(shard.processes) for shard in shards if shard.roster_id),
        only_in_report=sum(shard.only_in_report for shard in shards),
        only_in_trace=sum(shard.only_in_trace for shard in shards),
        repeats=sorted({shard.repeats for shard in shards if shard.repeats}),
    )


def _exclusion(run: Run) -> Exclusion | None:
    if run.excluded_at is None:
        return None
    return Exclusion(run.excluded_at, run.excluded_by, run.excluded_reason)


def _previous(run: Run) -> int | None:
    before = Run.objects.filter(
        project_id=run.project_id,
        branch=run.branch,
        environment_key=run.environment_key,
        started_at__lt=run.started_at,
    )
    return before.order_by("-started_at").values_list("pk", flat=True).first()
