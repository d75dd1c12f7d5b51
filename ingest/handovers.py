"""Handing an upload over to a stage above, which claims it as uploads are claimed.

Guarantees: an upload is handed over in the transaction that stores what was read of
it; a handover is worked on by one process at a time; what a process stores without its
lease is rolled back; five tries, failed or killed, are the end, and are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import F
from django.utils import timezone

from ingest import leases
from ingest.claims import (
    FIRST_PAUSE,
    GROWTH,
    MAX_ATTEMPTS,
    LeaseLost,
    lease_time,
    release_dead,
)
from ingest.models import Handover
from results.storable import storable

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

    from ingest.models import Upload


def hand_over(upload: Upload, stage: str) -> None:
    """Let a stage work on an upload, again if it did so before.

    Part of the caller's transaction.
    """
    now = timezone.now()
    mine = Handover.objects.filter(upload=upload, stage=stage)
    if not mine.update(due_at=now, lease="", attempts=0, failure=""):
        Handover.objects.create(upload=upload, stage=stage, due_at=now)


def is_handed_over(upload: Upload, stage: str) -> bool:
    """Tell whether the stage has, or had, to work on this upload."""
    return Handover.objects.filter(upload=upload, stage=stage).exists()


def claim(stage: str, now: datetime) -> Handover | None:
    """Take the handover that is due longest."""
    while True:
        found = _next(stage, now)
        if found is None:
            release_dead(now)
            found = _next(stage, now)
            if found is None:
                return None
        if found.lease and found.attempts >= MAX_ATTEMPTS:
            _as_seen(found, now).update(
                due_at=None,
                lease="",
                failure=f"the work was interrupted {found.attempts} times: its process"
                " was killed, or ran out of memory or time",
            )
        elif _take(found, now):
            return found


def renew(handover: Handover) -> None:
    """Hold the lease for its full time again; raise when it was taken over."""
    if not _held(handover).update(due_at=timezone.now() + lease_time()):
        raise LeaseLost(f"{handover} was taken over")


def finish(handover: Handover) -> None:
    """Note the end of the work, in the transaction that stores its result."""
    done = _held(handover).update(
        due_at=None, lease="", failure="", done_at=timezone.now()
    )
    if not done:
        raise LeaseLost(f"{handover} was taken over")


def give_back(handover: Handover, error: str) -> None:
    """Note our own error: another try later, or none."""
    last = handover.attempts >= MAX_ATTEMPTS
    pause = FIRST_PAUSE * GROWTH ** (handover.attempts - 1)
    _held(handover).update(
        due_at=None if last else timezone.now() + pause,
        lease="",
        failure=storable(error),
    )


def retry(upload: Upload) -> int:
    """Begin anew what was given up for an upload; return how much that was."""
    dead = Handover.objects.filter(upload=upload, due_at=None).exclude(failure="")
    return dead.update(due_at=timezone.now(), lease="", attempts=0, failure="")


def dead(upload: Upload) -> list[Handover]:
    """Return what was given up for an upload."""
    given_up = Handover.objects.filter(upload=upload, due_at=None).exclude(failure="")
    return list(given_up.order_by("stage"))


def waiting(stage: str, project_id: int | None) -> int:
    """Count what a stage has still to do, for one project or for all."""
    due = Handover.objects.filter(stage=stage, due_at__isnull=False)
    if project_id is not None:
        due = due.filter(upload__project_id=project_id)
    return due.count()


def _next(stage: str, now: datetime) -> Handover | None:
    due = Handover.objects.filter(stage=stage, due_at__lte=now)
    return due.select_related("upload__project").order_by("due_at", "pk").first()


def _as_seen(handover: Handover, now: datetime) -> QuerySet[Handover]:
    return Handover.objects.filter(
        pk=handover.pk,
        attempts=handover.attempts,
        lease=handover.lease,
        due_at__lte=now,
    )


def _held(handover: Handover) -> QuerySet[Handover]:
    return Handover.objects.filter(pk=handover.pk, lease=handover.lease).exclude(
        lease=""
    )


def _take(handover: Handover, now: datetime) -> bool:
    lease, until = leases.new_lease(), now + lease_time()
    taken = _as_seen(handover, now).update(
        attempts=F("attempts") + 1, lease=lease, due_at=until
    )
    if taken:
        handover.attempts += 1
        handover.lease, handover.due_at = lease, until
    return bool(taken)
