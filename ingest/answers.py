"""What a route answered lately, for its page: uploads, and answers that left none.

Guarantees: a route keeps at most `KEPT` answers to whoever had its secret, and at most
`KEPT_STRANGE` to others, who can neither push the former out nor write more than a
few rows a minute; an answer that cannot be kept changes nothing for its sender.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.db import transaction

from ingest.models import Answer, Upload
from ingest.settling import LOST
from results.storable import storable

if TYPE_CHECKING:
    from datetime import datetime

    from ingest.models import Route

log = logging.getLogger(__name__)

KEPT, KEPT_STRANGE = 50, 20
SHOWN = 50
BURST, PAUSE_S = 20, 5.0  # strangers' answers: so many at once, then one a pause


@dataclass(frozen=True, slots=True)
class Delivery:
    """One line of a route's page."""

    at: datetime
    status: int
    delivery_id: str
    detail: str
    upload_id: int | None


class Strangers:
    """How many answers to strangers this process may still keep, a route."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._levels: dict[int, tuple[float, float]] = {}

    def may(self, route_id: int, *, now: float) -> bool:
        with self._guard:
            level, at = self._levels.get(route_id, (float(BURST), now))
            level = min(float(BURST), level + max(0.0, now - at) / PAUSE_S)
            fits = level >= 1
            self._levels[route_id] = (level - 1 if fits else level, now)
            return fits

    def clear(self) -> None:
        with self._guard:
            self._levels.clear()


_strangers = Strangers()


def forget() -> None:
    """Let this process keep answers to strangers as if it had just started."""
    _strangers.clear()


def note(
    route: Route,
    *,
    status: int,
    delivery_id: str,
    detail: str,
    now: datetime,
    upload_id: int | None = None,
) -> None:
    """Keep an answer that left no upload."""
    strange = status == HTTPStatus.UNAUTHORIZED
    if strange and not _strangers.may(route.pk, now=time.monotonic()):
        return
    answer = Answer(
        route=route,
        at=now,
        status=status,
        delivery_id=storable(delivery_id)[:200],
        detail=storable(detail)[:300],
        upload_id=upload_id,
    )
    try:
        with transaction.atomic():
            answer.save(force_insert=True)
            _trim(route, strange=strange)
    except LOST as error:
        log.warning("an answer of route %s is not kept: %s", route.pk, error)


def _trim(route: Route, *, strange: bool) -> None:
    answers = Answer.objects.filter(route=route)
    unsigned = {"status": HTTPStatus.UNAUTHORIZED}
    mine = answers.filter(**unsigned) if strange else answers.exclude(**unsigned)
    newest = mine.order_by("-pk").values_list("pk", flat=True)
    oldest = newest[KEPT_STRANGE if strange else KEPT :].first()
    if oldest is not None:
        mine.filter(pk__lte=oldest).delete()


def last_deliveries(route: Route) -> list[Delivery]:
    """Return what came lately and how it was answered, the newest first."""
    uploads = Upload.objects.filter(route=route).order_by("-received_at", "-pk")
    stored = uploads.values_list("received_at", "delivery_id", "pk")[:SHOWN]
    others = Answer.objects.filter(route=route).order_by("-at", "-pk")[:SHOWN]
    accepted = int(HTTPStatus.ACCEPTED)
    found = [Delivery(at, accepted, named, "stored", pk) for at, named, pk in stored]
    found += [
        Delivery(each.at, each.status, each.delivery_id, each.detail, each.upload_id)
        for each in others
    ]
    return sorted(found, key=lambda each: each.at, reverse=True)[:SHOWN]
