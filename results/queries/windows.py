"""Where windows of days end.

Guarantees: a window ends with the project's newest run, at the latest today: a project
that rests keeps its last figures, and its tests are not all gone.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Max, Q
from django.utils import timezone

from projects.models import Project
from results.models import Run
from results.summary import day_of

if TYPE_CHECKING:
    from django.db.models import QuerySet

# A stamp that is hours ahead is a zone's doing; one further off is a wrong clock.
_AHEAD = timedelta(days=1)


class End(NamedTuple):
    moment: datetime
    day: date


def end_of(project_id: int, *, now: datetime | None = None) -> End:
    """Return the moment and the day with which the project's windows end."""
    return ends_of([project_id], now=now)[project_id]


def ends_of(project_ids: list[int], *, now: datetime | None = None) -> dict[int, End]:
    """The same for several projects; one query."""
    now = now or timezone.now()
    believable = Q(runs__started_at__lte=now + _AHEAD)
    rows = Project.objects.filter(pk__in=project_ids).annotate(
        newest=Max("runs__started_at", filter=believable)
    )
    ends = {}
    for pk, zone, newest in rows.values_list("pk", "zone", "newest"):
        moment = newest or now
        ends[pk] = End(moment, day_of(moment, zone))
    return ends


def runs_in(
    project_id: int, *, window: int, now: datetime | None = None
) -> QuerySet[Run]:
    """Return the runs of the window's days, without those that somebody excluded."""
    end = end_of(project_id, now=now).moment
    first = (end - timedelta(days=window)).replace(hour=0, minute=0, second=0)
    return Run.objects.filter(
        project_id=project_id,
        # From midnight (UTC): what is read from it changes with the day, not the run.
        started_at__gte=first.replace(microsecond=0),
        started_at__lte=end,
        excluded_at=None,
    )
