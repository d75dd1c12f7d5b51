"""The stage that keeps weeks when they end, and ends mutes that ran out.

Guarantees: a week that ended is kept as it was, once, soon after its end; one whose
worker was lost is claimed anew when its lease ran out; an error is tried again later.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from leaks import decisions as leakers
from leaks.models import Leaker, LeakerState
from projects.models import Project
from results.models import Run
from review import deciding
from review.agenda import current_week
from review.closing import freeze
from review.models import Standing, Week
from review.standings import held_of
from review.weeks import read_week

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from review.weeks import IsoWeek

LEASE = timedelta(minutes=5)
BACKOFF = timedelta(minutes=1)
LONGEST_BACKOFF = timedelta(hours=6)
LOOK_BACK = 4  # weeks that are kept although nobody looked when they ended
_ACTOR = "healthboard"

type Item = Week | Standing


def claim(now: datetime) -> Item | None:
    """Take a mute that ran out, else a week that ended and is not kept, or None."""
    muted = next(_ran_out(now), None)
    if muted is not None:
        return muted
    for project, week in _ended(now):
        row = Week(project=project, name=week.name)
        Week.objects.bulk_create([row], ignore_conflicts=True)
        mine = Week.objects.filter(project=project, name=week.name, frozen_at=None)
        free = mine.filter(Q(lease_until=None) | Q(lease_until__lt=now))
        if free.update(lease_until=now + LEASE):
            return mine.select_related("project").get()
    return None


def work(item: Item) -> None:
    """Keep a week, or open a leaker whose mute ran out."""
    if isinstance(item, Week):
        freeze(item.project, read_week(item.name), now=timezone.now())
    else:
        _unmute(item, now=timezone.now())


def give_back(item: Item, error: str) -> None:
    """Note an unknown error; it is tried again, with growing pauses."""
    if isinstance(item, Week):
        pause = min(BACKOFF * 2 ** min(item.attempts, 10), LONGEST_BACKOFF)
        Week.objects.filter(pk=item.pk, lease_until=item.lease_until).update(
            attempts=F("attempts") + 1,
            error=error[:2_000],
            lease_until=timezone.now() + pause,
        )
        return
    Standing.objects.filter(pk=item.pk).update(
        muted_until=timezone.now() + BACKOFF, muted_failures=None
    )


def waiting(project_id: int | None = None) -> int:
    """Count the weeks that ended and are not kept, and the mutes that ran out."""
    now = timezone.now()
    weeks = sum(1 for _ in _ended(now, project_id))
    return weeks + sum(1 for _ in _ran_out(now, project_id))


def _ended(
    now: datetime, project_id: int | None = None
) -> Iterator[tuple[Project, IsoWeek]]:
    """Yield projects with weeks that ended while they were here, the oldest first."""
    runs = Run.objects.filter(project=OuterRef("pk"))
    projects = Project.objects.filter(Exists(runs)).order_by("pk")
    if project_id is not None:
        projects = projects.filter(pk=project_id)
    since = now - timedelta(days=7 * (LOOK_BACK + 2))
    kept = set(
        Week.objects.filter(
            Q(frozen_at__isnull=False) | Q(lease_until__gte=now),
            project__in=projects,
            name__gte=f"{since.isocalendar().year:04}-W00",
        ).values_list("project_id", "name")
    )
    for project in projects:
        week = current_week(project, now=now)
        ended = []
        for _ in range(LOOK_BACK):
            week = week.before
            ended.append(week)
        for one in reversed(ended):
            here = project.created_at < one.ends(project.zone)
            if here and (project.pk, one.name) not in kept:
                yield project, one


def _ran_out(now: datetime, project_id: int | None = None) -> Iterator[Standing]:
    """Yield the decisions on muted leakers whose mute no longer holds."""
    muted = Leaker.objects.filter(state=LeakerState.MUTED, test=OuterRef("test"))
    rows = Standing.objects.filter(Exists(muted), muted_at__isnull=False)
    if project_id is not None:
        rows = rows.filter(project_id=project_id)
    found = list(rows.select_related("project").order_by("pk")[:1_000])
    held = held_of([row.test_id for row in found], now=now)
    for row in found:
        if not held[row.test_id].muted:
            yield row


def _unmute(row: Standing, *, now: datetime) -> None:
    leaker = Leaker.objects.get(test_id=row.test_id)
    wish = leakers.Wish(state=LeakerState.OPEN, note="its mute ran out")
    over = deciding.Wish(lift=frozenset({"mute"}), reason="it ran out")
    with transaction.atomic():
        deciding.decide(row.project, row.test_id, over, by=_ACTOR, now=now)
        leakers.decide(
            row.project, leaker.pk, wish, seen=LeakerState.MUTED, by=_ACTOR, now=now
        )
