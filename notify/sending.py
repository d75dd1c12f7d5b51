"""The stage that delivers: many endpoints at once, one request at a time for each.

Guarantees: an endpoint is sent to by one process at a time, in the order of its events
as far as failures let it; a slow or dead endpoint holds a thread of its own and delays
no other; what a killed process had begun is sent again, with the same id.

Threads only talk to the network. Rows are read and written by the thread that runs the
stage, before a request and after its answer.
"""

from __future__ import annotations

import os
import queue
import random
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from ingest import leases
from notify import endpoints, mail, recording
from notify.freeing import free_dead
from notify.models import Delivery, Endpoint
from notify.parcels import pack
from notify.telling import messages_of
from notify.wire import Gate, Outcome, send
from projects.models import Secret

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from notify.parcels import Parcel
    from notify.recording import Sent
    from notify.wire import Request

THREADS = 100
AT_ONCE = 50  # endpoints of one claim
LEASE = timedelta(seconds=120)  # several times the deadline of a request
WAIT_S = 0.25
_UNSIGNED = (401, 403)


@dataclass(frozen=True, slots=True)
class Errands:
    """Endpoints that this process has claimed, with what is due for each."""

    lease: str
    deliveries: list[Delivery]

    def __str__(self) -> str:
        return f"{len(self.deliveries)} endpoints"


@dataclass(frozen=True, slots=True)
class Answers:
    sent: list[Sent]

    def __str__(self) -> str:
        return f"{len(self.sent)} answers"


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing to do but wait for an answer, for a moment."""


@dataclass(slots=True)
class Courier:
    """The requests that this process has under way."""

    pid: int = 0
    pool: ThreadPoolExecutor | None = None
    under_way: int = 0
    done: queue.SimpleQueue[Sent] = field(default_factory=queue.SimpleQueue)
    rng: random.Random = field(default_factory=random.Random)

    def submit(self, delivery: Delivery, lease: str, parcel: Parcel) -> None:
        if self.pool is None or self.pid != os.getpid():
            self.pid, self.under_way = os.getpid(), 0
            self.done = queue.SimpleQueue()
            self.pool = ThreadPoolExecutor(THREADS, thread_name_prefix="deliver")
        done = self.done
        self.under_way += 1
        future = self.pool.submit(_carry, parcel, gate())

        def finish(one: Future[list[tuple[Request, Outcome]]]) -> None:
            done.put(recording.Sent(delivery, lease, *_result(one, parcel)))

        future.add_done_callback(finish)

    def room(self) -> int:
        return THREADS - self.under_way if self.pid == os.getpid() else THREADS

    def busy(self) -> bool:
        return self.pid == os.getpid() and self.under_way > 0

    def answers(self, *, wait: float = 0.0) -> list[Sent]:
        """Take the answers that are there; wait for the first one if need be."""
        found: list[Sent] = []
        while self.busy():
            try:
                found.append(
                    self.done.get(timeout=wait) if wait else self.done.get_nowait()
                )
            except queue.Empty:
                break
            wait = 0.0
            self.under_way -= 1
        return found


_courier = Courier()


def gate() -> Gate:
    """Return what may be connected to, as the operator has it."""
    return Gate(allowed=settings.HEALTHBOARD_WEBHOOK_ALLOW)


def claim(now: datetime) -> Answers | Errands | Waiting | None:
    """Take the answers that came, else endpoints with something due."""
    if answers := _courier.answers():
        return Answers(answers)
    if errands := _claim(now):
        return errands
    if _courier.busy():
        return Waiting()
    return _claim(now) if free_dead(now) else None


def work(item: Answers | Errands | Waiting) -> None:
    if isinstance(item, Errands):
        _send(item)
        return
    if isinstance(item, Waiting):
        answers = _courier.answers(wait=WAIT_S)
    else:
        answers = item.sent
    if answers:
        recording.record(answers, now=timezone.now(), rng=_courier.rng)


def give_back(item: Answers | Errands | Waiting, error: str) -> None:
    """Note our own error: the deliveries are tried again, as after a failure."""
    if isinstance(item, Errands):
        failed = Outcome(error=f"our own error: {error}"[:300])
        sent = [recording.Sent(one, item.lease, [], failed) for one in item.deliveries]
        recording.record(sent, now=timezone.now(), rng=_courier.rng)


def waiting(project_id: int | None = None) -> int:
    """Count what is due now and was never tried, of one project or of all."""
    now = timezone.now()
    found = Delivery.objects.filter(
        Q(endpoint__held_until=None) | Q(endpoint__held_until__lte=now),
        due_at__lte=now,
        tries=0,
        endpoint__disabled_at=None,
    )
    if project_id is not None:
        found = found.filter(endpoint__project_id=project_id)
    return found.count()


def _claim(now: datetime) -> Errands | None:
    room = min(_courier.room(), AT_ONCE)
    due = Delivery.objects.filter(endpoint=OuterRef("pk"), due_at__lte=now)
    free = Endpoint.objects.filter(
        Q(lease_until=None) | Q(lease_until__lte=now),
        Q(held_until=None) | Q(held_until__lte=now),
        disabled_at=None,
    )
    wanted = free.filter(Exists(due)).order_by(
        F("taken_at").asc(nulls_first=True), "pk"
    )
    ids = list(wanted.values_list("pk", flat=True)[:room]) if room > 0 else []
    if not ids:
        return None
    lease = leases.new_lease()
    free.filter(pk__in=ids).update(lease=lease, lease_until=now + LEASE, taken_at=now)
    firsts = [
        one
        for one in (
            Delivery.objects.filter(endpoint=pk, due_at__lte=now, endpoint__lease=lease)
            .select_related("endpoint__user", "event__project")
            .order_by("due_at", "pk")
            .first()
            for pk in ids
        )
        if one is not None
    ]
    idle = Endpoint.objects.filter(lease=lease)
    idle.exclude(pk__in=[one.endpoint_id for one in firsts]).update(
        lease="", lease_until=None
    )
    return Errands(lease, firsts) if firsts else None


def _send(errands: Errands) -> None:
    now = timezone.now()
    messages = messages_of(errands.deliveries)
    secrets = _secrets(errands.deliveries, now)
    parcels = [
        pack(
            messages[one.pk],
            url=one.endpoint.url,
            format=one.endpoint.format,
            secrets=secrets.get(endpoints.secret_name(one.endpoint_id), ()),
            unsubscribe=endpoints.unsubscribe_url(one.endpoint),
            now=now,
        )
        for one in errands.deliveries
    ]
    for delivery, parcel in zip(errands.deliveries, parcels, strict=True):
        _courier.submit(delivery, errands.lease, parcel)


def _secrets(deliveries: Sequence[Delivery], now: datetime) -> dict[str, list[str]]:
    names = [endpoints.secret_name(one.endpoint_id) for one in deliveries]
    valid = Secret.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now), route__in=names
    )
    found: dict[str, list[str]] = {}
    for name, value in valid.order_by("-pk").values_list("route", "value"):
        found.setdefault(name, []).append(value)
    return found


def _carry(parcel: Parcel, through: Gate) -> list[tuple[Request, Outcome]]:
    """Talk to the network: each request in turn until one's signature is taken."""
    tried = []
    for request in parcel.requests:
        outcome = send(request, through)
        tried.append((request, outcome))
        if outcome.status not in _UNSIGNED:
            break
    if parcel.letter is not None:
        mail.send(parcel.letter)
    return tried


def _result(
    future: Future[list[tuple[Request, Outcome]]], parcel: Parcel
) -> tuple[list[tuple[Request, Outcome]], Outcome]:
    """Return what was tried and what came of it."""
    error = future.exception()
    if error is not None:
        words = f"{error}" if isinstance(error, mail.NotSent) else f"{error!r}"
        return [], Outcome(error=words[:300])
    tried = future.result()
    if parcel.letter is not None:
        return [], Outcome(status=250)
    return tried, tried[-1][1]
