"""Uploads as clients of all kinds put them on the wire, to a running server."""

from __future__ import annotations

import gzip
import http.client
import re
import shutil
import socket
import subprocess
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from tests.outside import junit
from tests.sending import PASSED, PATH, Upload, bearer, signed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.outside import Answer, Outside, Project

pytestmark = [pytest.mark.kill, pytest.mark.timeout(120)]

PROBLEM = "application/problem+json"


@pytest.fixture(scope="module")
def project(running: Outside) -> Project:
    return running.project()


@pytest.fixture
def upload() -> Upload:
    """An upload that nobody has sent before."""
    return Upload({"run": uuid.uuid4().hex})


def on_the_wire(
    project: Project,
    body: bytes,
    *lines: str,
    version: str = "1.1",
    path: str = PATH,
    token: str | None = "Bearer {token}",
    kind: str = Upload().content_type,
    length: int | None = -1,
) -> tuple[int, bytes]:
    """Send one request byte by byte as it is written here; the status and the rest."""
    head = [f"POST {path} HTTP/{version}", "Host: localhost", "Connection: close"]
    head += [f"Content-Type: {kind}"] if kind else []
    if token is not None:
        head.append("Authorization: " + token.format(token=project.token))
    if length is not None:
        head.append(f"Content-Length: {len(body) if length < 0 else length}")
    head += lines
    with socket.create_connection(("127.0.0.1", project.port), timeout=30) as sending:
        sending.sendall("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body)
        answer = b"".join(iter(lambda: sending.recv(65536), b""))
    answer = re.sub(rb"\AHTTP/1.1 100 Continue\r\n\r\n", b"", answer)
    found = re.match(rb"HTTP/1\.[01] (\d+) ", answer)
    assert found, answer
    return int(found[1]), answer


TOLD = [
    ({}, 202),
    ({"version": "1.0"}, 202),
    ({"path": PATH + "/"}, 202),
    ({"token": "bearer {token}"}, 202),
    ({"token": "BEARER   {token}  "}, 202),
    ({"token": "Basic {token}"}, 401),
    ({"token": "Bearer"}, 401),
    ({"token": "Bearer {token}x"}, 401),
    ({"token": "{token}"}, 401),
    ({"token": None}, 401),
    ({"kind": 'multipart/form-data; boundary="a-boundary-of-ours"'}, 202),
    ({"kind": "multipart/form-data; boundary=a-boundary-of-ours; charset=utf-8"}, 202),
    ({"kind": "multipart/form-data; charset=x; boundary=a-boundary-of-ours"}, 202),
    ({"kind": "Multipart/Form-Data; Boundary=a-boundary-of-ours"}, 202),
    ({"kind": "multipart/form-data; boundary=another"}, 400),
    ({"kind": "multipart/form-data; boundary="}, 400),
    ({"kind": "multipart/form-data"}, 400),
    ({"kind": "multipart/mixed; boundary=a-boundary-of-ours"}, 400),
    ({"kind": "application/json"}, 400),
    ({"kind": ""}, 400),
    ({"length": 20}, 400),
    ({"length": 0}, 400),
    ({"path": PATH + "?project=other/project"}, 403),
    ({"path": PATH + "?run=1"}, 422),
    ({"path": "/api/v1/upload"}, 404),
    ({"path": "/api/v2/uploads"}, 404),
]
HEADERS = [
    (["Expect: 100-continue"], 202),
    (["Content-Encoding: identity"], 202),
    (["Content-Encoding: br"], 415),
    (["Content-Encoding: gzip, gzip"], 415),
    (["Content-Encoding: gzip"], 400),
    (["Content-Encoding: zstd"], 400),
    (["Authorization: Bearer other"], 401),
    (["Idempotency-Key: " + "k" * 201], 422),
    (["Idempotency-Key: soft\xadhyphen"], 422),
    (["Idempotency-Key:  "], 202),
]


@pytest.mark.parametrize(("options", "status"), TOLD, ids=str)
def test_a_request_is_answered(project: Project, upload: Upload, options, status):
    found, answer = on_the_wire(project, upload.body, **options)
    assert found == status, answer
    assert (PROBLEM.encode() in answer) == (status >= 400)


@pytest.mark.parametrize(("lines", "status"), HEADERS, ids=str)
def test_a_header_is_answered(project: Project, upload: Upload, lines, status):
    found, answer = on_the_wire(project, upload.body, *lines)
    assert found == status, answer
    assert (PROBLEM.encode() in answer) == (status >= 400)


def test_nothing_refused_leaves_a_trace(running: Outside):
    fresh = running.project()
    for options, status in TOLD:
        if status >= 400:
            on_the_wire(fresh, Upload({"run": "r"}).body, **options)
    fresh.settle()
    assert fresh.items(f"{fresh.path}/runs") == []
    assert fresh.get(f"{fresh.path}/status")["last_processed_at"] is None


PACKED = {
    "gzip": gzip.compress,
    "GZIP": gzip.compress,
    "x-gzip": gzip.compress,
    "zstd": zstandard.compress,
}


def packed(project: Project, body: bytes, coding: str) -> Answer:
    headers = {"Content-Type": Upload().content_type, "Content-Encoding": coding}
    return project.ask("POST", PATH, body, headers | bearer(project.token))


@pytest.mark.parametrize("coding", PACKED)
def test_a_packed_body_is_the_same_upload(project: Project, upload, coding):
    raw = PACKED[coding](upload.body)
    first = packed(project, raw, coding)
    assert first.status == 202
    again = project.send(upload.context, *upload.files)
    assert (again.status, again.json["id"]) == (200, first.json["id"])
    number = first.json["id"]
    assert project.ask("GET", f"{PATH}/{number}/raw").body == raw
    assert project.ask("GET", f"{PATH}/{number}/files/1").body == PASSED


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_damaged_packed_body_is_400(project: Project, upload: Upload, coding):
    raw = PACKED[coding](upload.body)
    for bad in (raw[:-6], raw[:10], b"", b"junk" + raw, raw + b"junk"):
        assert packed(project, bad, coding).status == 400, bad


def test_what_does_not_matter_does_not_make_another_upload(project: Project):
    files = [junit("a", name="1.xml"), junit("b", name="2.xml")]
    first = project.give({"run": "same", "attempt": 1}, *files)
    others = [
        Upload({"run": "same"}, files, boundary="another-boundary"),
        Upload({"run": "same"}, files[::-1]),
        Upload(b'{"complete": true, "run": "same", "pr": null}', files),
    ]
    for other in others:
        headers = {"Content-Type": other.content_type} | bearer(project.token)
        answer = project.ask("POST", PATH, other.body, headers)
        assert (answer.status, answer.json["id"]) == (200, first)


def test_another_body_with_the_same_id_is_a_conflict(running: Outside, project):
    sender, other = project, running.project()
    assert sender.send({"run": "1"}, Idempotency_Key="key").status == 202
    assert sender.send({"run": "1"}, Idempotency_Key="key").status == 200
    assert sender.send({"run": "2"}, Idempotency_Key="key").status == 409
    assert sender.send({"run": "3"}, X_Request_ID="key").status == 409
    assert other.send({"run": "2"}, Idempotency_Key="key").status == 202


def test_of_eight_senders_one_is_the_first(project: Project, upload: Upload):
    def send(_: int) -> Answer:
        return project.send(upload.context, *upload.files)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert sorted(answer.status for answer in answers) == [200] * 7 + [202]
    assert len({answer.json["id"] for answer in answers}) == 1


def sign(project: Project, secret: str, **changed: Any) -> Answer:
    at = changed.pop("at", 0)
    upload = Upload({"run": uuid.uuid4().hex, **changed.pop("context", {})})
    headers = signed(upload.body, secret, at=time.time() + at)
    headers |= {"Content-Type": upload.content_type} | changed.pop("headers", {})
    query = changed.pop("query", f"?project={project.slug}")
    return project.ask("POST", PATH + query, upload.body, headers)


def test_a_signature_is_as_good_as_a_token(running: Outside, project: Project):
    stranger = running.project()
    refused = [
        sign(project, "wrong"),
        sign(project, project.secret, query=""),
        sign(project, project.secret, query="?project=no/body"),
        sign(project, project.secret, query=f"?project={stranger.slug}"),
        sign(project, project.secret, at=-302),
        sign(project, project.secret, at=302),
        *(
            sign(project, project.secret, headers={"X-Webhook-Timestamp": stamp})
            for stamp in ("", "-1", "1.5", "9" * 400, str(int(time.time()) - 1))
        ),
    ]
    assert [answer.status for answer in refused] == [401] * len(refused)
    assert len({answer.body for answer in refused}) == 1
    assert sign(project, project.secret).status == 202
    by_context = sign(
        project, project.secret, query="", context={"project": project.slug}
    )
    assert by_context.status == 202
    assert sign(project, project.secret, at=-297).status == 202
    assert sign(project, project.secret, at=297).status == 202


def test_a_signature_covers_every_byte(project: Project, upload: Upload):
    headers = signed(upload.body, project.secret)
    headers["Content-Type"] = upload.content_type
    path = f"{PATH}?project={project.slug}"
    for body in (upload.body + b"\n", upload.body[:-1], b"\n" + upload.body):
        assert project.ask("POST", path, body, headers).status == 401
    assert project.ask("POST", path, upload.body, headers).status == 202


def test_a_connection_that_is_kept_takes_one_upload_after_another(project: Project):
    """Also behind one that was refused before its body was read."""
    connection = http.client.HTTPConnection("127.0.0.1", project.port, timeout=30)
    statuses = []
    for token in (project.token, "wrong", project.token):
        upload = Upload({"run": uuid.uuid4().hex})
        headers = {"Content-Type": upload.content_type} | bearer(token)
        connection.request("POST", PATH, upload.body, headers)
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
    connection.close()
    assert statuses == [202, 401, 202]


NAMES = [
    "plain.xml",
    "with space.xml",
    "bé 中 😀.xml",
    "it's (1);x=y.xml",
    'q"uote.xml',
]


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl here")
@pytest.mark.parametrize("name", NAMES)
def test_curl_sends_files_of_any_name(project: Project, tmp_path: Path, name: str):
    path = tmp_path / "file.xml"
    path.write_bytes(PASSED)
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    done = subprocess.run(
        [
            *("curl", "-sS", "-H", f"Authorization: Bearer {project.token}"),
            *("-F", f'context={{"run": "{uuid.uuid4().hex}"}}'),
            *("-F", f'junit=@{path};filename="{quoted}"'),
            f"http://127.0.0.1:{project.port}{PATH}",
        ],
        capture_output=True,
        check=True,
    )
    number = re.search(rb'"id": (\d+)', done.stdout)
    assert number, done.stdout
    upload = project.processed(int(number[1]))
    assert (upload["state"], upload["files"][0]["name"]) == ("processed", name)
