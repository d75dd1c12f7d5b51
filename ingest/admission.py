"""Admission of uploads: who sends one, what is in it, and whether it may come in.

Guarantees: nothing of a body is believed before its sender is known, but the name of
the project that must have signed it; `settling` makes it durable, or nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.conf import settings

from formats.unpacking import BodyError, known_encoding
from ingest import bodies, receiving, senders, settling
from ingest.models import Upload
from ingest.problems import Problem
from ingest.receiving import Received
from projects.models import Project, Scope, Token

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ingest.settling import Admitted, Sending


@dataclass(frozen=True, slots=True)
class _Sender:
    project: Project
    token: Token | None


def admit(sending: Sending, *, now: datetime) -> Admitted:
    """Admit one upload; raise `Problem` for everything that is refused."""
    with settling.refusals():
        return _admit(sending, now=now)


def _admit(sending: Sending, *, now: datetime) -> Admitted:
    named = sending.query.get("project", "")
    found = senders.identify(sending.headers, project=named, now=now)
    if isinstance(found, Token):
        _check_token(found, named=named)
        settling.check_rate(found.project)
        _check_query(sending.query)
    sending.wire.check()
    with bodies.draft(now) as draft:
        received = Received()
        refused = _receive(sending, draft, received)
        if isinstance(found, Token):
            sender = _Sender(found.project, found)
        else:
            context = received.context or b""
            body = settling.whole(sending.wire, draft)
            project = senders.verify(found, body, context=context, now=now)
            sender = _Sender(project, None)
            settling.check_rate(project)
            _check_query(sending.query)
        if refused is not None:
            raise refused
        upload = _upload(sending, draft, received, sender, now=now)
        return settling.settle(upload, draft, now=now)


def _check_token(token: Token, *, named: str) -> None:
    if Scope.UPLOAD not in token.scopes:
        detail = "This token may not upload: it has no scope 'upload'."
        raise Problem(HTTPStatus.FORBIDDEN, detail)
    if named and named != token.project.slug:
        _refuse_project(named)


def _refuse_project(named: str) -> None:
    detail = f"This is a token of another project than {named[:200]}."
    raise Problem(HTTPStatus.FORBIDDEN, detail, field="project")


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
            settling.written(sending.wire, draft),
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


def _upload(
    sending: Sending,
    draft: bodies.Draft,
    received: Received,
    sender: _Sender,
    *,
    now: datetime,
) -> Upload:
    context = receiving.settle_context(received.context, slug=sender.project.slug)
    if context.project != sender.project.slug:
        _refuse_project(context.project)
    digest = receiving.digest_of(context, received.files)
    named = settling.delivery_id(sending.headers, "Idempotency-Key", "X-Request-ID")
    return Upload(
        project=sender.project,
        delivery_id=named or f"sha256:{digest}",
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
