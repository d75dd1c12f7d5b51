"""Endpoints: made, changed, given new secrets, disabled, tried out.

Guarantees: a secret is returned once, when it is made; every change is in the audit log
in its own transaction; who made an endpoint is told when it is disabled.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core import signing as tokens
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from notify import mail, signing
from notify.addresses import BadUrl, check_url
from notify.matching import BadFilters, read_filters
from notify.models import Delivery, Endpoint, Event, EventType, Format
from notify.outbox import new_id, wake, write_event
from projects import audit
from projects import signing as secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from django.contrib.auth.models import User

    from projects.models import Project

SUBSCRIBABLE = tuple(
    kind for kind in EventType if kind not in (EventType.DIGEST, EventType.TEST)
)
LONGEST_SECRET = 100
MOST_HOURS = 24 * 7
_SALT = "notify.unsubscribe"
# Any, below: JSON.


class BadEndpoint(ValueError):
    """What an endpoint cannot be; `field` is the part that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


@dataclass(frozen=True, slots=True)
class Wanted:
    """An endpoint as somebody asks for it."""

    url: str
    events: Sequence[str] = ()
    format: str = Format.JSON
    filters: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    every: int = 0  # hours between digests
    folds: bool = True
    secret: str = ""  # theirs instead of a new one


@dataclass(frozen=True, slots=True)
class Created:
    """A new endpoint with its secret in plain text: shown once."""

    endpoint: Endpoint
    secret: str


def create(
    project: Project, wanted: Wanted, *, actor: str, user: User | None = None
) -> Created:
    """Make an endpoint and its first secret."""
    check(wanted)
    now = timezone.now()
    with transaction.atomic():
        endpoint = Endpoint.objects.create(
            project=project,
            user=user,
            created_by=actor[:200],
            created_at=now,
            **_fields(wanted),
        )
        signed = wanted.format != Format.EMAIL
        secret = _rotate(endpoint, now=now, value=wanted.secret) if signed else ""
        _record(endpoint, actor=actor, action="webhook.created")
    return Created(endpoint, secret)


def change(endpoint: Endpoint, said: Mapping[str, Any], *, actor: str) -> None:
    """Change these fields of `Wanted`; the rest and the secrets stay."""
    before = wanted_of(endpoint)
    wanted = replace(before, **said)
    if wanted == before:
        return
    check(wanted)
    if (wanted.format == Format.EMAIL) is not (before.format == Format.EMAIL):
        raise BadEndpoint("format", "mails cannot become requests, nor the reverse")
    with transaction.atomic():
        Endpoint.objects.filter(pk=endpoint.pk).update(**_fields(wanted))
        _record(endpoint, actor=actor, action="webhook.changed")


def wanted_of(endpoint: Endpoint) -> Wanted:
    """Return an endpoint as it would be asked for."""
    return Wanted(
        url=endpoint.url,
        events=endpoint.events,
        format=endpoint.format,
        filters=endpoint.filters,
        name=endpoint.name,
        every=endpoint.every,
        folds=endpoint.folds,
    )


def rotate(endpoint: Endpoint, *, actor: str, value: str = "") -> str:
    """Make a new secret, shown once; the one before stays valid for 24 hours."""
    if value:
        _check_secret(value)
    with transaction.atomic():
        secret = _rotate(endpoint, now=timezone.now(), value=value)
        _record(endpoint, actor=actor, action="webhook.secret_rotated")
    return secret


def remove(endpoint: Endpoint, *, actor: str) -> None:
    """Forget an endpoint with its deliveries and secrets."""
    with transaction.atomic():
        _record(endpoint, actor=actor, action="webhook.removed")
        secrets.forget(endpoint.project, route=secret_name(endpoint.pk))
        endpoint.delete()


def disable(endpoint: Endpoint, *, reason: str, now: datetime, actor: str = "") -> bool:
    """Send nothing more to an endpoint, and tell who made it."""
    with transaction.atomic():
        enabled = Endpoint.objects.filter(pk=endpoint.pk, disabled_at=None)
        if not enabled.update(disabled_at=now, disabled_reason=reason[:300]):
            return False
        by = actor or "the deliveries"
        _record(endpoint, actor=by, action="webhook.disabled", reason=reason)
        if not actor:
            _tell_owner(endpoint, reason=reason, now=now)
    return True


def enable(endpoint: Endpoint, *, actor: str) -> bool:
    """Send again; what waited meanwhile follows."""
    with transaction.atomic():
        disabled = Endpoint.objects.filter(pk=endpoint.pk, disabled_at__isnull=False)
        fresh = {"disabled_at": None, "failing_since": None, "held_until": None}
        if not disabled.update(**fresh, disabled_reason=""):
            return False
        _record(endpoint, actor=actor, action="webhook.enabled")
        wake("deliver")
    return True


def switch(endpoint: Endpoint, *, on: bool, actor: str) -> bool:
    """Enable or disable an endpoint; tell whether it was not so before."""
    if on:
        return enable(endpoint, actor=actor)
    now = timezone.now()
    return disable(endpoint, reason=f"by {actor}", now=now, actor=actor)


def try_out(endpoint: Endpoint, *, actor: str) -> Delivery:
    """Send a test event to this endpoint alone."""
    now, public_id = timezone.now(), new_id()
    with transaction.atomic():
        event = Event.objects.create(
            project_id=endpoint.project_id,
            type=EventType.TEST,
            key=public_id,
            public_id=public_id,
            occurred_at=now,
            created_at=now,
            data={"endpoint": str(endpoint), "by": actor},
        )
        delivery = Delivery.objects.create(
            endpoint=endpoint, event=event, created_at=now, due_at=now
        )
        wake("deliver")
    return delivery


def check(wanted: Wanted) -> None:
    """Raise `BadEndpoint` for what cannot be."""
    if wanted.format not in Format.values:
        raise BadEndpoint("format", f"must be one of {', '.join(Format.values)}")
    if wanted.format == Format.EMAIL:
        _check_mail(wanted.url)
    else:
        try:
            check_url(wanted.url, settings.HEALTHBOARD_WEBHOOK_ALLOW)
        except BadUrl as error:
            raise BadEndpoint("url", str(error)) from error
    strange = [one for one in wanted.events if one not in SUBSCRIBABLE]
    if strange:
        known = ", ".join(SUBSCRIBABLE)
        raise BadEndpoint("events", f"{strange[0]!r} is no event; there are {known}")
    try:
        read_filters(wanted.filters)
    except BadFilters as error:
        raise BadEndpoint("filters", str(error)) from error
    if not 0 <= wanted.every <= MOST_HOURS:
        raise BadEndpoint("every", f"must be 0 to {MOST_HOURS} hours")
    if wanted.secret:
        _check_secret(wanted.secret)


def secret_name(endpoint_id: int) -> str:
    """Return under which name its secrets are kept; no route has a slash."""
    return f"out/{endpoint_id}"


def unsubscribe_url(endpoint: Endpoint) -> str:
    """Return the address that ends an e-mail subscription without signing in."""
    token = tokens.Signer(salt=_SALT).sign(str(endpoint.pk))
    return f"{settings.SITE_ROOT}/unsubscribe/{token}"


def by_unsubscribe_token(token: str) -> Endpoint | None:
    try:
        pk = tokens.Signer(salt=_SALT).unsign(token)
    except tokens.BadSignature:
        return None
    mine = Endpoint.objects.select_related("project")
    return mine.filter(pk=pk, format=Format.EMAIL).first()


def _check_mail(url: str) -> None:
    try:
        if not url.startswith(mail.SCHEME):
            raise ValidationError("no mailto")
        validate_email(url.removeprefix(mail.SCHEME))
    except ValidationError:
        raise BadEndpoint("url", "must be mailto: and an e-mail address") from None


def _check_secret(value: str) -> None:
    fits = signing.SHORTEST <= len(value) <= LONGEST_SECRET
    if not fits or not value.isascii() or not value.isprintable() or " " in value:
        raise BadEndpoint(
            "secret",
            f"must be {signing.SHORTEST} to {LONGEST_SECRET} printable ASCII"
            " characters without spaces",
        )


def _fields(wanted: Wanted) -> dict[str, Any]:
    return {
        "url": wanted.url,
        "events": list(dict.fromkeys(wanted.events)),
        "format": wanted.format,
        "filters": wanted.filters,
        "name": wanted.name[:100],
        "every": wanted.every,
        "folds": wanted.folds,
    }


def _rotate(endpoint: Endpoint, *, now: datetime, value: str) -> str:
    return secrets.rotate(
        endpoint.project,
        now=now,
        route=secret_name(endpoint.pk),
        value=value or signing.new_secret(),
    )


def _tell_owner(endpoint: Endpoint, *, reason: str, now: datetime) -> None:
    """Write the event, and see to it that the owner hears of it."""
    owner = endpoint.user
    address = f"{mail.SCHEME}{owner.email}" if owner is not None and owner.email else ""
    known = Endpoint.objects.filter(
        project=endpoint.project_id, url=address, format=Format.EMAIL
    )
    if address and endpoint.url != address and not known.exists():
        Endpoint.objects.create(
            project_id=endpoint.project_id,
            name=f"What {owner} made"[:100],
            url=address,
            events=[EventType.ENDPOINT_DISABLED],
            format=Format.EMAIL,
            user=owner,
            created_by="the deliveries",
            created_at=now,
        )
    write_event(
        endpoint.project_id,
        EventType.ENDPOINT_DISABLED,
        f"endpoint/{endpoint.pk}/{now.isoformat()}",
        occurred_at=now,
        data={"endpoint": str(endpoint), "reason": reason},
        path=f"settings/webhooks/{endpoint.pk}",
    )


def _record(endpoint: Endpoint, *, actor: str, action: str, reason: str = "") -> None:
    audit.record(
        endpoint.project,
        actor=actor,
        action=action,
        subject=str(endpoint),
        detail={"webhook": endpoint.pk} | ({"reason": reason} if reason else {}),
    )
