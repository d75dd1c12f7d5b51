"""Talking to the server: one request at a time, patiently.

Guarantees: every attempt of one call is the same request with the same headers, so a
server that knows the id does the work once; only what a later attempt can mend is
tried again, with growing pauses, and never beyond the time given; the token goes to
the configured server and nowhere else, as no redirect is followed.
"""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from healthboard_client import __version__
from healthboard_client.exits import Unanswered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from healthboard_client.settings import Settings

    Json = Any  # decoded JSON, read field by field

SOCKET_S = 30.0  # for one operation on the socket, not for a whole request
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
MOST_ANSWER = 64 * 2**20
AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_BROKEN = (OSError, http.client.HTTPException)


@dataclass(frozen=True)
class FileBody:
    """A body that lies in a file, from some place on: sent without being held."""

    path: Path
    start: int
    length: int


@dataclass(frozen=True)
class Answer:
    """What the server said."""

    status: int
    body: bytes
    retry_after: float | None = None
    location: str = ""

    @property
    def good(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    def json(self) -> Json:
        """Decode the body; raise `Unanswered` where it is no JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise Unanswered(
                f"the answer (status {self.status}) is not JSON: is this address "
                "really a Healthboard server?"
            ) from None

    def reason(self) -> str:
        """Return in one line why the server refused."""
        if self.location:
            # Followed, a redirect would take the token to wherever it points.
            return f"{self.status}, moved to {self.location}: set HEALTHBOARD_URL so"
        try:
            said = json.loads(self.body)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            return f"{self.status} {_phrase(self.status)}"
        fields = [
            f"{each.get('field')}: {each.get('message')}"
            for each in said.get("errors") or []
            if isinstance(each, dict)
        ]
        words = str(said.get("detail") or said.get("title") or _phrase(self.status))
        return " ".join([f"{self.status} {words}", *fields[:3]])


class NoAnswer(Unanswered):
    """Every attempt within the time failed."""


@dataclass
class Server:
    """One server, and the patience with it."""

    settings: Settings
    pause: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    tell: Callable[[str], None] = field(default=lambda text: None)
    _slug: str = ""

    def page(self, path: str) -> str:
        """Return the address of one of the server's pages."""
        return self.settings.url + path

    def get(self, path: str, **query: object) -> Json:
        """Read one thing; raise `Unanswered` where the server refuses."""
        answer = self.ask(path, **query)
        if not answer.good:
            raise Unanswered(f"{path}: {answer.reason()}")
        return answer.json()

    def ask(self, path: str, **query: object) -> Answer:
        """Read one thing, whatever the status."""
        asked = {name: value for name, value in query.items() if value is not None}
        return self.call("GET", path + (f"?{urlencode(asked)}" if asked else ""))

    def items(self, path: str, **query: object) -> Iterator[Json]:
        """Yield the items of a list, page after page."""
        cursor = None
        while True:
            page = self.get(path, cursor=cursor, limit=500, **query)
            yield from page["items"]
            cursor = page.get("next")
            if cursor is None:
                return

    def post_json(self, path: str, value: Json, *, key: str) -> Answer:
        """Send one JSON value under an id."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        return self.call("POST", path, json.dumps(value).encode(), headers)

    def project(self) -> str:
        """Return owner/name: as configured, else the one that the token is for."""
        if not self._slug:
            self._slug = self.settings.project or self._only_project()
        return self._slug

    def of_project(self, *parts: str) -> str:
        """Return the path of something of the project."""
        segments = "".join("/" + quote(part, safe="") for part in parts)
        return f"/api/v1/projects/{quote(self.project(), safe='/')}{segments}"

    def _only_project(self) -> str:
        found = self.get("/api/v1/projects")["items"]
        if len(found) != 1:
            raise Unanswered("set HEALTHBOARD_PROJECT to owner/name")
        return str(found[0]["project"])

    def call(
        self,
        method: str,
        path: str,
        body: bytes | FileBody | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request until it is answered for good, or the time is over."""
        end = self.clock() + self.settings.retry_for
        pause, attempt = FIRST_PAUSE_S, 0
        while True:
            attempt += 1
            answer, trouble = self._try(method, path, body, dict(headers or {}))
            if answer is not None and answer.status not in AGAIN:
                return answer
            wait = _next_pause(answer, pause * (0.5 + self.chance() / 2))
            if self.clock() + wait > end:
                raise NoAnswer(f"{trouble} ({attempt} attempts)")
            self.tell(f"{trouble}; trying again in {wait:.1f} s")
            self.pause(wait)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _try(
        self,
        method: str,
        path: str,
        body: bytes | FileBody | None,
        headers: dict[str, str],
    ) -> tuple[Answer | None, str]:
        headers |= {
            "Authorization": f"Bearer {self.settings.token}",
            "User-Agent": f"healthboard-client/{__version__}",
            "Accept": "application/json",
            "Connection": "close",
        }
        connection, target = _connect(self.settings.url, path)
        try:
            answer = _exchange(connection, method, target, body, headers)
        except _BROKEN as error:
            return None, f"no answer from the server: {_described(error)}"
        finally:
            connection.close()
        return answer, f"the server answered {answer.reason()}"


def _next_pause(answer: Answer | None, pause: float) -> float:
    if answer is not None and answer.retry_after is not None:
        return max(pause, answer.retry_after)
    return pause


def _exchange(
    connection: http.client.HTTPConnection,
    method: str,
    target: str,
    body: bytes | FileBody | None,
    headers: dict[str, str],
) -> Answer:
    broken = None
    try:
        if isinstance(body, FileBody):
            headers["Content-Length"] = str(body.length)
            with body.path.open("rb") as file:
                file.seek(body.start)
                connection.request(method, target, file, headers)
        else:
            connection.request(method, target, body, headers)
    except (BrokenPipeError, ConnectionResetError) as error:
        if connection.sock is None:  # broken while connecting
            raise
        # It may have refused before reading all: then its answer is there.
        broken = error
    try:
        return _received(connection.getresponse())
    except _BROKEN as error:
        raise (broken or error) from None


def _received(response: http.client.HTTPResponse) -> Answer:
    if response.length is None and not response.chunked:
        # Cut off within its head it would read as a whole answer that says nothing.
        raise http.client.HTTPException("the answer does not say where it ends")
    body = response.read(MOST_ANSWER)
    if response.length:
        raise http.client.IncompleteRead(body, response.length)
    moved = HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.BAD_REQUEST
    return Answer(
        response.status,
        body,
        _seconds(response.getheader("Retry-After")),
        (response.getheader("Location") or "") if moved else "",
    )


def _connect(url: str, path: str) -> tuple[http.client.HTTPConnection, str]:
    """Prepare a connection, through a proxy where the environment names one."""
    parts = urlsplit(url)
    host, secure = parts.netloc, parts.scheme.lower() == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    proxy = urllib.request.getproxies().get(parts.scheme.lower())
    if not proxy or urllib.request.proxy_bypass(host):
        return kind(host, timeout=SOCKET_S), parts.path + path
    through = urlsplit(proxy if "//" in proxy else f"//{proxy}").netloc
    connection = kind(through, timeout=SOCKET_S)
    if not secure:
        return connection, url + path
    connection.set_tunnel(host)
    return connection, parts.path + path


def _seconds(text: str | None) -> float | None:
    """Read Retry-After as seconds; its other form, a date, counts as absent."""
    return float(text) if text and text.isascii() and text.isdigit() else None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "unknown status"


def _described(error: BaseException) -> str:
    words = str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
