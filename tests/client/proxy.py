"""A network that fails on demand, between the client and the real server.

Each connection takes the next fault of the script; after its end all pass.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

BLOCK = 65536
LINGER = struct.pack("ii", 1, 0)  # closing sends a reset


@dataclass
class Proxy:
    """Listens on `port` and passes on to the server."""

    server: int
    script: list[str]
    port: int = 0
    met: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    _listener: socket.socket | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self) -> None:
        assert self._listener is not None
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed: the test is over
            fault = self.script.pop(0) if self.script else "pass"
            self.met.append(fault)
            with contextlib.suppress(ConnectionError), client:
                try:
                    FAULTS[fault](self, client)
                except (AssertionError, LookupError) as error:
                    self.errors.append(error)

    def forwarded(self, request: bytes) -> bytes:
        """Let the server do the work; return its whole answer."""
        with socket.create_connection(("127.0.0.1", self.server), timeout=30) as up:
            up.sendall(request)
            answer = b""
            while block := up.recv(BLOCK):
                answer += block
        return answer


def request_of(client: socket.socket) -> bytes:
    """Read a whole request, as its Content-Length says."""
    data = b""
    while b"\r\n\r\n" not in data:
        block = client.recv(BLOCK)
        if not block:
            return data
        data += block
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    missing = (lengths[0] if lengths else 0) - len(body)
    while missing > 0:
        block = client.recv(BLOCK)
        if not block:
            break
        data += block
        missing -= len(block)
    return data


def _pass(proxy: Proxy, client: socket.socket) -> None:
    client.sendall(proxy.forwarded(request_of(client)))


def _reset_at_once(proxy: Proxy, client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)


def _reset_midway(proxy: Proxy, client: socket.socket) -> None:
    client.recv(100)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)


def _no_answer(proxy: Proxy, client: socket.socket) -> None:
    """The server has it, and the client never hears of it."""
    proxy.forwarded(request_of(client))


def _half_head(proxy: Proxy, client: socket.socket) -> None:
    client.sendall(proxy.forwarded(request_of(client))[:12])


def _half_body(proxy: Proxy, client: socket.socket) -> None:
    client.sendall(proxy.forwarded(request_of(client))[:-5])


def _slow(proxy: Proxy, client: socket.socket) -> None:
    """One byte at a time, as over a bad line."""
    for byte in proxy.forwarded(request_of(client)):
        client.sendall(bytes([byte]))


def _answer(status: str, *headers: str) -> Callable[[Proxy, socket.socket], None]:
    def answer(proxy: Proxy, client: socket.socket) -> None:
        request_of(client)
        lines = [f"HTTP/1.1 {status}", "Content-Length: 0", *headers, "", ""]
        client.sendall("\r\n".join(lines).encode())

    return answer


def _early(proxy: Proxy, client: socket.socket) -> None:
    """Refuse before the body was read, as a proxy with a limit does."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += client.recv(1024)
    client.sendall(
        b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    client.shutdown(socket.SHUT_WR)
    while client.recv(BLOCK):
        pass


def _nonsense(proxy: Proxy, client: socket.socket) -> None:
    request_of(client)
    client.sendall(b"SSH-2.0-Nothing\r\n\r\n")


FAULTS: dict[str, Callable[[Proxy, socket.socket], Any]] = {
    "pass": _pass,
    "reset": _reset_at_once,
    "reset midway": _reset_midway,
    "no answer": _no_answer,
    "half head": _half_head,
    "half body": _half_body,
    "slow": _slow,
    "503": _answer("503 Service Unavailable", "Retry-After: 7"),
    "502": _answer("502 Bad Gateway"),
    "429": _answer("429 Too Many Requests", "Retry-After: 3"),
    "401": _answer("401 Unauthorized"),
    "422": _answer("422 Unprocessable Content"),
    "moved": _answer("301 Moved Permanently", "Location: http://127.0.0.1:9/"),
    "413 early": _early,
    "nonsense": _nonsense,
}


@contextlib.contextmanager
def proxying(server: int, *script: str) -> Iterator[Proxy]:
    """A proxy before the server on this port, for as long as the block lasts."""
    proxy = Proxy(server, list(script))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy.port, proxy._listener = listener.getsockname()[1], listener
        thread = threading.Thread(target=proxy.serve, daemon=True)
        thread.start()
        yield proxy
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(timeout=30)
    assert not thread.is_alive()
    assert proxy.errors == []
