"""The mark that a project's facts changed: what stages above recount whole from them.

Guarantees: the mark is set in the transaction that changes the facts, and stays until
a recount that began after the last change has stored its result; a lost worker's lease
runs out. A recount that cost much is not repeated at once, so a flood costs little.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from results import statements
from results.models import Recount

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

# A recount done twice does no harm: only the one that holds the lease is stored.
LEASE = timedelta(minutes=5)
CHEAP = 0.2  # seconds of CPU time that need no pause
PAUSE = 5  # times the cost of the last recount
BACKOFF = timedelta(seconds=10)
LONGEST_BACKOFF = timedelta(hours=1)


def mark(project_id: int) -> None:
    """Mark a project to be recounted; part of the transaction that changes its facts."""
    statements.upsert(
        Recount(project_id=project_id, marks=1),
        key=("project",),
        rise="marks",
        put=("dirty",),
        returning=("id",),
    )


def claim(now: datetime, *, lease: str) -> Recount | None:
    """Take the project that is due and was recounted longest ago, or None.

    `lease` is one that no other claim ever had.
    """
    longest_ago = F("done_at").asc(nulls_first=True)
    due = _due(now).order_by(longest_ago, "pk").values_list("pk", flat=True)
    for pk in due[:20]:
        if _due(now).filter(pk=pk).update(lease=lease, lease_until=now + LEASE):
            return Recount.objects.select_related("project").get(pk=pk)
    return None


def take(project_id: int, now: datetime, *, lease: str) -> Recount | None:
    """Take this project, due or not; None while another process has it."""
    mark(project_id)
    mine = Recount.objects.filter(
        Q(lease_until=None) | Q(lease_until__lt=now), project_id=project_id
    )
    if not mine.update(lease=lease, lease_until=now + LEASE):
        return None
    return Recount.objects.select_related("project").get(project_id=project_id)


def finish(recount: Recount, *, cost: float) -> bool:
    """Note the end, in the transaction that stores the result; False: taken over.

    `cost` is in seconds of CPU time.
    """
    now = timezone.now()
    mine = Recount.objects.filter(pk=recount.pk, lease=recount.lease)
    done = mine.update(
        # Marked again since it was claimed: the mark must stay.
        dirty=Case(
            When(marks=recount.marks, then=Value(value=False)),
            default=Value(value=True),
        ),
        not_before=now + timedelta(seconds=PAUSE * cost) if cost > CHEAP else None,
        lease="",
        lease_until=None,
        attempts=0,
        error="",
        done_at=now,
    )
    return bool(done)


def give_back(recount: Recount, error: str) -> None:
    """Note an unknown error; a recount is tried for ever, with growing pauses."""
    pause = min(BACKOFF * 2 ** min(recount.attempts, 10), LONGEST_BACKOFF)
    Recount.objects.filter(pk=recount.pk, lease=recount.lease).update(
        attempts=F("attempts") + 1,
        error=error[:2_000],
        not_before=timezone.now() + pause,
        lease="",
        lease_until=None,
    )


def leases() -> list[str]:
    """Return what claims of them all are under way."""
    return list(Recount.objects.exclude(lease="").values_list("lease", flat=True))


def release(owner: str) -> int:
    """Make due at once what a dead owner had claimed."""
    mine = Recount.objects.filter(lease__startswith=f"{owner}/")
    return mine.update(lease="", lease_until=None)


def waiting(project_id: int | None = None) -> int:
    """Count the projects that are not up to date."""
    dirty = Recount.objects.filter(dirty=True)
    if project_id is not None:
        dirty = dirty.filter(project_id=project_id)
    return dirty.count()


def _due(now: datetime) -> QuerySet[Recount]:
    return Recount.objects.filter(
        Q(not_before=None) | Q(not_before__lte=now),
        Q(lease_until=None) | Q(lease_until__lt=now),
        dirty=True,
    )
