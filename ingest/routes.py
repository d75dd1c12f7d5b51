"""Webhook routes: made, given new secrets, disabled, found.

Guarantees: nobody can guess a path; a secret is returned once, when it is made; every
change is written to the audit log in its own transaction.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import OuterRef, Subquery

from ingest.models import Route, RouteKind, Upload
from projects import audit, signing

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from projects.models import Project, Secret

_PATH = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class NoSuchRoute(LookupError):
    """There is no route with this path, or it is disabled."""


@dataclass(frozen=True, slots=True)
class Created:
    """A new route with its secret in plain text: shown once."""

    route: Route
    secret: str


def create(
    project: Project,
    kind: RouteKind,
    *,
    actor: str,
    now: datetime,
    name: str = "",
    user: User | None = None,
) -> Created:
    """Make a route and its first secret."""
    path = secrets.token_urlsafe(24)
    with transaction.atomic():
        route = Route.objects.create(
            project=project, kind=kind, path=path, name=name, created_by=user
        )
        secret = signing.rotate(project, now=now, route=path)
        _record(route, actor=actor, action="route.created")
    return Created(route, secret)


def rotate(route: Route, *, actor: str, now: datetime) -> str:
    """Make a new secret; it is shown once, the old one is valid for 24 hours more."""
    with transaction.atomic():
        secret = signing.rotate(route.project, now=now, route=route.path)
        _record(route, actor=actor, action="route.secret_rotated")
    return secret


def disable(route: Route, *, actor: str, now: datetime) -> bool:
    """Let a route be unknown from now on; tell whether it was not so before."""
    with transaction.atomic():
        enabled = Route.objects.filter(pk=route.pk, disabled_at=None)
        if not enabled.update(disabled_at=now):
            return False
        _record(route, actor=actor, action="route.disabled")
    return True


def find(path: str) -> Route:
    """Return the route that takes deliveries at this path."""
    route = None
    if _PATH.fullmatch(path):
        routes = Route.objects.select_related("project")
        route = routes.filter(path=path, disabled_at=None).first()
    if route is None:
        raise NoSuchRoute(path)
    return route


def routes_of(project: Project) -> QuerySet[Route]:
    """Return a project's routes, the newest first, with `last_at`: their last upload."""
    uploads = Upload.objects.filter(route=OuterRef("pk")).order_by("-received_at")
    routes = Route.objects.filter(project=project).select_related("created_by")
    last = Subquery(uploads.values("received_at")[:1])
    return routes.annotate(last_at=last).order_by("-pk")


def secrets_of(route: Route, *, now: datetime) -> QuerySet[Secret]:
    """Return the secrets that are valid now, newest first."""
    return signing.secrets_of(route.project, now=now, route=route.path)


def _record(route: Route, *, actor: str, action: str) -> None:
    audit.record(
        route.project,
        actor=actor,
        action=action,
        subject=str(route),
        detail={"kind": route.kind, "route": route.pk},
    )
