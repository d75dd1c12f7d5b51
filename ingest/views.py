"""The inbox of the HTTP API: uploads, and what webhooks deliver."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from ingest import admission, answers, deliveries, problems, routes
from ingest.settling import Sending
from ingest.wire import Wire

if TYPE_CHECKING:
    from datetime import datetime

    from ingest.models import Route
    from ingest.settling import Admitted


@csrf_exempt
def receive(request: HttpRequest) -> HttpResponse:
    """`POST /api/v1/uploads`: admit one upload."""
    wire = Wire(request.META, most=settings.HEALTHBOARD_MAX_WIRE_BYTES)
    try:
        _check_method(request, "Uploads are sent by POST.")
        sending = Sending(request.headers, request.GET, wire)
        return _accepted(admission.admit(sending, now=timezone.now()))
    except problems.Problem as problem:
        return problems.response(problem, after=wire.drain)


@csrf_exempt
def receive_delivery(request: HttpRequest, path: str) -> HttpResponse:
    """`POST /webhooks/<route>`: admit what a webhook delivers."""
    wire = Wire(request.META, most=settings.HEALTHBOARD_MAX_WIRE_BYTES)
    try:
        _check_method(request, "Webhooks are sent by POST.")
        route = routes.find(path.removesuffix("/"))
        sending = Sending(request.headers, request.GET, wire)
        return _accepted(_admit_noted(sending, route, now=timezone.now()))
    except routes.NoSuchRoute:
        detail = "There is no such route, or it is disabled."
        problem = problems.Problem(HTTPStatus.NOT_FOUND, detail)
        return problems.response(problem, after=wire.drain)
    except problems.Problem as problem:
        return problems.response(problem, after=wire.drain)


def _admit_noted(sending: Sending, route: Route, *, now: datetime) -> Admitted:
    """Admit a delivery, and note an answer that leaves no upload of its own."""
    named = deliveries.sent_id(route.kind, sending.headers)
    try:
        admitted = deliveries.admit(sending, route, now=now)
    except problems.Problem as problem:
        why = problem.why if isinstance(problem, problems.Unauthenticated) else ""
        answers.note(
            route,
            status=problem.status,
            delivery_id=named,
            detail=why or problem.detail,
            now=now,
        )
        raise
    if not admitted.first:
        answers.note(
            route,
            status=HTTPStatus.OK,
            delivery_id=named,
            detail="came before",
            now=now,
            upload_id=admitted.upload_id,
        )
    return admitted


def _check_method(request: HttpRequest, detail: str) -> None:
    if request.method != "POST":
        raise problems.Problem(HTTPStatus.METHOD_NOT_ALLOWED, detail)


def _accepted(admitted: Admitted) -> JsonResponse:
    url = f"{settings.SITE_ROOT}/api/v1/uploads/{admitted.upload_id}"
    word = "accepted" if admitted.first else "duplicate"
    status = HTTPStatus.ACCEPTED if admitted.first else HTTPStatus.OK
    body = {"id": admitted.upload_id, "status": word, "url": url}
    return JsonResponse(body, status=status)
