"""From a body that is being received to one durable row: the end of every admission.

Guarantees: before `settle` returns, the body is on the disk and the row is committed;
of several senders of one delivery exactly one is first, the others are duplicates or
conflicts; whatever is refused leaves neither a row nor a file.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.utils import IntegrityError

from formats.context import ContextError
from formats.unpacking import BodyError
from ingest import bodies, rate
from ingest.models import Upload
from ingest.problems import Problem, Unauthenticated
from ingest.signals import upload_received
from ingest.wire import Wire
from projects import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from projects.models import Project

log = logging.getLogger(__name__)

MAX_ID = 200
RETRY_AFTER_S = 5
LOST = (OperationalError, InterfaceError)  # the database refuses, or is gone


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


@contextmanager
def refusals() -> Iterator[None]:
    """Turn every refusal of a body, its context or the store into a `Problem`."""
    try:
        yield
    except BodyError as error:
        status = HTTPStatus(error.status)
        raise Problem(status, error.message, field=error.field) from error
    except ContextError as error:
        status = HTTPStatus(error.status)
        detail = f"{error.field}: {error.message}"
        raise Problem(status, detail, field=error.field) from error
    except (*LOST, bodies.WriteRefused) as error:
        log.warning("an upload could not be stored: %s", error)
        raise Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "The upload could not be stored. Send it again with the same id.",
            retry_after=RETRY_AFTER_S,
        ) from error


def check_rate(project: Project) -> None:
    """Take one from the project's rate, or refuse."""
    wait = rate.take(project.pk)
    if wait:
        raise Problem(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"{project.slug} sends more than {settings.HEALTHBOARD_RATE} uploads a "
            "second.",
            retry_after=wait,
        )


def written(wire: Wire, draft: bodies.Draft) -> Iterator[bytes]:
    """Yield the body as it comes in, and write it to the draft."""
    for block in wire.blocks():
        draft.write(block)
        yield block


def whole(wire: Wire, draft: bodies.Draft) -> Iterator[bytes]:
    """Yield the whole raw body: what is in the draft, and what was not read yet."""
    yield from draft.again()
    yield from wire.blocks()


def delivery_id(headers: Mapping[str, str], *names: str) -> str:
    """Return the first of these headers that is there, or nothing."""
    for name in names:
        value = headers.get(name, "").strip()
        if not value:
            continue
        if len(value) > MAX_ID or not value.isprintable():
            detail = f"{name}: must be 1 to {MAX_ID} printable characters"
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, field=name)
        return value
    return ""


def settle(upload: Upload, draft: bodies.Draft, *, now: datetime) -> Admitted:
    """Bring the body and the row to the disk, unless they are there already."""
    known = _known(upload)
    if known is not None:
        return known
    draft.settle()
    return _insert(upload, draft, now=now)


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
    except LOST:
        # The answer to a commit can be lost: then the row is there and needs its file.
        draft.kept = True
        draft.kept = Upload.objects.filter(body=draft.name).exists()
        raise
    draft.kept = True
    return Admitted(upload.pk, first=True)


def _wake(upload_id: int) -> None:
    upload_received.send_robust(sender=Upload, upload_id=upload_id)
