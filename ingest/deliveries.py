"""Admission of what a webhook delivers to its route.

Guarantees: nothing of a body is believed before the route's secret has signed it; what
is admitted is one upload with one file, in the project of its route.
"""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.conf import settings

from formats.unpacking import BodyError, known_encoding
from ingest import bodies, receiving, settling, signatures
from ingest.models import RouteKind, Upload
from ingest.problems import Problem, Unsigned
from ingest.receiving import Received
from projects import signing
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from ingest.models import Route
    from ingest.settling import Admitted, Sending
    from ingest.signatures import Signature

_OWN_IDS = {
    RouteKind.GITHUB: ("X-GitHub-Delivery",),
    RouteKind.GITLAB: ("X-Gitlab-Event-UUID",),
}


def id_headers(kind: str) -> tuple[str, ...]:
    """Return the headers that tell which delivery this is, the first that is there."""
    own = _OWN_IDS.get(RouteKind(kind), ())
    return ("Idempotency-Key", *own, "X-Request-ID")


def admit(sending: Sending, route: Route, *, now: datetime) -> Admitted:
    """Admit one delivery; raise `Problem` for everything that is refused."""
    with settling.refusals():
        try:
            return _admit(sending, route, now=now)
        except signatures.BadSignature as error:
            raise Unsigned(str(error)) from error


def _admit(sending: Sending, route: Route, *, now: datetime) -> Admitted:
    keys = signing.valid_secrets(route.project, now=now, route=route.path)
    signature = signatures.read(route.kind, sending.headers, keys, now=now)
    if signature is None:
        _check_allowed(sending, route)
    sending.wire.check()
    with bodies.draft(now) as draft:
        received, digest = Received(), hashlib.sha256()
        blocks = _digested(settling.written(sending.wire, draft), digest)
        refused = _receive(sending, route, blocks, received)
        if signature is not None:
            _check_signature(signature, keys, settling.whole(sending.wire, draft))
            _check_allowed(sending, route)
        if refused is not None:
            raise refused
        upload = _upload(sending, route, received, now=now)
        upload.body, upload.digest = draft.name, digest.hexdigest()
        upload.delivery_id = upload.delivery_id or f"sha256:{upload.digest}"
        return settling.settle(upload, draft, now=now)


def _check_signature(
    signature: Signature, keys: Sequence[str], body: Iterable[bytes]
) -> None:
    if not signature.matches(keys, body):
        message = "no secret of this route signed it, or its body was changed"
        raise signatures.BadSignature(message)


def _check_allowed(sending: Sending, route: Route) -> None:
    settling.check_rate(route.project)
    for name in sending.query:
        detail = f"{name[:100]}: a route takes no parameter"
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, field=name[:100])


def _digested(blocks: Iterable[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    for block in blocks:
        digest.update(block)
        yield block


def _receive(
    sending: Sending, route: Route, blocks: Iterable[bytes], received: Received
) -> BodyError | None:
    """Read the body into the draft; return why it is refused, if it is."""
    try:
        receiving.read_delivery(
            blocks,
            received,
            kind=route.kind,
            content_type=sending.headers.get("Content-Type", ""),
            content_encoding=sending.headers.get("Content-Encoding", ""),
            most=settings.HEALTHBOARD_MAX_UNPACKED_BYTES,
        )
    except BodyError as error:
        if sending.wire.exceeded:
            raise
        return error
    return None


def _upload(
    sending: Sending, route: Route, received: Received, *, now: datetime
) -> Upload:
    """The row of a delivery; without a context its upload stands at project level."""
    slug = route.project.slug
    stored = {}
    if received.context is not None:
        context = receiving.settle_context(received.context, slug=slug)
        if context.project != slug:
            detail = f"This is a route of {slug}, not of {context.project[:200]}."
            raise Problem(HTTPStatus.FORBIDDEN, detail, field="project")
        stored = receiving.stored_context(context)
    return Upload(
        project=route.project,
        route=route,
        delivery_id=settling.delivery_id(sending.headers, *id_headers(route.kind)),
        context=stored,
        files=received.files,
        event=_event(sending.headers),
        content_type=sending.headers.get("Content-Type", ""),
        encoding=known_encoding(sending.headers.get("Content-Encoding", "")),
        wire_bytes=sending.wire.count,
        unpacked_bytes=received.unpacked,
        received_at=now,
        due_at=now,
    )


def _event(headers: Mapping[str, str]) -> str:
    """What a hook says has happened; GitHub's payload itself does not tell."""
    named = headers.get("X-GitHub-Event") or headers.get("X-Gitlab-Event") or ""
    return storable(named.strip())[:100]


def sent_id(kind: str, headers: Mapping[str, str]) -> str:
    """Return the id that a delivery gave itself, whether it was fit or not."""
    found = (headers.get(name, "").strip() for name in id_headers(kind))
    return next((value for value in found if value), "")
