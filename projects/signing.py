"""Signing secrets of a project: which are valid now, and their rotation.

Guarantees: a secret is good for one thing alone: the project's uploads (no `route`),
the webhook route of that path, or what is sent to an endpoint; after a rotation the one
before is valid for 24 hours more.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q

from projects.models import Project, Secret

if TYPE_CHECKING:
    from django.db.models import QuerySet

ROTATION = timedelta(hours=24)


def valid_secrets(project: Project, *, now: datetime, route: str = "") -> list[str]:
    """Return the secrets that are valid now, newest first."""
    valid = secrets_of(project, now=now, route=route)
    return list(valid.values_list("value", flat=True))


def secrets_of(project: Project, *, now: datetime, route: str = "") -> QuerySet[Secret]:
    """Return the rows of the secrets that are valid now, newest first."""
    return Secret.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now), project=project, route=route
    ).order_by("-id")


def rotate(project: Project, *, now: datetime, route: str = "", value: str = "") -> str:
    """Make a new secret, or take `value`; those before are valid for 24 hours more."""
    value = value or secrets.token_urlsafe(32)
    with transaction.atomic():
        Secret.objects.filter(project=project, route=route, expires_at=None).update(
            expires_at=now + ROTATION
        )
        Secret.objects.create(project=project, route=route, value=value)
    return value


def forget(project: Project, *, route: str) -> None:
    """Delete the secrets of what is no longer there."""
    Secret.objects.filter(project=project, route=route).delete()
