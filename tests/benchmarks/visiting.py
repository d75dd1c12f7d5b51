"""A browser and a CI client for one running `serve`: connections are kept open."""

from __future__ import annotations

import http.client
import json
import re
import time
import uuid
from urllib.parse import urlencode

from tests.sending import Upload

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
POLL_S = 0.01


class Visitor:
    """One connection, with a token or with the cookies of a person who signed in."""

    def __init__(self, port: int, *, token: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._token = token
        self._cookies: dict[str, str] = {}

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, bytes]:
        sent = {"Host": "localhost", **(headers or {})}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        if self._cookies:
            sent["Cookie"] = "; ".join(f"{k}={v}" for k, v in self._cookies.items())
        self._connection.request(method, path, body, sent)
        answer = self._connection.getresponse()
        for said in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = said.partition(";")[0].partition("=")
            self._cookies[name] = value
        return answer.status, answer.read()

    def sign_in(self, password: str, *, origin: str) -> None:
        _, page = self.ask("GET", "/sign-in")
        found = re.search(rb'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found, page
        fields = {
            "username": "admin",
            "password": password,
            "csrfmiddlewaretoken": found[1].decode(),
        }
        body = urlencode(fields).encode()
        status, page = self.ask("POST", "/sign-in", body, {**FORM, "Origin": origin})
        assert status == 302, page

    def send(self, upload: bytes, *, encoding: str = "") -> int:
        """Post a multipart body; return the upload's number."""
        headers = {
            "Content-Type": Upload().content_type,
            "Idempotency-Key": uuid.uuid4().hex,
            **({"Content-Encoding": encoding} if encoding else {}),
        }
        status, answer = self.ask("POST", "/api/v1/uploads", upload, headers)
        assert status == 202, answer
        return int(json.loads(answer)["id"])

    def run_of(self, upload: int) -> int:
        """Ask until an upload is processed; return its run."""
        while True:
            _, answer = self.ask("GET", f"/api/v1/uploads/{upload}")
            told = json.loads(answer)
            if told["state"] == "processed":
                return int(told["run"])
            assert told["state"] in ("admitted", "processing"), told
            time.sleep(POLL_S)
