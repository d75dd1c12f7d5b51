"""Sending again what was sent, or given up, before: the same event with the same id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from notify.models import Delivery, DeliveryState
from notify.outbox import wake
from projects import audit

if TYPE_CHECKING:
    from datetime import datetime

    from projects.models import Project

MOST = 10_000  # of one request


def redeliver(delivery: Delivery, *, actor: str) -> bool:
    """Send a delivery again; False where it waits already or its endpoint is off."""
    if delivery.endpoint.disabled_at is not None:
        return False
    with transaction.atomic():
        mine = Delivery.objects.filter(pk=delivery.pk)
        if not mine.exclude(state=DeliveryState.WAITING, tries=0).update(**_anew()):
            return False
        audit.record(
            delivery.endpoint.project,
            actor=actor,
            action="delivery.restarted",
            subject=str(delivery.endpoint),
            detail={"delivery": delivery.pk},
        )
        wake("deliver")
    return True


def redeliver_since(
    project: Project,
    since: datetime,
    *,
    actor: str,
    webhook: int | None = None,
    state: str = "",
) -> int:
    """Send again what was told since a time; return how many deliveries that is."""
    found = Delivery.objects.filter(
        endpoint__project=project,
        endpoint__disabled_at=None,
        created_at__gte=since,
        state__in=[state] if state else [DeliveryState.DELIVERED, DeliveryState.DEAD],
    )
    if webhook is not None:
        found = found.filter(endpoint_id=webhook)
    ids = list(found.order_by("pk").values_list("pk", flat=True)[:MOST])
    with transaction.atomic():
        restarted = sum(
            Delivery.objects.filter(pk__in=ids[n : n + 500]).update(**_anew())
            for n in range(0, len(ids), 500)
        )
        audit.record(
            project,
            actor=actor,
            action="deliveries.restarted",
            subject=f"since {since.isoformat()}",
            detail={"deliveries": restarted, "webhook": webhook},
        )
        wake("deliver")
    return restarted


def _anew() -> dict[str, object]:
    return {
        "state": DeliveryState.WAITING,
        "due_at": timezone.now(),
        "done_at": None,
        "tries": 0,
        "digest": None,
    }
