"""Admission: a request becomes one durable row, or nothing at all.

Guarantees: before `admit` returns, the body is on the disk and the row is committed;
of several senders of one delivery exactly one is first, the others are duplicates or
conflicts; whatever is refused leaves neither a row nor a file.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.utils import IntegrityError

from formats.context import ContextError
from formats.unpacking import BodyError, known_encoding
from ingest import bodies, rate, receiving, senders
from ingest.models import Upload
from ingest.problems import Problem, Unauthenticated
from ingest.receiving import Received
from ingest.signals import upload_received
from ingest.wire import Wire
from projects import tokens
from projects.models import Project, Scope, Token

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

log = logging.getLogger(__name__)

MAX_ID = 200
RETRY_AFTER_S = 5

_LOST = (OperationalError, InterfaceError)


@dataclass(frozen=True, slots=True)
class Sending:
    """One request: its headers, its query, and its body that was not read yet."""

    headers: Mapping[str, str]
    query: Mapping[str, str]
    wire: Wire


@dataclass(frozen=True, slots=True)
class Admitted:
    upload_id: int
    first: bool


@dataclass(frozen=True, slots=True)
class _Sender:
    project: Project
    token: Token | None


def admit(sending: Sending, *, now: datetime) -> Admitted:
    """Admit one upload; raise `Problem` for everything that is refused."""
    try:
        return _admit(sending, now=now)
    except BodyError as error:
        status = HTTPStatus(error.status)
        raise Problem(status, error.message, field=error.field) from error
    except ContextError as error:
        status = HTTPStatus(error.status)
        detail = f"{error.field}: {error.message}"
        raise Problem(status, detail, field=error.field) from error
    except (*_LOST, bodies.WriteRefused) as error:
        log.warning("an upload could not be stored: %s", error)
        raise Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "The upload could not be stored. Send it again with the same id.",
            retry_after=RETRY_AFTER_S,
        ) from error


def _admit(sending: Sending, *, now: datetime) -> Admitted:
    named = sending.query.get("project", "")
    found = senders.identify(sending.headers, project=named, now=now)
    if isinstance(found, Token):
        _check_token(found, named=named)
        _check_rate(found.project)
        _check_query(sending.query)
    sending.wire.check()
    with bodies.draft(now) as draft:
        received = Received()
        refused = _receive(sending, draft, received)
        if isinstance(found, Token):
            sender = _Sender(found.project, found)
        else:
            context = received.context or b""
            body = _whole(sending.wire, draft)
            project = senders.verify(found, body, context=context, now=now)
            sender = _Sender(project, None)
            _check_rate(project)
            _check_query(sending.query)
        if refused is not None:
            raise refused
        return _settle(sending, draft, received, sender, now=now)


def _check_token(token: Token, *, named: str) -> None:
    if Scope.UPLOAD not in token.scopes:
        detail = "This token may not upload: it has no scope 'upload'."
        raise Problem(HTTPStatus.FORBIDDEN, detail)
    if named and named != token.project.slug:
        _refuse_project(named)


def _refuse_project(named: str) -> None:
    detail = f"This is a token of another project than {named[:200]}."
    raise Problem(HTTPStatus.FORBIDDEN, detail, field="project")


def _check_rate(project: Project) -> None:
    wait = rate.take(project.pk)
    if wait:
        raise Problem(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"{project.slug} sends more than {settings.HEALTHBOARD_RATE} uploads a "
            "second.",
            retry_after=wait,
        )


def _check_query(query: Mapping[str, str]) -> None:
    for name in query:
        if name != "project":
            detail = f"{name[:100]}: there is no such parameter; there is 'project'"
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, field=name[:100])


def _receive(
    sending: Sending, draft: bodies.Draft, received: Received
) -> BodyError | None:
    """Read the body into the draft; return why it is refused, if it is.

    A body beyond the wire's cap is refused at once: nobody will read its signed bytes.
    """
    try:
        receiving.read_body(
            _written(sending.wire, draft),
            received,
            content_type=sending.headers.get("Content-Type", ""),
            content_encoding=sending.headers.get("Content-Encoding", ""),
            most=settings.HEALTHBOARD_MAX_UNPACKED_BYTES,
        )
    except BodyError as error:
        if sending.wire.exceeded:
            raise
        return error
    return None


def _written(wire: Wire, draft: bodies.Draft) -> Iterator[bytes]:
    for block in wire.blocks():
        draft.write(block)
        yield block


def _whole(wire: Wire, draft: bodies.Draft) -> Iterator[bytes]:
    """Yield the whole raw body: what is in the draft, and what was not read yet."""
    yield from draft.again()
    yield from wire.blocks()


def _settle(
    sending: Sending,
    draft: bodies.Draft,
    received: Received,
    sender: _Sender,
    *,
    now: datetime,
) -> Admitted:
    context = receiving.settle_context(received.context, slug=sender.project.slug)
    if context.project != sender.project.slug:
        _refuse_project(context.project)
    digest = receiving.digest_of(context, received.files)
    upload = Upload(
        project=sender.project,
        delivery_id=_delivery_id(sending.headers) or f"sha256:{digest}",
        digest=digest,
        context=receiving.stored_context(context),
        files=received.files,
        body=draft.name,
        content_type=sending.headers["Content-Type"],
        encoding=known_encoding(sending.headers.get("Content-Encoding", "")),
        wire_bytes=sending.wire.count,
        unpacked_bytes=received.unpacked,
        token=sender.token,
        received_at=now,
        due_at=now,
    )
    known = _known(upload)
    if known is not None:
        return known
    draft.settle()
    return _insert(upload, draft, now=now)


def _delivery_id(headers: Mapping[str, str]) -> str:
    for name in ("Idempotency-Key", "X-Request-ID"):
        value = headers.get(name, "").strip()
        if not value:
            continue
        if len(value) > MAX_ID or not value.isprintable():
            detail = f"{name}: must be 1 to {MAX_ID} printable characters"
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, field=name)
        return value
    return ""


def _known(upload: Upload) -> Admitted | None:
    """Tell a duplicate from a conflict; None when this delivery was never seen."""
    known = (
        Upload.objects.filter(project=upload.project, delivery_id=upload.delivery_id)
        .values_list("id", "digest")
        .first()
    )
    if known is None:
        return None
    upload_id, digest = known
    if digest != upload.digest:
        detail = f"Upload {upload_id} had the same id and another body."
        raise Problem(HTTPStatus.CONFLICT, detail)
    return Admitted(upload_id, first=False)


def _insert(upload: Upload, draft: bodies.Draft, *, now: datetime) -> Admitted:
    """Commit the row. The unique constraint decides which of several is first."""
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
            if upload.token is not None:
                tokens.touch(upload.token, now=now)
            transaction.on_commit(partial(_wake, upload.pk), robust=True)
    except IntegrityError as error:
        known = _known(upload)
        if known is None:  # the project was deleted meanwhile
            raise Unauthenticated from error
        return known
    except _LOST:
        # The answer to a commit can be lost: then the row is there and needs its file.
        draft.kept = True
        draft.kept = Upload.objects.filter(body=draft.name).exists()
        raise
    draft.kept = True
    return Admitted(upload.pk, first=True)


def _wake(upload_id: int) -> None:
    upload_received.send_robust(sender=Upload, upload_id=upload_id)
