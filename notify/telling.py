"""From rows to messages: what a delivery tells, with its digest's parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from notify.messages import Message
from notify.models import Delivery, Event, EventType

if TYPE_CHECKING:
    from projects.models import Project


def message_of(
    event: Event, project: Project, parts: list[Message] | None = None
) -> Message:
    return Message(
        id=event.public_id,
        type=event.type,
        occurred_at=event.occurred_at,
        project=project.slug,
        data=event.data,
        url=f"{settings.SITE_ROOT}/p/{project.slug}/{event.path}",
        parts=parts or (),
    )


def messages_of(deliveries: list[Delivery]) -> dict[int, Message]:
    """Return the messages of deliveries with their events and projects, by id."""
    digests = [one.pk for one in deliveries if one.event.type == EventType.DIGEST]
    parts: dict[int, list[Message]] = {pk: [] for pk in digests}
    if digests:
        folded = Delivery.objects.filter(digest__in=digests).order_by("pk")
        for one in folded.select_related("event__project"):
            told = message_of(one.event, one.event.project)
            parts[one.digest_id or 0].append(told)
    return {
        one.pk: message_of(one.event, one.event.project, parts.get(one.pk))
        for one in deliveries
    }
