"""Signing secrets of a project's uploads: which are valid now, and their rotation."""

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


def valid_secrets(project: Project, *, now: datetime) -> list[str]:
    """Return the secrets that sign for this project now, newest first."""
    return list(secrets_of(project, now=now).values_list("value", flat=True))


def secrets_of(project: Project, *, now: datetime) -> QuerySet[Secret]:
    """Return the rows of the secrets that are valid now, newest first."""
    return Secret.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now), project=project
    ).order_by("-id")


def rotate(project: Project, *, now: datetime) -> str:
    """Make a new secret; the ones before stay valid for 24 hours more."""
    value = secrets.token_urlsafe(32)
    with transaction.atomic():
        Secret.objects.filter(project=project, expires_at=None).update(
            expires_at=now + ROTATION
        )
        Secret.objects.create(project=project, value=value)
    return value
