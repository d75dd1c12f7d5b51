"""Signing secrets of a project's uploads: which are valid now, and their rotation."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from projects.models import Project, Secret

ROTATION = timedelta(hours=24)


def valid_secrets(project: Project, *, now: datetime) -> list[str]:
    """Return the secrets that sign for this project now, newest first."""
    return list(
        Secret.objects.filter(
            Q(expires_at=None) | Q(expires_at__gt=now), project=project
        )
        .order_by("-id")
        .values_list("value", flat=True)
    )


def rotate(project: Project, *, now: datetime) -> str:
    """Make a new secret; the ones before stay valid for 24 hours more."""
    value = secrets.token_urlsafe(32)
    with transaction.atomic():
        Secret.objects.filter(project=project, expires_at=None).update(
            expires_at=now + ROTATION
        )
        Secret.objects.create(project=project, value=value)
    return value
