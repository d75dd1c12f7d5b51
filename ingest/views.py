"""The inbox of the HTTP API."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from ingest import admission, problems
from ingest.wire import Wire

if TYPE_CHECKING:
    from ingest.admission import Admitted


@csrf_exempt
def receive(request: HttpRequest) -> HttpResponse:
    """`POST /api/v1/uploads`: admit one upload."""
    wire = Wire(request.META, most=settings.HEALTHBOARD_MAX_WIRE_BYTES)
    try:
        if request.method != "POST":
            detail = "Uploads are sent by POST."
            raise problems.Problem(HTTPStatus.METHOD_NOT_ALLOWED, detail)
        sending = admission.Sending(request.headers, request.GET, wire)
        return _accepted(admission.admit(sending, now=timezone.now()))
    except problems.Problem as problem:
        return problems.response(problem, after=wire.drain)


def _accepted(admitted: Admitted) -> JsonResponse:
    url = f"{settings.SITE_ROOT}/api/v1/uploads/{admitted.upload_id}"
    word = "accepted" if admitted.first else "duplicate"
    status = HTTPStatus.ACCEPTED if admitted.first else HTTPStatus.OK
    body = {"id": admitted.upload_id, "status": word, "url": url}
    return JsonResponse(body, status=status)
