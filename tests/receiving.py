"""A real receiver of webhooks on this machine, that answers as a test tells it."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOPBACK = [ip_network("127.0.0.0/8")]


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """`answer` is asked for each request: a status, or status and headers, or a
    function of the handler that does everything itself."""

    answer: Callable[[Received], Any] = lambda _: 200
    received: list[Received] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def bodies(self) -> list[Any]:
        return [one.json for one in self.received]

    @property
    def types(self) -> list[str]:
        return [body["type"] for body in self.bodies]


@contextlib.contextmanager
def receiving(answer: Callable[[Received], Any] | None = None) -> Iterator[Receiver]:
    receiver = Receiver(*([answer] if answer else []))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            got = Received(self.path, headers, self.rfile.read(length))
            receiver.received.append(got)
            told = receiver.answer(got)
            if callable(told):
                told(self)
                return
            status, more = told if isinstance(told, tuple) else (told, {})
            self.send_response(status)
            for name, value in {"Content-Length": "2", **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.port = server.server_address[1]
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}
    )
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
