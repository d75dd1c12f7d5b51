"""Which upload is worked on next, by whom, and what becomes of it.

Guarantees: an upload is claimed by one process at a time, through a conditional UPDATE;
what a process stores without its lease is rolled back; no project waits for another's
flood; five tries, whether they failed or were killed, are the end.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from ingest import leases
from ingest.models import Handover, State, Turn, Upload
from projects.models import Project
from results.storable import storable

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

MAX_ATTEMPTS = 5
FIRST_PAUSE = timedelta(seconds=10)
GROWTH = 4  # 10 s, 40 s, 3 min, 11 min


class LeaseLost(Exception):
    """Another process has taken over; what this one made must not be stored."""


def claim(now: datetime) -> Upload | None:
    """Take the next upload that is due, from the project whose turn it is."""
    while True:
        upload = _next(now)
        if upload is None:
            # A dead owner's work is looked for when there is nothing else to do; in
            # a flood its lease runs out.
            if release_dead(now):
                continue
            return None
        if upload.state == State.PROCESSING and upload.attempts >= MAX_ATTEMPTS:
            _give_up_interrupted(upload, now)
        elif _take(upload, now):
            return upload


def give_back(upload: Upload, error: str) -> None:
    """Note our own error: another try later, or none."""
    last = upload.attempts >= MAX_ATTEMPTS
    pause = FIRST_PAUSE * GROWTH ** (upload.attempts - 1)
    _held(upload).update(
        state=State.DEAD if last else State.FAILED,
        due_at=None if last else timezone.now() + pause,
        lease="",
        failure=storable(error),
    )


def waiting(project_id: int | None) -> int:
    """Count the uploads, of one project or of all, that are not done yet."""
    uploads = Upload.objects.filter(due_at__isnull=False)
    if project_id is not None:
        uploads = uploads.filter(project_id=project_id)
    return uploads.count()


def renew(upload: Upload) -> None:
    """Hold the lease for its full time again; raise when it was taken over."""
    if not _held(upload).update(due_at=timezone.now() + lease_time()):
        raise LeaseLost(f"upload {upload.pk} was taken over")


def finish(
    upload: Upload,
    *,
    state: State,
    errors: list[dict[str, object]],
    warnings: list[dict[str, object]],
) -> None:
    """Note the end of the work, in the transaction that stores its result."""
    done = _held(upload).update(
        state=state,
        due_at=None,
        lease="",
        processed_at=timezone.now(),
        errors=errors,
        warnings=warnings,
        failure="",
    )
    if not done:
        raise LeaseLost(f"upload {upload.pk} was taken over")


def _held(upload: Upload) -> QuerySet[Upload]:
    return Upload.objects.filter(
        pk=upload.pk, state=State.PROCESSING, lease=upload.lease
    )


def lease_time() -> timedelta:
    return timedelta(seconds=settings.HEALTHBOARD_LEASE_SECONDS)


def _next(now: datetime) -> Upload | None:
    due = Upload.objects.filter(due_at__lte=now)
    project = (
        Project.objects.filter(Exists(due.filter(project=OuterRef("pk"))))
        .order_by(F("turn__at").asc(nulls_first=True), "pk")
        .values_list("pk")
        .first()
    )
    if project is None:
        return None
    return (
        due.filter(project_id=project[0])
        .select_related("project")
        .order_by("due_at", "pk")
        .first()
    )


def _as_seen(upload: Upload, now: datetime) -> QuerySet[Upload]:
    return Upload.objects.filter(
        pk=upload.pk, attempts=upload.attempts, lease=upload.lease, due_at__lte=now
    )


def _take(upload: Upload, now: datetime) -> bool:
    lease, until = leases.new_lease(), now + lease_time()
    with transaction.atomic():
        taken = _as_seen(upload, now).update(
            state=State.PROCESSING,
            attempts=F("attempts") + 1,
            lease=lease,
            due_at=until,
        )
        if taken:
            Turn.objects.bulk_create(
                [Turn(project_id=upload.project_id, at=now)],
                update_conflicts=True,
                unique_fields=["project"],
                update_fields=["at"],
            )
    if taken:
        upload.state, upload.lease, upload.due_at = State.PROCESSING, lease, until
        upload.attempts += 1
    return bool(taken)


def _give_up_interrupted(upload: Upload, now: datetime) -> None:
    _as_seen(upload, now).update(
        state=State.DEAD,
        due_at=None,
        lease="",
        failure=f"processing was interrupted {upload.attempts} times: its process was "
        "killed, or ran out of memory or time",
    )


def release_dead(now: datetime) -> int:
    """Make due at once what dead owners had claimed; return how many uploads."""
    uploads = Upload.objects.filter(due_at__gt=now, state=State.PROCESSING)
    handed = Handover.objects.filter(due_at__gt=now).exclude(lease="")
    held = [*uploads.values_list("lease", flat=True)]
    held += handed.values_list("lease", flat=True)
    released = 0
    for owner in {leases.owner_of(lease) for lease in held}:
        if leases.is_dead(owner):
            mine = {"lease__startswith": f"{owner}/"}
            released += uploads.filter(**mine).update(due_at=now)
            handed.filter(**mine).update(due_at=now)
            leases.bury(owner)
    return released
