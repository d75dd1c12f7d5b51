"""What is sent for a delivery: a request or a mail, ready to go. Pure.

Guarantees: no header is made of anything that came from outside, but of ids, times and
signatures; what is kept of a request holds no signature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from notify import mail, signing
from notify.models import Format
from notify.rendering import body_of
from notify.wire import Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from notify.mail import Letter
    from notify.messages import Message

AGENT = "Healthboard/1"


@dataclass(frozen=True, slots=True)
class Parcel:
    """`requests` are tried in turn while the receiver does not take the signature."""

    requests: Sequence[Request] = ()
    letter: Letter | None = None


def pack(
    message: Message,
    *,
    url: str,
    format: str,
    secrets: Sequence[str],
    unsubscribe: str,
    now: datetime,
) -> Parcel:
    """Render a message for its receiver and sign it; `secrets` are newest first."""
    if format == Format.EMAIL:
        address = url.removeprefix(mail.SCHEME)
        return Parcel(letter=mail.letter(message, to=address, unsubscribe=unsubscribe))
    body = body_of(message, format)
    requests = []
    for by in secrets or ("",):
        signed = signing.headers(message.id, body, valid=secrets, by=by, now=now)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": AGENT,
            "Accept-Encoding": "identity",
            **(signed if secrets else {"X-Request-ID": message.id}),
        }
        requests.append(Request(url, body, headers))
    return Parcel(requests)


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a request as they are stored and shown."""
    return {
        name: "(not kept)" if name.lower() in signing.SECRET_HEADERS else value
        for name, value in headers.items()
    }
