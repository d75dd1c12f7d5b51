"""The stage that hands events to the endpoints that want them.

Guarantees: an event's deliveries are written whole or not at all, together with the
end of the work; an endpoint has one delivery of an event at most, however often this
runs; one that was made after the event was handed on does not hear of it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from ingest import leases
from notify import deadlines, describing, folding
from notify.freeing import free_dead
from notify.matching import matches, read_filters
from notify.models import Delivery, DeliveryState, Endpoint, Event, Watch
from notify.outbox import wake
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.db.models import QuerySet

AT_ONCE = 100
LEASE = timedelta(seconds=60)
MAX_ATTEMPTS = 5
PAUSE = timedelta(seconds=10)


class LeaseLost(Exception):
    """Another process has taken over; what this one made must not be stored."""


@dataclass(frozen=True, slots=True)
class Batch:
    lease: str
    events: list[Event]

    def __str__(self) -> str:
        return f"{len(self.events)} events from {self.events[0].pk}"


def claim(now: datetime) -> Batch | Watch | None:
    """Take a run whose deadline has come, else the events that wait."""
    watch = deadlines.claim(now)
    if watch is not None:
        return watch
    due = Event.objects.filter(due_at__lte=now)
    ids = _next(due)
    if not ids:
        return claim(now) if free_dead(now) else None
    lease = leases.new_lease()
    due.filter(pk__in=ids).update(
        lease=lease, due_at=now + LEASE, attempts=F("attempts") + 1
    )
    mine = Event.objects.filter(lease=lease).select_related("project")
    events = list(mine.order_by("pk"))
    return Batch(lease, events) if events else None


def work(item: Batch | Watch) -> None:
    """Complete what events tell, then write their deliveries."""
    if isinstance(item, Watch):
        deadlines.work(item)
        return
    for event in item.events:
        describing.complete(event)
    by_project: dict[int, list[Event]] = defaultdict(list)
    for event in item.events:
        by_project[event.project_id].append(event)
    now = timezone.now()
    with transaction.atomic():
        done = Event.objects.filter(lease=item.lease)
        if done.update(due_at=None, lease="", error="") != len(item.events):
            raise LeaseLost(f"{item} was taken over")
        Event.objects.bulk_update(item.events, ["data", "about", "path", "muted"])
        endpoints = Endpoint.objects.filter(
            project__in=by_project, disabled_at=None
        ).select_related("project")
        for endpoint in endpoints.order_by("pk"):
            _hand_on(endpoint, by_project[endpoint.project_id], now=now)
        wake("deliver")


def give_back(item: Batch | Watch, error: str) -> None:
    """Note our own error: another try later, or none."""
    if isinstance(item, Watch):
        deadlines.give_back(item)
        return
    now = timezone.now()
    held = Event.objects.filter(lease=item.lease)
    said = {"lease": "", "error": storable(error)[:2000]}
    for event in item.events:
        last = event.attempts >= MAX_ATTEMPTS
        pause = PAUSE * (event.attempts - 1)
        held.filter(pk=event.pk).update(due_at=None if last else now + pause, **said)


def waiting(project_id: int | None = None) -> int:
    """Count the events, of one project or of all, that are not handed on yet."""
    found = Event.objects.filter(due_at__isnull=False)
    if project_id is not None:
        found = found.filter(project_id=project_id)
    return found.count()


def _next(due: QuerySet[Event]) -> list[int]:
    """Return what is next; what failed before goes alone, to fail nothing else."""
    found = due.order_by("due_at", "pk").values_list("pk", "attempts")[:AT_ONCE]
    new = [pk for pk, attempts in found if not attempts]
    return new or [pk for pk, _ in found[:1]]


def _hand_on(endpoint: Endpoint, events: Sequence[Event], *, now: datetime) -> None:
    filters = read_filters(endpoint.filters)
    wanted = [
        event
        for event in events
        if matches(filters, events=endpoint.events, type=event.type, about=event.about)
    ]
    known = Delivery.objects.filter(endpoint=endpoint, event__in=wanted)
    before = set(known.values_list("event", flat=True))
    fresh = [event for event in wanted if event.pk not in before]
    by_type: dict[str, list[Event]] = defaultdict(list)
    for event in fresh:
        if not event.muted:
            by_type[event.type].append(event)
    storms = {
        kind: folding.is_storm(endpoint, kind, fresh=len(some), now=now)
        for kind, some in by_type.items()
    }
    due = now
    if filters.quiet is not None:
        due = filters.quiet.until(now, endpoint.project.zone)
    rows = _write(endpoint, fresh, due_at=due, now=now)
    if endpoint.every:
        pause = timedelta(hours=endpoint.every)
        told = [rows[event.pk] for some in by_type.values() for event in some]
        folding.fold(endpoint, told, of="", due_at=max(due, now + pause), now=now)
        return
    for kind in (kind for kind, stormy in storms.items() if stormy):
        told = folding.waiting_of(endpoint, kind)
        due_at = max(due, now + folding.WINDOW)
        folding.fold(endpoint, told, of=kind, due_at=due_at, now=now)


def _write(
    endpoint: Endpoint, events: Sequence[Event], *, due_at: datetime, now: datetime
) -> dict[int, Delivery]:
    """Write the deliveries; what is muted waits for a digest that takes it along."""
    rows = [
        Delivery(
            endpoint=endpoint,
            event=event,
            created_at=now,
            state=DeliveryState.FOLDED if event.muted else DeliveryState.WAITING,
            due_at=None if event.muted else due_at,
        )
        for event in events
    ]
    Delivery.objects.bulk_create(rows, batch_size=500)
    return {row.event_id: row for row in rows}
