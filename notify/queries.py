"""Reads of endpoints, deliveries and attempts, for the API and the pages alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Max, Prefetch, Q

from notify.endpoints import secret_name
from notify.models import Attempt, Delivery, DeliveryState, Endpoint
from projects import signing
from results.queries import cursors
from results.queries.shapes import Page

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

    from projects.models import Secret

MOST_ATTEMPTS = 100  # shown of one delivery


@dataclass(frozen=True, slots=True)
class DeliveryFilters:
    webhook: int | None = None
    state: str = ""
    event: str = ""  # a type, or an event's id
    since: datetime | None = None
    until: datetime | None = None


def endpoints_of(project_id: int) -> QuerySet[Endpoint]:
    """Return a project's endpoints, the newest first, with what waits and is dead."""
    mine = Endpoint.objects.filter(project_id=project_id).select_related("user")
    return mine.annotate(
        waiting=Count("deliveries", filter=Q(deliveries__state=DeliveryState.WAITING)),
        dead=Count("deliveries", filter=Q(deliveries__state=DeliveryState.DEAD)),
        last_at=Max(
            "deliveries__done_at", filter=Q(deliveries__state=DeliveryState.DELIVERED)
        ),
    ).order_by("-pk")


def list_endpoints(
    project_id: int, *, cursor: str | None, limit: int
) -> Page[Endpoint]:
    """List endpoints, the newest first."""
    found = Endpoint.objects.filter(project_id=project_id).order_by("-pk")
    if cursor is not None:
        (pk,) = cursors.read(cursor, int)
        found = found.filter(pk__lt=pk)
    rows = list(found[: limit + 1])
    shown = rows[:limit]
    return Page(shown, cursors.write(shown[-1].pk) if len(rows) > limit else None)


def get_endpoint(project_id: int, pk: int) -> Endpoint | None:
    mine = Endpoint.objects.select_related("project", "user")
    return mine.filter(project_id=project_id, pk=pk).first()


def deliveries_of(project_id: int, filters: DeliveryFilters) -> QuerySet[Delivery]:
    """Return the deliveries that match, the newest first."""
    found = Delivery.objects.filter(endpoint__project_id=project_id)
    if filters.webhook is not None:
        found = found.filter(endpoint_id=filters.webhook)
    if filters.state:
        found = found.filter(state=filters.state)
    if filters.event:
        found = found.filter(
            Q(event__type=filters.event) | Q(event__public_id=filters.event)
        )
    if filters.since is not None:
        found = found.filter(created_at__gte=filters.since)
    if filters.until is not None:
        found = found.filter(created_at__lt=filters.until)
    return found.select_related("endpoint", "event").order_by("-pk")


def list_deliveries(
    project_id: int, filters: DeliveryFilters, *, cursor: str | None, limit: int
) -> Page[Delivery]:
    """List deliveries with their attempts, without the bodies of these."""
    found = deliveries_of(project_id, filters)
    if cursor is not None:
        (pk,) = cursors.read(cursor, int)
        found = found.filter(pk__lt=pk)
    light = Attempt.objects.order_by("pk").defer(
        "body", "answer", "headers", "answer_headers"
    )
    rows = list(found.prefetch_related(Prefetch("attempts", light))[: limit + 1])
    shown = rows[:limit]
    more = cursors.write(shown[-1].pk) if len(rows) > limit else None
    return Page(shown, more)


def get_delivery(pk: int) -> Delivery | None:
    """Return one delivery with its endpoint and event."""
    found = Delivery.objects.select_related(
        "endpoint__project", "event__project", "digest__event"
    )
    return found.filter(pk=pk).first()


def attempts_of(delivery: Delivery) -> list[Attempt]:
    """Return the attempts of a delivery, the newest first."""
    return list(
        Attempt.objects.filter(delivery=delivery).order_by("-pk")[:MOST_ATTEMPTS]
    )


def secrets_of(endpoint: Endpoint, *, now: datetime) -> QuerySet[Secret]:
    """Return the secrets that are valid now, newest first, without their values."""
    name = secret_name(endpoint.pk)
    return signing.secrets_of(endpoint.project, now=now, route=name).defer("value")
