"""Recording answers: what became of a delivery, and what follows for its endpoint.

Guarantees: attempts, deliveries and endpoints are written together; an answer that came
after its lease was lost is kept as an attempt and changes nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F

from notify import endpoints
from notify.matching import read_filters
from notify.models import Attempt, Delivery, DeliveryState, Endpoint
from notify.parcels import kept_headers
from notify.retrying import Answer, judge
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from random import Random

    from django.db.models import QuerySet

    from notify.retrying import Consequence
    from notify.wire import Outcome, Request

_TEXT = 64 * 2**10  # characters kept of what was sent


@dataclass(frozen=True, slots=True)
class Sent:
    """A delivery that was carried: each request with its outcome, and the last one."""

    delivery: Delivery
    lease: str
    tried: Sequence[tuple[Request, Outcome]]
    outcome: Outcome


def record(sent: Sequence[Sent], *, now: datetime, rng: Random) -> None:
    """Write down what came back."""
    attempts = [row for one in sent for row in _attempts(one, now)]
    with transaction.atomic():
        Attempt.objects.bulk_create(attempts, batch_size=100)
        for one in sent:
            _settle(one, now=now, rng=rng)


def _settle(sent: Sent, *, now: datetime, rng: Random) -> None:
    endpoint, delivery = sent.delivery.endpoint, sent.delivery
    held = Endpoint.objects.filter(pk=endpoint.pk, lease=sent.lease)
    answer = _answer(sent.outcome)
    freed = {"lease": "", "lease_until": None}
    if answer.accepted:
        if held.update(**freed, failing_since=None, held_until=None):
            _mine(delivery).update(
                state=DeliveryState.DELIVERED,
                due_at=None,
                done_at=now,
                tries=F("tries") + 1,
                status=answer.status,
                error="",
            )
            if endpoint.failing_since is not None:
                _resume(endpoint)
        return
    since = endpoint.failing_since or now
    following = judge(
        answer, tries=delivery.tries + 1, failing_since=since, now=now, rng=rng
    )
    if not held.update(**freed, failing_since=since, held_until=following.held_until):
        return
    _postpone(delivery, answer, following, now=now)
    if following.disable:
        endpoints.disable(endpoint, reason=following.disable, now=now)


def _postpone(
    delivery: Delivery, answer: Answer, following: Consequence, *, now: datetime
) -> None:
    due = following.due_at
    quiet = read_filters(delivery.endpoint.filters).quiet
    if due is not None and quiet is not None:
        due = quiet.until(due, delivery.event.project.zone)
    ended = due is None and not following.disable
    _mine(delivery).update(
        state=DeliveryState.DEAD if ended else DeliveryState.WAITING,
        due_at=now if following.disable else due,
        done_at=now if ended else None,
        tries=F("tries") + 1,
        status=answer.status,
        error=storable(answer.words)[:300],
    )


def _mine(delivery: Delivery) -> QuerySet[Delivery]:
    """The delivery as it was taken: not folded, given up or restarted meanwhile."""
    return Delivery.objects.filter(
        pk=delivery.pk, state=DeliveryState.WAITING, due_at=delivery.due_at
    )


def _resume(endpoint: Endpoint) -> None:
    """It works again: what it missed follows at once, in its order."""
    missed = Delivery.objects.filter(
        endpoint=endpoint, state=DeliveryState.WAITING, tries__gt=0
    )
    missed.update(due_at=F("created_at"))


def _answer(outcome: Outcome) -> Answer:
    return Answer(outcome.status, outcome.error, outcome.headers.get("retry-after", ""))


def _attempts(sent: Sent, now: datetime) -> list[Attempt]:
    if not sent.tried:
        outcome = sent.outcome
        url = sent.delivery.endpoint.url
        made = {"status": outcome.status, "error": storable(outcome.error)[:300]}
        return [Attempt(delivery=sent.delivery, at=now, url=url, **made)]
    return [
        Attempt(
            delivery=sent.delivery,
            at=now,
            url=request.url,
            headers=kept_headers(request.headers),
            body=storable(request.body.decode(errors="replace"))[:_TEXT],
            status=outcome.status,
            answer_headers=dict(list(outcome.headers.items())[:50]),
            answer=storable(outcome.body.decode(errors="replace")),
            answer_cut=outcome.cut,
            address=outcome.address,
            duration_ms=outcome.duration_ms,
            error=storable(_answer(outcome).words if not _ok(outcome) else "")[:300],
        )
        for request, outcome in sent.tried
    ]


def _ok(outcome: Outcome) -> bool:
    return _answer(outcome).accepted
