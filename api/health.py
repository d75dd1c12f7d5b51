"""`/healthz` (the web process is alive) and `/readyz` (the whole can do its work).

Both are open and say nothing that a stranger may not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import Error as DatabaseError
from django.http import JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from api import heartbeat
from projects.models import Project

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 as long as this process answers at all."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when database, broker and workers are there, else 503 and what is not."""
    checks = {"database": _database(), "broker": _broker()}
    for role, queue in settings.WORKING_QUEUES.items():
        checks[role] = _working(queue)
    missing = sorted(name for name, fault in checks.items() if fault is not None)
    body = {
        "status": "unavailable" if missing else "ready",
        "checks": {name: fault or "ok" for name, fault in checks.items()},
        "missing": missing,
    }
    return JsonResponse(body, status=503 if missing else 200)


def _database() -> str | None:
    try:
        Project.objects.exists()
    except DatabaseError as error:
        return type(error).__name__
    return None


def _broker() -> str | None:
    try:
        heartbeat.check_broker()
    except heartbeat.BrokerUnreachable as error:
        return str(error)
    return None


def _working(queue: str) -> str | None:
    last = heartbeat.last_beat(queue)
    if last is None:
        return f"nobody has served the queue {queue} yet"
    age = timezone.now() - last
    if age > heartbeat.STALE:
        return f"the last sign of life is {int(age.total_seconds())} s old"
    return None
