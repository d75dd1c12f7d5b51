"""The stage that gives runs their day and class anew after a project's settings changed.

A run's day is in the project's zone, its class says whether it ran on the default
branch. Guarantees: whoever changed the settings and however, no run keeps what the old
ones said; the days of both are marked in the transaction that moves a run; it can be
stopped at any time and done twice. Runs whose results retention has deleted stay where
they are, as their days can no longer be rebuilt.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from results import days, statements
from results.models import Classification, Run
from results.summary import branch_class, day_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from django.db.models import QuerySet

    from projects.models import Project
    from results.summary import Rules

_AT_ONCE = 500
# Done twice it does no harm, so neither is long.
LEASE = timedelta(minutes=2)
PAUSE = timedelta(minutes=1)
_FIELDS = ("started_at", "branch", "pr", "day", "branch_class")

type Place = tuple[date, str]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A project with the settings as they were when it was claimed."""

    project: Project
    lease: datetime


def remember(project_id: int, rules: Rules) -> None:
    """Note by which settings the first run of a project is classified."""
    row = Classification(project_id=project_id, **rules._asdict())
    statements.insert(row, key=("project",), returning="project")


def claim(now: datetime) -> Claimed | None:
    """Take a project whose runs are classified by other settings than its own."""
    due = _behind().filter(Q(due_at=None) | Q(due_at__lte=now))
    for row in due.select_related("project").order_by("pk")[:20]:
        mine = due.filter(pk=row.pk)
        if mine.update(due_at=now + LEASE):
            return Claimed(row.project, now + LEASE)
    return None


def work(claimed: Claimed) -> None:
    """Look at all runs of a project, some at a time, and move those that must."""
    project, after = claimed.project, 0
    kept = Run.objects.filter(project=project, facts_deleted=False)
    while True:
        some = list(kept.filter(pk__gt=after).order_by("pk").only(*_FIELDS)[:_AT_ONCE])
        if not some:
            break
        after = some[-1].pk
        wrong = [run.pk for run in some if _place(run, project) != _now(run)]
        if wrong:
            _move(project, wrong)
    Classification.objects.filter(project=project, due_at=claimed.lease).update(
        zone=project.zone,
        default_branch=project.default_branch,
        due_at=None,
        error="",
    )


def give_back(claimed: Claimed, error: str) -> None:
    """Note an unknown error; it is tried again."""
    Classification.objects.filter(project=claimed.project, due_at=claimed.lease).update(
        due_at=timezone.now() + PAUSE, error=error[:2_000]
    )


def waiting(project_id: int | None = None) -> int:
    """Count the projects whose runs are classified by old settings."""
    behind = _behind()
    if project_id is not None:
        behind = behind.filter(project_id=project_id)
    return behind.count()


def _behind() -> QuerySet[Classification]:
    same = Q(zone=F("project__zone"), default_branch=F("project__default_branch"))
    return Classification.objects.exclude(same)


def _move(project: Project, ids: Iterable[int]) -> None:
    """Hold these runs as recording does, look again, and move them."""
    with transaction.atomic():
        held = Run.objects.filter(pk__in=list(ids))
        held.update(version=F("version") + 1)
        places: dict[Place, list[int]] = defaultdict(list)
        marked: set[Place] = set()
        for run in held.only(*_FIELDS):
            place = _place(run, project)
            places[place].append(run.pk)
            marked |= {place, _now(run)}
        for (day, name), runs in places.items():
            Run.objects.filter(pk__in=runs).update(day=day, branch_class=name)
        days.mark(project.pk, marked)


def _place(run: Run, project: Project) -> Place:
    return (
        day_of(run.started_at, project.zone),
        branch_class(run.branch, run.pr, project),
    )


def _now(run: Run) -> Place:
    return run.day, run.branch_class
