"""Folding: many events of an endpoint into one digest.

Guarantees: an event that is folded is told by exactly one digest, whole and with its
id; a digest holds a bounded number of events. Runs inside the caller's transaction.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, Max, Min

from notify.models import Delivery, DeliveryState, Event, EventType
from notify.outbox import new_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from notify.models import Endpoint

STORM = 20  # events of a type …
WINDOW = timedelta(minutes=10)  # … in this time are not a storm yet
MOST = 200  # events of one digest


def is_storm(endpoint: Endpoint, kind: str, *, fresh: int, now: datetime) -> bool:
    """Tell whether so many fresh deliveries of a type make a storm."""
    if not endpoint.folds or kind in (EventType.DIGEST, EventType.TEST):
        return False
    since = now - WINDOW
    recent = Delivery.objects.filter(
        endpoint=endpoint, event__type=kind, created_at__gt=since
    )
    return recent.count() + fresh > STORM


def fold(
    endpoint: Endpoint,
    deliveries: Sequence[Delivery],
    *,
    of: str,
    due_at: datetime,
    now: datetime,
) -> None:
    """Put stored deliveries into the endpoint's open digests, made if need be."""
    left = [one.pk for one in deliveries]
    while left:
        digest, room = _open(endpoint, of=of, due_at=due_at, now=now)
        some, left = left[:room], left[room:]
        Delivery.objects.filter(pk__in=some).update(
            state=DeliveryState.FOLDED, digest=digest, due_at=None
        )
        _adopt_muted(endpoint, digest)
        _describe(digest)


def waiting_of(endpoint: Endpoint, kind: str) -> list[Delivery]:
    """Return what of a type waits for its first try."""
    mine = Delivery.objects.filter(
        endpoint=endpoint,
        event__type=kind,
        state=DeliveryState.WAITING,
        tries=0,
        due_at__isnull=False,
    )
    return list(mine.order_by("pk"))


def _open(
    endpoint: Endpoint, *, of: str, due_at: datetime, now: datetime
) -> tuple[Delivery, int]:
    """Return a digest that is not due yet, and how many more it takes."""
    subject = f"digest/{endpoint.pk}/{of}"
    found = (
        Delivery.objects.filter(
            endpoint=endpoint,
            event__type=EventType.DIGEST,
            event__subject=subject,
            state=DeliveryState.WAITING,
            tries=0,
            due_at__gt=now,
        )
        .annotate(held=Count("folded"))
        .order_by("-pk")
        .first()
    )
    if found is not None and found.held < MOST:
        return found, MOST - found.held
    public_id = new_id()
    event = Event.objects.create(
        project_id=endpoint.project_id,
        type=EventType.DIGEST,
        key=public_id,
        public_id=public_id,
        subject=subject,
        occurred_at=now,
        created_at=now,
        path="deliveries",
        data={"of": of or None},
    )
    made = Delivery.objects.create(
        endpoint=endpoint, event=event, created_at=now, due_at=due_at
    )
    return made, MOST


def _adopt_muted(endpoint: Endpoint, digest: Delivery) -> None:
    """Let the digest tell of what was muted since the last one."""
    muted = Delivery.objects.filter(
        endpoint=endpoint, state=DeliveryState.FOLDED, digest=None
    )
    some = muted.order_by("pk").values_list("pk", flat=True)[:MOST]
    Delivery.objects.filter(pk__in=list(some)).update(digest=digest)


def _describe(digest: Delivery) -> None:
    folded = Delivery.objects.filter(digest=digest)
    told = folded.aggregate(
        count=Count("pk"),
        since=Min("event__occurred_at"),
        until=Max("event__occurred_at"),
    )
    event = digest.event
    event.data = {
        "of": event.data.get("of"),
        "count": told["count"],
        "since": told["since"].isoformat() if told["since"] else None,
        "until": told["until"].isoformat() if told["until"] else None,
    }
    Event.objects.filter(pk=event.pk).update(data=event.data)
