"""Runs that are left out of statistics because nearly everything failed in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Max, Q

from results.models import Run

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class BadDays:
    """`bad` of `runs`; `newest` is the newest bad one."""

    bad: int
    runs: int
    newest: int | None

    def __bool__(self) -> bool:
        return self.bad > 0


def bad_days(project_id: int, *, since: datetime) -> BadDays:
    """Count the bad runs since a time; those that a person excluded are not counted."""
    rows = Run.objects.filter(
        project_id=project_id, started_at__gte=since, excluded_at=None
    )
    told = rows.aggregate(
        bad_runs=Count("pk", filter=Q(bad=True)),
        all_runs=Count("pk"),
        newest=Max("pk", filter=Q(bad=True)),
    )
    return BadDays(told["bad_runs"], told["all_runs"], told["newest"])
