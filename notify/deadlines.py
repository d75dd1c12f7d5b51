"""Runs that never became whole: each is told of once its deadline has come."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from ingest import leases
from notify import runs
from notify.models import Watch
from results.models import Run

if TYPE_CHECKING:
    from datetime import datetime

LEASE = timedelta(seconds=60)
PAUSE = timedelta(minutes=1)


def claim(now: datetime) -> Watch | None:
    due = Watch.objects.filter(due_at__lte=now)
    for watch in due.order_by("due_at")[:5]:
        lease = leases.new_lease()
        mine = due.filter(pk=watch.pk, lease=watch.lease)
        if mine.update(lease=lease, due_at=now + LEASE):
            watch.lease = lease
            return watch
    return None


def work(watch: Watch) -> None:
    with transaction.atomic():
        if not Watch.objects.filter(pk=watch.pk, lease=watch.lease).delete()[0]:
            return  # another upload came, and moved the deadline
        run = Run.objects.select_related("project").filter(pk=watch.run_id).first()
        if run is None or run.excluded_at is not None:
            return
        if run.branch_class == "default":
            runs.expire(run)


def give_back(watch: Watch) -> None:
    Watch.objects.filter(pk=watch.pk, lease=watch.lease).update(
        lease="", due_at=timezone.now() + PAUSE
    )
