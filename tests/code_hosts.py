"""A code host on this machine that behaves as the documented APIs do, errors included."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN, APP_TOKEN = "a-plain-token", "an-installation-token"


class Lost(Exception):
    """What was asked is done, and its answer never arrives."""


@dataclass
class FakeHost:
    """`errors` are answered first, one a request; `lose` loses the answer of the next
    POST of a comment."""

    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    checks: dict[int, dict[str, Any]] = field(default_factory=dict)
    statuses: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    errors: list[tuple[int, dict[str, str], Any]] = field(default_factory=list)
    lose: bool = False
    port: int = 0
    claims: list[str] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def writes(self) -> list[tuple[str, str]]:
        return [one for one in self.asked if one[0] != "GET"]

    def answer(
        self, method: str, target: str, headers: Any, body: Any
    ) -> tuple[int, dict[str, str], Any]:
        parts = urlsplit(target)
        self.asked.append((method, unquote(parts.path)))
        if self.errors:
            return self.errors.pop(0)
        if found := re.fullmatch(r"/app/installations/(\d+)/access_tokens", parts.path):
            self.claims.append(headers["Authorization"].removeprefix("Bearer "))
            return 201, {}, {"token": APP_TOKEN, "expires_at": "2030-01-01T00:00:00Z"}
        token = headers.get("PRIVATE-TOKEN") or str(
            headers.get("Authorization", "")
        ).removeprefix("Bearer ")
        if token not in (TOKEN, APP_TOKEN):
            return 401, {}, {"message": "Bad credentials"}
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        for pattern, act in _ROUTES:
            if found := re.fullmatch(pattern, f"{method} {unquote(parts.path)}"):
                return act(self, found.groups(), query, body, token)
        return 404, {}, {"message": "Not Found"}

    def list_comments(self, names, query, _body, _token):
        size, page = int(query["per_page"]), int(query["page"])
        mine = [one for one in self.comments.values() if one["on"] == names[0]]
        every = sorted(mine, key=lambda one: one["id"])
        return 200, {}, every[(page - 1) * size : page * size]

    def make_comment(self, names, _query, body, _token):
        if len(body["body"]) > 65_536:
            return 422, {}, {"message": "Validation Failed: body is too long"}
        made = {"id": 1000 + len(self.comments), "on": names[0], "body": body["body"]}
        self.comments[made["id"]] = made
        if self.lose:
            self.lose = False
            raise Lost
        return 201, {}, made

    def edit_comment(self, names, _query, body, _token):
        found = self.comments.get(int(names[0]))
        if found is None:
            return 404, {}, {"message": "Not Found"}
        found["body"] = body["body"]
        return 200, {}, found

    def list_checks(self, names, _query, _body, _token):
        runs = [one for one in self.checks.values() if one["head_sha"] == names[0]]
        return 200, {}, {"total_count": len(runs), "check_runs": runs}

    def put_check(self, names, _query, body, token):
        if token != APP_TOKEN:
            message = "Resource not accessible by personal access token"
            return 403, {}, {"message": message}
        output = body["output"]
        if len(output["annotations"]) > 50:
            return 422, {}, {"message": "annotations: no more than 50 items"}
        if len(output["summary"]) > 65_535:
            return 422, {}, {"message": "summary is too long"}
        pk = int(names[0]) if names else 1 + len(self.checks)
        kept = self.checks.setdefault(pk, {"id": pk, "annotations": []})
        kept |= {name: value for name, value in body.items() if name != "output"}
        kept["annotations"] += output["annotations"]
        kept["output"] = {
            "title": output["title"],
            "annotations_count": len(kept["annotations"]),
        }
        return 200 if names else 201, {}, kept

    def put_status(self, names, _query, body, _token):
        state = (names[0], body)
        if "name" in body and state in self.statuses:
            message = "Cannot transition status via :run from :running"
            return 400, {}, {"message": message}
        self.statuses.append(state)
        return 201, {}, {}


_ROUTES = [
    (r"GET /repos/acme/app/issues/(\d+)/comments", FakeHost.list_comments),
    (r"POST /repos/acme/app/issues/(\d+)/comments", FakeHost.make_comment),
    (r"PATCH /repos/acme/app/issues/comments/(\d+)", FakeHost.edit_comment),
    (r"GET /repos/acme/app/commits/(\w+)/check-runs", FakeHost.list_checks),
    (r"POST /repos/acme/app/check-runs", FakeHost.put_check),
    (r"PATCH /repos/acme/app/check-runs/(\d+)", FakeHost.put_check),
    (r"POST /repos/acme/app/statuses/(\w+)", FakeHost.put_status),
    (r"GET /projects/acme/app/merge_requests/(\d+)/notes", FakeHost.list_comments),
    (r"POST /projects/acme/app/merge_requests/(\d+)/notes", FakeHost.make_comment),
    (r"PUT /projects/acme/app/merge_requests/\d+/notes/(\d+)", FakeHost.edit_comment),
    (r"POST /projects/acme/app/statuses/(\w+)", FakeHost.put_status),
]


@contextlib.contextmanager
def hosting() -> Iterator[FakeHost]:
    host = FakeHost()

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            with host.guard:
                try:
                    status, headers, told = host.answer(
                        self.command,
                        self.path,
                        self.headers,
                        json.loads(raw) if raw else None,
                    )
                except Lost:
                    return
            body = json.dumps(told).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_PUT = _any

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    host.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def limited(seconds: int) -> tuple[int, dict[str, str], Any]:
    """The hourly limit is spent."""
    reset = {"X-RateLimit-Reset": str(int(time.time()) + seconds)}
    return 403, {"X-RateLimit-Remaining": "0", **reset}, {"message": "API rate limit"}


def secondary(after: str = "") -> tuple[int, dict[str, str], Any]:
    headers = {"Retry-After": after} if after else {}
    told = {"message": "You have exceeded a secondary rate limit."}
    return 403, headers, told
