"""The stage that deletes bodies: those kept long enough, and those of nobody.

Guarantees: a body goes only after its row says so, or when no row ever named it; a
crash in between leaves a file that the next sweep takes.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from ingest import bodies, leases
from ingest.models import Handover, Upload
from projects import options
from projects.models import Project
from results import recounts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

log = logging.getLogger(__name__)

FIRST_SWEEP = timedelta(minutes=10)  # after the start of a process
SWEEP_EVERY = timedelta(hours=6)
ORPHAN_AGE = timedelta(days=1)  # longer than any request takes
BATCH = 500


@dataclass(frozen=True, slots=True)
class Sweep:
    """One look through the inbox."""

    now: datetime

    def __str__(self) -> str:
        return "sweep"


class _Plan:
    """When this process sweeps next; another one sweeping too does no harm."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._next: datetime | None = None

    def due(self, now: datetime) -> bool:
        with self._guard:
            if self._next is None:
                self._next = now + FIRST_SWEEP
            if now < self._next:
                return False
            self._next = now + SWEEP_EVERY
            return True


_plan = _Plan()
# Uploads that a stage above has still to read.
_HANDED_OVER = Handover.objects.filter(due_at__isnull=False).values("upload")


def claim(now: datetime) -> Sweep | None:
    """Return a sweep when it is time for one."""
    return Sweep(now) if _plan.due(now) else None


def work(sweep: Sweep) -> None:
    """Delete what is over its time, and what belongs to nobody."""
    expired = delete_expired(sweep.now)
    orphans = delete_orphans(sweep.now)
    forget_owners()
    log.info("sweep expired=%d orphans=%d", expired, orphans)


def give_back(sweep: Sweep, error: str) -> None:
    """Nothing to note: the next sweep does it again."""
    log.warning("the sweep failed: %s", error)


def waiting(project_id: int | None) -> int:
    """A page is up to date whether bodies were swept or not."""
    return 0


def delete_expired(now: datetime) -> int:
    """Delete the bodies that their projects no longer keep; return how many."""
    deleted = 0
    for project in Project.objects.all():
        kept = timedelta(days=options.read(project).keep_bodies_days)
        expired = Upload.objects.filter(
            project=project,
            received_at__lt=now - kept,
            due_at__isnull=True,
            body_deleted_at__isnull=True,
        ).exclude(pk__in=_HANDED_OVER)
        expired = expired.order_by("received_at", "pk")
        while rows := list(expired.values_list("pk", "body")[:BATCH]):
            ids = [pk for pk, _ in rows]
            Upload.objects.filter(pk__in=ids, due_at__isnull=True).update(
                body_deleted_at=now
            )
            gone = Upload.objects.filter(pk__in=ids, body_deleted_at__isnull=False)
            for body in gone.values_list("body", flat=True):
                bodies.delete(body)
                deleted += 1
    return deleted


def delete_orphans(now: datetime) -> int:
    """Delete old files that no row wants; return how many."""
    deleted = 0
    for names in _batches(_old_files(now)):
        rows = Upload.objects.filter(body__in=names, body_deleted_at__isnull=True)
        wanted = set(rows.values_list("body", flat=True))
        for name in names:
            if name not in wanted:
                bodies.delete(name)
                deleted += 1
    _remove_empty_days(now)
    return deleted


def forget_owners() -> None:
    """Remove the locks of processes that ended with nothing left to take over."""
    held = [
        *Upload.objects.exclude(lease="").values_list("lease", flat=True),
        *Handover.objects.exclude(lease="").values_list("lease", flat=True),
        *recounts.leases(),
    ]
    busy = {leases.owner_of(lease) for lease in held}
    for owner in leases.owners():
        if owner not in busy and leases.is_dead(owner):
            leases.bury(owner)


def _old_files(now: datetime) -> Iterator[str]:
    inbox: Path = settings.INBOX_DIR
    if not inbox.is_dir():
        return
    before = (now - ORPHAN_AGE).timestamp()
    for day in sorted(inbox.iterdir()):
        for file in sorted(day.iterdir()) if day.is_dir() else ():
            with suppress(FileNotFoundError):  # somebody else sweeps too
                if file.stat().st_mtime < before:
                    yield f"{day.name}/{file.name}"


def _remove_empty_days(now: datetime) -> None:
    inbox: Path = settings.INBOX_DIR
    last = f"{now - 2 * ORPHAN_AGE:%Y-%m-%d}"
    for day in inbox.iterdir() if inbox.is_dir() else ():
        if day.name < last:
            with suppress(OSError):  # it is not empty
                day.rmdir()


def _batches(names: Iterator[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for name in names:
        batch.append(name)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
