"""Healthboard as CI and a reader meet it: one running server, HTTP and nothing else."""

from __future__ import annotations

import http.client
import http.cookiejar
import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.sending import PATH, Upload, bearer
from tests.services.serving import ROOT, Serve, environment, prepared, serving
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    type Json = Any  # what an answer holds is for the test to say
    type File = tuple[str, str, bytes]

SLUGS = [f"acme/app-{number}" for number in range(120)]
# One process for all projects, as starting one is what takes time.
_MAKE = """
import json, sys, django
django.setup()
from projects.creation import create_project
made = [create_project(slug, actor="test") for slug in json.load(sys.stdin)]
print(json.dumps([[m.project.slug, m.token, m.webhook_secret] for m in made]))
"""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Json:
        return json.loads(self.body)


@dataclass(frozen=True)
class Project:
    """A project of the running server, with its secrets."""

    server: Serve
    port: int
    slug: str
    token: str
    secret: str

    @property
    def path(self) -> str:
        return f"/api/v1/projects/{self.slug}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with closing(connection):
            given = bearer(self.token) if headers is None else headers
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def get(self, path: str, **query: Any) -> Json:
        """GET what must be there; the JSON of it."""
        if query:
            path += "?" + urllib.parse.urlencode(query)
        answer = self.ask("GET", path)
        assert answer.status == 200, (path, answer.body)
        return answer.json

    def items(self, path: str, **query: Any) -> list[Json]:
        """Walk a list to its end."""
        found, cursor = [], None
        while True:
            page = self.get(path, **query, **({"cursor": cursor} if cursor else {}))
            found += page["items"]
            cursor = page["next"]
            if cursor is None:
                return found

    def send(
        self,
        context: dict[str, Any] | bytes | None = None,
        *files: File,
        **headers: str,
    ) -> Answer:
        """POST an upload; `headers` replace the token and add to what is needed."""
        upload = Upload(context, list(files)) if files else Upload(context)
        sent = {"Content-Type": upload.content_type} | bearer(self.token)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask("POST", PATH, upload.body, sent | named)

    def give(self, context: dict[str, Any], *files: File, **headers: str) -> int:
        """Send what must be admitted; its id."""
        answer = self.send(context, *files, **headers)
        assert answer.status in (200, 202), (answer.status, answer.body)
        number: int = answer.json["id"]
        return number

    def settle(self) -> None:
        """Wait until all that was sent is on every page."""
        until(
            lambda: self.get(f"{self.path}/status")["pending"] == 0,
            what=f"{self.slug} is up to date",
        )

    def upload(self, number: int) -> Json:
        return self.get(f"/api/v1/uploads/{number}")

    def processed(self, number: int) -> Json:
        self.settle()
        return self.upload(number)

    def run_of(self, number: int) -> Json:
        """The run that an upload went into."""
        told = self.processed(number)
        assert told["run"] is not None, told
        return self.get(f"/api/v1/runs/{told['run']}")

    def results(self, run: Json, **query: Any) -> list[Json]:
        return self.items(f"/api/v1/runs/{run['id']}/results", **query)

    def outcomes(self, run: Json) -> dict[str, str]:
        """What each test of a run came to."""
        return {one["nodeid"]: one["outcome"] for one in self.results(run)}


class Person:
    """Somebody with a browser: pages, forms, a session."""

    def __init__(self, server: Serve) -> None:
        jar = http.cookiejar.CookieJar()
        cookies = urllib.request.HTTPCookieProcessor(jar)
        self._address = server.address
        self._browser = urllib.request.build_opener(cookies)
        shown = until(
            lambda: re.search(r"Sign in as (\w+) with (\S+)", server.text),
            what="the sign-in is shown",
        )
        self.fill("/sign-in", username=shown[1], password=shown[2])

    def read(self, path: str, data: bytes | None = None) -> str:
        request = urllib.request.Request(self._address + path, data)
        request.add_header("Referer", self._address + path)
        with self._browser.open(request, timeout=30) as page:
            return str(page.read().decode())

    def fill(self, path: str, *, page: str = "", **fields: str | list[str]) -> str:
        """Fill the form of a page and send it; the page that answers."""
        found = re.search(
            r'name="csrfmiddlewaretoken" value="(\w+)"', self.read(page or path)
        )
        assert found, path
        sent = {"csrfmiddlewaretoken": found[1], **fields}
        return self.read(path, urllib.parse.urlencode(sent, doseq=True).encode())


@dataclass
class Outside:
    """A running server, and the projects that nobody has used yet."""

    server: Serve
    fresh: list[Project] = field(default_factory=list)

    def project(self) -> Project:
        return self.fresh.pop()


def outside(home: Path) -> Iterator[Outside]:
    data = prepared(home / "data")
    limits = {"HEALTHBOARD_RATE": "100000", "HEALTHBOARD_BURST": "100000"}
    made = json.loads(_projects(data))
    with serving(data, **limits) as server:
        port = server.port
        yield Outside(server, [Project(server, port, *one) for one in reversed(made)])


def _projects(data: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", _MAKE],
        input=json.dumps(SLUGS),
        env=environment(data, DJANGO_SETTINGS_MODULE="healthboard.settings"),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def report(*cases: str, suite: str = "kitchen", **attributes: str) -> bytes:
    """A report of the cases: `name`, or `name: what is inside the element`."""
    said = "".join(f' {name}="{value}"' for name, value in attributes.items())
    inside = "".join(_case(each) for each in cases)
    return f'<testsuite name="{suite}"{said}>{inside}</testsuite>'.encode()


def _case(case: str) -> str:
    name, _, inside = case.partition(": ")
    return f'<testcase classname="kitchen.tea" name="{name}">{inside}</testcase>'


def junit(*cases: str, name: str = "r.xml", **attributes: str) -> File:
    return ("junit", name, report(*cases, **attributes))


def trace(*lines: dict[str, Any], name: str = "order.jsonl") -> File:
    return ("order", name, jsonl(lines))


def jsonl(lines: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
