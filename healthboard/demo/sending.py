"""Sending the demo to a running server, over HTTP as any CI does.

Guarantees: each upload is sent until the server has it; a server that is restarted, or
asks for patience, is waited for. What it refuses is an error: it would be our fault.
"""

from __future__ import annotations

import http.client
import json
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from healthboard.demo.deliveries import CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from healthboard.demo.deliveries import Delivery

PATIENCE_S = 90.0
_TIMEOUT_S = 30.0
_PAUSE_S = 0.3
_LATER = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


class SendingFailed(Exception):
    """The server refused something, or does not answer; the message says what."""


class Server:
    """One server and one project's token; a connection is kept while it lasts."""

    def __init__(self, address: str, *, token: str) -> None:
        parts = urlsplit(address)
        kinds = {
            "http": http.client.HTTPConnection,
            "https": http.client.HTTPSConnection,
        }
        if parts.scheme not in kinds or not parts.hostname:
            raise SendingFailed(f"{address} is no http or https address")
        self.address = address.rstrip("/")
        self._connection = kinds[parts.scheme](
            parts.hostname, parts.port, timeout=_TIMEOUT_S
        )
        self._path = parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"}

    def send(self, delivery: Delivery) -> bool:
        """Send one upload; return whether the server did not have it yet."""
        headers = {
            "Content-Type": CONTENT_TYPE,
            "Content-Encoding": "gzip",
            "Idempotency-Key": delivery.key,
        }
        status, _ = self._ask("POST", "/api/v1/uploads", delivery.body(), headers)
        return status == HTTPStatus.ACCEPTED

    def pending(self, slug: str) -> int:
        """Return how much the server still has to do before the pages are up to date."""
        path = f"/api/v1/projects/{quote(slug, safe='')}/status"
        _, answer = self._ask("GET", path, None, {})
        return int(answer["pending"])

    def remaining(self, slug: str) -> Iterator[int]:
        """Yield how much is left until nothing is; give up when nothing moves."""
        least, moved = self.pending(slug), time.monotonic()
        while least:
            yield least
            time.sleep(_PAUSE_S)
            now = self.pending(slug)
            if now < least:
                least, moved = now, time.monotonic()
            elif time.monotonic() - moved > PATIENCE_S:
                raise SendingFailed(f"{now} items wait, and no worker takes them")

    def close(self) -> None:
        self._connection.close()

    def _ask(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, Any]:  # Any: JSON
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._connection.request(
                    method, self._path + path, body, {**self._headers, **headers}
                )
                answer = self._connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                trouble, pause = f"{self.address} does not answer: {error}", _PAUSE_S
            else:
                if answer.status < HTTPStatus.MULTIPLE_CHOICES:
                    return answer.status, json.loads(content)
                trouble = f"{method} {path}: {answer.status} {_detail(content)}"
                if answer.status not in _LATER:
                    raise SendingFailed(trouble)
                pause = float(answer.headers.get("Retry-After") or 1)
            if time.monotonic() + pause > deadline:
                raise SendingFailed(trouble)
            time.sleep(pause)


def _detail(content: bytes) -> str:
    try:
        return str(json.loads(content)["detail"])
    except (ValueError, KeyError, TypeError):
        return content[:200].decode(errors="replace")
