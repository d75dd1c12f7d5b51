"""Webhooks out: endpoints, their deliveries, sending again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router
from ninja.responses import Status

from api.access import Asker, asker_of, project_by_id, project_of
from api.paging import Paged
from api.parameters import MAX_PATH_NUMBER, Instant, Text
from api.problems import Conflict, FieldError, Forbidden, Invalid, NotFound
from api.shapes import Listing
from api.webhook_shapes import (
    AnswerShape,
    DeliveryShape,
    DeliveryStateName,
    FullDeliveryShape,
    FullTryShape,
    RedeliverBody,
    RedeliveredShape,
    RequestShape,
    SecretShape,
    TryShape,
    WebhookBody,
    WebhookChange,
    WebhookMade,
    WebhookShape,
)
from notify import endpoints, queries, redelivering
from notify.endpoints import BadEndpoint, Wanted
from notify.messages import as_json
from notify.models import Attempt, Delivery, Endpoint, Format
from notify.queries import DeliveryFilters
from notify.telling import messages_of
from projects.models import Scope

if TYPE_CHECKING:
    from projects.models import Project

router = Router(tags=["webhooks"])

NO_DELIVERY = "There is no such delivery."
_ONE = "/projects/{project:p}/webhooks/{number:id}"


class DeliveriesAsked(Paged):
    webhook: int | None = Field(None, ge=1, le=MAX_PATH_NUMBER)
    state: DeliveryStateName | None = None
    event: Text | None = Field(None, description="a type, or an event's id")
    since: Instant | None = None
    until: Instant | None = None


@router.get("/projects/{project:p}/webhooks", response=Listing[WebhookShape])
def list_webhooks(
    request: HttpRequest, p: str, paged: Query[Paged]
) -> Listing[WebhookShape]:
    """A project's webhooks, the newest first."""
    asker = asker_of(request)
    project = project_of(asker, p)
    page = queries.list_endpoints(project.pk, cursor=paged.cursor, limit=paged.limit)
    whole = _administers(asker, project)
    items = [_webhook(row, whole=whole) for row in page.items]
    return Listing[WebhookShape](items=items, next=page.next)


@router.post("/projects/{project:p}/webhooks", response={201: WebhookMade})
def make_webhook(
    request: HttpRequest, p: str, body: WebhookBody
) -> Status[WebhookMade]:
    """Make a webhook; its secret is in this answer and nowhere else. Scope admin."""
    asker = asker_of(request)
    project = project_of(asker, p, scope=Scope.ADMIN)
    wanted = Wanted(
        url=body.url,
        events=body.events,
        format=body.format,
        filters=body.filters,
        name=body.name,
        every=body.every,
        folds=body.fold,
        secret=body.secret,
    )
    user = asker.user or (asker.token.created_by if asker.token else None)
    try:
        made = endpoints.create(project, wanted, actor=asker.name, user=user)
    except BadEndpoint as error:
        raise Invalid(FieldError(error.field, error.message)) from None
    told = _webhook(made.endpoint, whole=True).dict()
    return Status(201, WebhookMade(**told, secret=made.secret or None))


@router.patch(_ONE, response=WebhookShape)
def change_webhook(
    request: HttpRequest, p: str, id: int, body: WebhookChange
) -> WebhookShape:
    """Change a webhook, disable or enable it. Scope admin."""
    endpoint, actor = _endpoint(request, p, id)
    said = body.dict(exclude_unset=True)
    enabled = said.pop("enabled", None)
    if "fold" in said:
        said["folds"] = said.pop("fold")
    try:
        endpoints.change(endpoint, said, actor=actor)
    except BadEndpoint as error:
        raise Invalid(FieldError(error.field, error.message)) from None
    if enabled is not None:
        endpoints.switch(endpoint, on=enabled, actor=actor)
    endpoint.refresh_from_db()
    return _webhook(endpoint, whole=True)


@router.delete(_ONE, response={204: None})
def remove_webhook(request: HttpRequest, p: str, id: int) -> HttpResponse:
    """Remove a webhook with its deliveries. Scope admin."""
    endpoint, actor = _endpoint(request, p, id)
    endpoints.remove(endpoint, actor=actor)
    return HttpResponse(status=204)


@router.post(f"{_ONE}/secret", response={201: SecretShape})
def rotate_webhook_secret(request: HttpRequest, p: str, id: int) -> Status[SecretShape]:
    """Make a new secret; both are valid for 24 hours. Scope admin."""
    endpoint, actor = _endpoint(request, p, id)
    if endpoint.format == Format.EMAIL:
        raise Conflict("Mails are not signed.")
    return Status(201, SecretShape(secret=endpoints.rotate(endpoint, actor=actor)))


@router.post(f"{_ONE}/test", response={202: DeliveryShape})
def try_webhook(request: HttpRequest, p: str, id: int) -> Status[DeliveryShape]:
    """Send a test event to a webhook. Scope admin."""
    endpoint, actor = _endpoint(request, p, id)
    return Status(202, _delivery(endpoints.try_out(endpoint, actor=actor), []))


@router.get("/projects/{project:p}/deliveries", response=Listing[DeliveryShape])
def list_deliveries(
    request: HttpRequest, p: str, filters: Query[DeliveriesAsked]
) -> Listing[DeliveryShape]:
    """What was sent and what is still to be, the newest first."""
    project = project_of(asker_of(request), p)
    page = queries.list_deliveries(
        project.pk,
        DeliveryFilters(
            webhook=filters.webhook,
            state=filters.state or "",
            event=filters.event or "",
            since=filters.since,
            until=filters.until,
        ),
        cursor=filters.cursor,
        limit=filters.limit,
    )
    items = [_delivery(row, list(row.attempts.all())) for row in page.items]
    return Listing[DeliveryShape](items=items, next=page.next)


@router.get("/deliveries/{number:id}", response=FullDeliveryShape)
def get_delivery(request: HttpRequest, id: int) -> FullDeliveryShape:
    """One delivery with its requests and answers. Scope admin."""
    delivery = _delivery_or_404(request, id)
    tried = queries.attempts_of(delivery)
    told = _delivery(delivery, []).dict() | {
        "attempts": [_full(one) for one in tried],
        "payload": as_json(messages_of([delivery])[delivery.pk]),
    }
    return FullDeliveryShape(**told)


@router.post("/deliveries/{number:id}/redeliver", response={202: DeliveryShape})
def redeliver(request: HttpRequest, id: int) -> Status[DeliveryShape]:
    """Send a delivery again, with the same id. Scope admin."""
    delivery = _delivery_or_404(request, id)
    if not redelivering.redeliver(delivery, actor=asker_of(request).name):
        raise Conflict("It waits to be sent already, or its webhook is disabled.")
    delivery.refresh_from_db()
    return Status(202, _delivery(delivery, []))


@router.post("/projects/{project:p}/redeliver", response={202: RedeliveredShape})
def redeliver_since(
    request: HttpRequest, p: str, body: RedeliverBody
) -> Status[RedeliveredShape]:
    """Send again all that was told since a time. Scope admin."""
    asker = asker_of(request)
    project = project_of(asker, p, scope=Scope.ADMIN)
    done = redelivering.redeliver_since(
        project,
        body.since,
        actor=asker.name,
        webhook=body.webhook,
        state=body.state or "",
    )
    return Status(202, RedeliveredShape(redelivered=done))


def _endpoint(request: HttpRequest, p: str, pk: int) -> tuple[Endpoint, str]:
    asker = asker_of(request)
    project = project_of(asker, p, scope=Scope.ADMIN)
    found = queries.get_endpoint(project.pk, pk)
    if found is None:
        raise NotFound("There is no such webhook.")
    return found, asker.name


def _delivery_or_404(request: HttpRequest, pk: int) -> Delivery:
    found = queries.get_delivery(pk)
    if found is None:
        raise NotFound(NO_DELIVERY)
    project_id = found.endpoint.project_id
    asker = asker_of(request)
    project_by_id(asker, project_id, otherwise=NO_DELIVERY, scope=Scope.ADMIN)
    return found


def _administers(asker: Asker, project: Project) -> bool:
    try:
        project_of(asker, project.slug, scope=Scope.ADMIN)
    except Forbidden:
        return False
    return True


def _webhook(row: Endpoint, *, whole: bool) -> WebhookShape:
    return WebhookShape(
        id=row.pk,
        name=row.name,
        url=row.url if whole else _origin(row.url),
        events=row.events,
        format=row.format,
        filters=row.filters,
        every=row.every,
        fold=row.folds,
        enabled=row.disabled_at is None,
        disabled_at=row.disabled_at,
        disabled_reason=row.disabled_reason or None,
        failing_since=row.failing_since,
        created_at=row.created_at,
        created_by=row.created_by,
    )


def _origin(url: str) -> str:
    """Leave out what may be a secret: chats have theirs in the path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/…" if parts.netloc else "mailto:…"


def _delivery(row: Delivery, attempts: list[Attempt]) -> DeliveryShape:
    return DeliveryShape(
        id=row.pk,
        webhook=row.endpoint_id,
        event=row.event.public_id,
        type=row.event.type,
        state=row.state,
        created_at=row.created_at,
        next_attempt_at=row.due_at,
        done_at=row.done_at,
        status=row.status,
        error=row.error or None,
        digest=row.digest_id,
        attempts=[TryShape(**_short(one)) for one in attempts],
    )


def _short(one: Attempt) -> dict[str, Any]:  # Any: a value of any field
    return {
        "at": one.at,
        "status": one.status,
        "error": one.error or None,
        "duration_ms": one.duration_ms,
        "address": one.address or None,
    }


def _full(one: Attempt) -> FullTryShape:
    return FullTryShape(
        **_short(one),
        request=RequestShape(url=one.url, headers=one.headers, body=one.body),
        answer=AnswerShape(
            status=one.status,
            headers=one.answer_headers,
            body=one.answer,
            cut=one.answer_cut,
        ),
    )
