"""The stage that deletes old facts: blocks, failures and texts nobody points at.

Guarantees: runs, test cases and days stay; a day whose runs lost their blocks is never
rebuilt from what is left. Work is done in small transactions, so that no upload waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from projects import options
from projects.models import Project
from results.models import Block, Detail, Failure, Roster, Run, Shard

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

_RUNS_AT_ONCE = 20
_ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs of one project that are past their time."""

    project_id: int
    run_ids: tuple[int, ...]


def claim(now: datetime) -> Batch | None:
    """Return some runs to delete the facts of. Two workers that take the same do no
    harm: deleting twice is deleting once."""
    for project in Project.objects.order_by("pk"):
        ids = tuple(_old(project, now).values_list("pk", flat=True)[:_RUNS_AT_ONCE])
        if ids:
            return Batch(project.pk, ids)
    return None


def work(batch: Batch) -> None:
    """Delete the facts of some runs, then the texts and rosters left alone."""
    with transaction.atomic():
        details = set(
            Failure.objects.filter(run_id__in=batch.run_ids).values_list(
                "detail_id", flat=True
            )
        )
        Failure.objects.filter(run_id__in=batch.run_ids).delete()
        shards = Shard.objects.filter(run_id__in=batch.run_ids)
        rosters = set(shards.exclude(roster=None).values_list("roster_id", flat=True))
        Block.objects.filter(shard__in=shards).delete()
        shards.update(roster=None)
        Run.objects.filter(pk__in=batch.run_ids).update(facts_deleted=True)
    _delete_alone(details, rosters)


def give_back(batch: Batch, error: str) -> None:
    """Nothing is held: the same runs are found again."""


def waiting(project_id: int | None = None) -> int:
    """Count the runs past their time."""
    projects = Project.objects.all()
    if project_id is not None:
        projects = projects.filter(pk=project_id)
    now = timezone.now()
    return sum(_old(project, now).count() for project in projects)


def _old(project: Project, now: datetime) -> QuerySet[Run]:
    before = now - timedelta(days=options.read(project).keep_facts_days)
    # By the day it came in: an old report that was sent today is kept its time too.
    return Run.objects.filter(
        project=project, facts_deleted=False, updated_at__lt=before
    ).order_by("pk")


def _delete_alone(details: set[int], rosters: set[int]) -> None:
    ids = sorted(details)
    for start in range(0, len(ids), _ROWS_AT_ONCE):
        some = Detail.objects.filter(pk__in=ids[start : start + _ROWS_AT_ONCE])
        some.filter(~Exists(Failure.objects.filter(detail=OuterRef("pk")))).delete()
    alone = ~Exists(Shard.objects.filter(roster=OuterRef("pk")))
    Roster.objects.filter(alone, pk__in=rosters).delete()
