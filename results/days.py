"""The stage that rebuilds a day's totals, whole, from the runs of that day.

Guarantees: a day that changed is marked in the transaction that changed it, and stays
marked until a rebuild that began after the last change has stored its result; a lost
worker's lease runs out. A rebuild that cost much is not repeated at once.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from results import day_columns, statements
from results.day_totals import rebuild
from results.models import Day
from results.sightings import move_last_seen

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date, datetime

    from django.db.models import QuerySet

# A rebuild done twice does no harm, so the lease is short.
LEASE = timedelta(seconds=30)
CHEAP = 0.2  # seconds of CPU time that need no pause
PAUSE = 5  # times the cost of the last rebuild
BACKOFF = timedelta(seconds=10)
LONGEST_BACKOFF = timedelta(hours=1)


def mark(project_id: int, days: Iterable[tuple[date, str]]) -> None:
    """Mark days to be rebuilt; part of the transaction that changes their runs."""
    for day, branch_class in sorted(days):
        statements.upsert(
            Day(project_id=project_id, date=day, branch_class=branch_class),
            key=("project", "date", "branch_class"),
            rise="marks",
            put=("dirty",),
            returning=("id",),
        )


def claim(now: datetime) -> Day | None:
    """Take the newest day that is due, or None."""
    for pk in _due(now).order_by("-date", "pk").values_list("pk", flat=True)[:20]:
        if _due(now).filter(pk=pk).update(lease_until=now + LEASE):
            return Day.objects.select_related("project").defer("data").get(pk=pk)
    return None


def work(day: Day) -> None:
    """Rebuild a claimed day and store it, unless another has taken it over."""
    started = time.thread_time()
    rebuilt = rebuild(day)
    told = {}
    if rebuilt is not None:
        data = day_columns.encode(rebuilt.columns)
        told = {"data": data, "totals": rebuilt.totals, "rebuilt_at": timezone.now()}
    cost = time.thread_time() - started
    pause = timedelta(seconds=PAUSE * cost)
    with transaction.atomic():
        Day.objects.filter(pk=day.pk, lease_until=day.lease_until).update(
            **told,
            # Marked again since it was claimed: the mark must stay.
            dirty=Case(
                When(marks=day.marks, then=Value(value=False)),
                default=Value(value=True),
            ),
            not_before=timezone.now() + pause if cost > CHEAP else None,
            lease_until=None,
            attempts=0,
            error="",
        )
        if rebuilt is not None:
            move_last_seen(day, rebuilt)


def give_back(day: Day, error: str) -> None:
    """Note an unknown error; a rebuild is tried for ever, with growing pauses."""
    pause = min(BACKOFF * 2 ** min(day.attempts, 10), LONGEST_BACKOFF)
    Day.objects.filter(pk=day.pk, lease_until=day.lease_until).update(
        attempts=F("attempts") + 1,
        error=error[:2_000],
        not_before=timezone.now() + pause,
        lease_until=None,
    )


def waiting(project_id: int | None = None) -> int:
    """Count the days that are not up to date."""
    dirty = Day.objects.filter(dirty=True)
    if project_id is not None:
        dirty = dirty.filter(project_id=project_id)
    return dirty.count()


def _due(now: datetime) -> QuerySet[Day]:
    return Day.objects.filter(
        Q(not_before=None) | Q(not_before__lte=now),
        Q(lease_until=None) | Q(lease_until__lt=now),
        dirty=True,
    )
