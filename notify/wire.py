"""HTTP to addresses that somebody else chose.

Guarantees: the address that is connected to is the one that was checked, whatever the
name resolves to before or after, while Host and SNI stay the name's; nothing is
followed; an answer is read to 64 KiB, or as its gate says; a request ends at its deadline, however slowly
bytes come in; no exception leaves here but as the words of an `Outcome`.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from notify.addresses import BadUrl, Network, Refused, check_address, read_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from urllib3.response import BaseHTTPResponse

    from notify.addresses import Target

ANSWER_BYTES = 64 * 2**10
CONNECT_S = 5.0
DEADLINE_S = 20.0
_BLOCK = 8 * 2**10
_MOST_ADDRESSES = 8  # of one name


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a name, as the system finds them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


@dataclass(frozen=True, slots=True)
class Gate:
    """What may be connected to, and who knows the addresses of names."""

    allowed: Sequence[Network] = ()
    resolve: Callable[[str, int], list[str]] = resolve
    connect_s: float = CONNECT_S
    deadline_s: float = DEADLINE_S
    answer_bytes: int = ANSWER_BYTES


@dataclass(frozen=True, slots=True)
class Request:
    url: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer, or why there is none. `cut`: there was more of it."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: bool = False
    error: str = ""
    address: str = ""
    duration_ms: int = 0


class _Lever:
    """Ends a connection at the deadline, from another thread.

    It holds a duplicate of the socket: one that is wrapped in TLS meanwhile gives its
    own descriptor away.
    """

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.address = ""
        self.pulled = False
        self._guard = threading.Lock()
        self._held: socket.socket | None = None

    def connect(self, host: str, port: int) -> socket.socket:
        """Connect to a checked address of a name."""
        found = self.gate.resolve(host, port)
        error: OSError = socket.gaierror(f"{host} has no address")
        refused: Refused | None = None
        for address in found[:_MOST_ADDRESSES]:
            try:
                check_address(ip_address(address), self.gate.allowed)
            except Refused as why:
                refused = why
                continue
            try:
                return self._open(address, port)
            except OSError as why:
                error = why
        if refused is not None:
            raise refused
        raise error

    def _open(self, address: str, port: int) -> socket.socket:
        opened = socket.create_connection((address, port), self.gate.connect_s)
        opened.settimeout(self.gate.deadline_s)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._guard:
            self.address = address
            self._held = opened.dup()
        return opened

    def pull(self) -> None:
        with self._guard:
            self.pulled = True
            if self._held is not None:
                with contextlib.suppress(OSError):
                    self._held.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        with self._guard:
            if self._held is not None:
                self._held.close()
                self._held = None


class _Plain(HTTPConnection):
    lever: _Lever

    def _new_conn(self) -> socket.socket:
        return self.lever.connect(self._dns_host, self.port)


class _Secure(HTTPSConnection):
    lever: _Lever

    def _new_conn(self) -> socket.socket:
        return self.lever.connect(self._dns_host, self.port or 443)


def send(request: Request, gate: Gate) -> Outcome:
    """Make one request; whatever happens is told in the outcome."""
    started = time.monotonic()
    try:
        target = read_url(request.url)
    except BadUrl as error:
        return Outcome(error=f"the URL {error}")
    lever = _Lever(gate)
    alarm = threading.Timer(gate.deadline_s, lever.pull)
    alarm.daemon = True
    alarm.start()
    told: dict[str, Any] = {}  # Any: fields of an Outcome
    connection = _connection(target, lever)
    try:
        connection.request(
            request.method,
            target.path,
            body=request.body,
            headers=dict(request.headers),
            preload_content=False,
            decode_content=False,
        )
        with contextlib.closing(connection.getresponse()) as response:
            if lever.pulled:  # headers that were cut off pass for whole ones
                raise TimeoutError
            told |= {"status": response.status, "headers": _headers(response)}
            told["body"], told["cut"] = _read(response, lever)
    except (OSError, HTTPError, http.client.HTTPException, Refused, ValueError) as why:
        told["error"] = _words(why, lever)
    finally:
        alarm.cancel()
        connection.close()
        lever.release()
    spent = round((time.monotonic() - started) * 1000)
    return Outcome(**told, address=lever.address, duration_ms=spent)


def _connection(target: Target, lever: _Lever) -> HTTPConnection:
    kind = _Secure if target.scheme == "https" else _Plain
    made = kind(target.host, target.port, timeout=lever.gate.deadline_s)
    made.lever = lever
    return made


def _read(response: BaseHTTPResponse, lever: _Lever) -> tuple[bytes, bool]:
    """Read what is kept of a body. A status that came is an answer even if it breaks."""
    body, most = b"", lever.gate.answer_bytes
    try:
        while len(body) <= most:
            block = response.read1(_BLOCK, decode_content=False)
            if not block:
                break
            body += block
    except (OSError, HTTPError, http.client.HTTPException):
        return body[:most], True
    return body[:most], lever.pulled or len(body) > most


def _headers(response: BaseHTTPResponse) -> dict[str, str]:
    return {name.lower(): value[:1000] for name, value in response.headers.items()}


def _words(error: Exception, lever: _Lever) -> str:
    """Say what went wrong, without anything that was sent."""
    if lever.pulled or isinstance(error, TimeoutError):
        return f"no answer within {lever.gate.deadline_s:g} s"
    if isinstance(error, Refused):
        return f"refused: {error}"
    if isinstance(error, socket.gaierror):
        return f"the name cannot be resolved: {error.strerror or error}"
    if isinstance(error, OSError) and error.strerror:
        return f"no connection: {error.strerror}"
    return f"{type(error).__name__}: {error}"[:200]
