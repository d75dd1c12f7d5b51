"""Runs that a person can name, to let something join them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from formats.context import Context, Shard
from results.models import Run

if TYPE_CHECKING:
    from django.db.models import QuerySet

_MAX_DIGITS = 18


@dataclass(frozen=True, slots=True)
class JoinableRun:
    """A run, and the context with which an upload becomes a part of it."""

    id: int
    name: str
    named: bool  # its CI gave it a name; without one no other upload can join it
    context: Context


def find_run(project_id: int, asked: str) -> JoinableRun | None:
    """Return the run of this name or number; of several the newest."""
    wanted = Q(name=asked)
    if asked.isascii() and asked.isdigit() and len(asked) <= _MAX_DIGITS:
        wanted |= Q(pk=int(asked))
    return _newest(Run.objects.filter(wanted, project_id=project_id))


def newest_of_pull_request(project_id: int, pr: int) -> JoinableRun | None:
    """Return the newest run of a pull request that others can join."""
    runs = Run.objects.filter(project_id=project_id, pr=pr, own_upload=0)
    return _newest(runs)


def _newest(runs: QuerySet[Run]) -> JoinableRun | None:
    run = runs.order_by("-started_at", "-pk").first()
    return _joinable(run) if run else None


def _joinable(run: Run) -> JoinableRun:
    received = [part for part in run.parts if part["uploads"]]
    # A run that has several parts is not told of which one this is.
    [part] = received if len(received) == 1 else [None]
    context = Context(
        project=run.project.slug,
        run=run.name,
        environment=run.environment,
        job=part["job"] if part else "",
        shard=Shard(part["index"], part["count"]) if part else Shard(),
        attempt=part["attempt"] if part else 1,
        branch=run.branch,
        commit=run.commit,
        head_sha=run.head_sha,
        base_sha=run.base_sha,
        base_branch=run.base_branch,
        merge_base=run.merge_base,
        pr=run.pr,
    )
    return JoinableRun(run.pk, run.name, not run.own_upload, context)
