"""Admission by a real web process: concurrency, restarts, slow and endless bodies."""

from __future__ import annotations

import gzip
import io
import json
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.sending import PATH, Upload, bearer, signed
from tests.serving import Site, kill, site
from tests.waiting import until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

pytestmark = [pytest.mark.kill, pytest.mark.timeout(300)]

MIB = 2**20
CAP = 16 * MIB


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(
        tmp_path_factory.mktemp("data"),
        HEALTHBOARD_MAX_WIRE_BYTES=str(CAP),
        HEALTHBOARD_MAX_UNPACKED_BYTES=str(4 * CAP),
    ) as made:
        made.serve()
        yield made


@pytest.fixture(scope="module")
def acme(served: Site) -> dict[str, str]:
    return served.keys


@pytest.fixture
def web(served: Site) -> subprocess.Popen[str]:
    return served.processes[-1]


def send(
    served: Site, upload: Upload, headers: dict[str, str]
) -> tuple[int, dict[str, Any]]:
    headers = {"Content-Type": upload.content_type} | headers
    return served.request("POST", PATH, upload.body, headers=headers)


def count(served: Site) -> int:
    return served.number("count(*)")


def test_the_figures_of_the_shared_evidence(tmp_path: Path, shared: Path):
    evidence = json.loads((shared / "samples/webhook-evidence.json").read_text())
    with site(tmp_path) as made:
        first = made.serve()
        keys = made.keys
        one = Upload({"project": "acme/app", "run": "1"})
        two = Upload({"project": "acme/app", "run": "2"})

        status, _ = send(made, one, signed(one.body, "wrong"))
        assert status == evidence["invalid_hmac_status"]
        assert count(made) == evidence["rows_after_invalid_hmac"]

        inbox = made.data / "inbox"
        inbox.rename(made.data / "aside")
        inbox.write_text("a file where the inbox should be")
        status, _ = send(made, one, signed(one.body, keys["webhook_secret"]))
        assert status == evidence["admission_failure_status"]
        assert count(made) == evidence["rows_after_admission_failure"]
        inbox.unlink()
        (made.data / "aside").rename(inbox)

        signature = signed(one.body, keys["webhook_secret"])
        statuses = [send(made, one, signature)[0] for _ in range(2)]
        expected = [evidence["first_status"], evidence["duplicate_status"]]
        assert statuses == expected

        signature = signed(two.body, keys["webhook_secret"])
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: send(made, two, signature), range(8)))
        assert (
            sorted(answer[0] for answer in answers) == evidence["concurrent_statuses"]
        )

        kill(first)
        made.serve()
        later = signed(one.body, keys["webhook_secret"])
        status, _ = send(made, one, later)
        assert status == evidence["restart"]["duplicate_status"]

        worker = made.worker()
        worker.go()
        assert worker.ends() == 0
        done = made.rows("SELECT state, attempts FROM ingest_upload")
        assert len(done) == evidence["final_rows"]
        assert done == [("processed", 1)] * evidence["final_processings"]


def test_a_chunked_body_is_admitted(served: Site, acme):
    upload = Upload({"run": "chunked"})
    headers = bearer(acme["token"]) | {"Content-Type": upload.content_type}
    pieces = [upload.body[at : at + 7] for at in range(0, len(upload.body), 7)]
    status, _ = served.request(
        "POST", PATH, iter(pieces), headers=headers, encode_chunked=True
    )
    assert status == 202
    assert send(served, upload, bearer(acme["token"]))[0] == 200


def connect(served: Site) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", served.port), timeout=30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def head(upload: Upload, token: str, *more: str) -> bytes:
    lines = [
        f"POST {PATH} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {token}",
        f"Content-Type: {upload.content_type}",
        *more,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def status_of(connection: socket.socket) -> int:
    answer = connection.makefile("rb").readline()
    found = re.match(rb"HTTP/1.1 (\d+)", answer)
    assert found, answer
    return int(found[1])


def test_a_body_that_comes_byte_by_byte_is_admitted(served: Site, acme):
    upload = Upload({"run": "slow"})
    with connect(served) as connection:
        length = f"Content-Length: {len(upload.body)}"
        for byte in head(upload, acme["token"], length) + upload.body:
            connection.sendall(bytes([byte]))
        assert status_of(connection) == 202


def test_a_body_torn_off_anywhere_leaves_nothing(served: Site, acme):
    upload = Upload({"run": "torn"})
    rows, files = count(served), len(served.bodies())
    for framing in (
        f"Content-Length: {len(upload.body)}",
        "Transfer-Encoding: chunked",
    ):
        for end in range(0, len(upload.body), 5):
            with connect(served) as connection:
                sent = upload.body[:end]
                if framing.startswith("T"):
                    sent = b"%x\r\n%b" % (len(upload.body), sent)
                connection.sendall(head(upload, acme["token"], framing) + sent)
                connection.shutdown(socket.SHUT_WR)
                assert status_of(connection) == 400
    until(lambda: len(served.bodies()) == files, what="the body is gone")
    assert count(served) == rows


@pytest.mark.parametrize("chunk", [b"zz\r\n", b"-5\r\nabcde\r\n", b"5\r\nabcdeXX\r\n"])
def test_chunks_that_are_none_are_400(served: Site, acme, chunk: bytes):
    upload = Upload()
    with connect(served) as connection:
        start = head(upload, acme["token"], "Transfer-Encoding: chunked")
        connection.sendall(start + chunk)
        assert status_of(connection) == 400


def peak_memory(web: subprocess.Popen[str]) -> int:
    """The most bytes that any process of the web server ever held."""
    children = Path(f"/proc/{web.pid}/task/{web.pid}/children").read_text().split()
    peaks = [
        re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        for pid in (str(web.pid), *children)
    ]
    return max(int(found[1]) * 1024 for found in peaks if found)


def test_large_bodies_pass_in_flat_memory(served: Site, acme, web):
    before = peak_memory(web)
    files = [("junit", "a.xml", bytes(15 * MIB))]
    assert (
        send(served, Upload({"run": "large"}, files), bearer(acme["token"]))[0] == 202
    )
    assert peak_memory(web) - before < 12 * MIB


def test_a_bomb_is_413_in_flat_memory(served: Site, acme, web):
    rows, before = count(served), peak_memory(web)
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as file:
        file.write(Upload(files=[("junit", "a.xml", b"@")]).body.partition(b"@")[0])
        for _ in range(300):
            file.write(bytes(MIB))
    headers = bearer(acme["token"]) | {
        "Content-Type": Upload().content_type,
        "Content-Encoding": "gzip",
    }
    status, problem = served.request("POST", PATH, packed.getvalue(), headers=headers)
    assert (status, problem["status"]) == (413, 413)
    assert peak_memory(web) - before < 12 * MIB
    assert count(served) == rows


@pytest.mark.parametrize("announced", [True, False], ids=["length", "chunked"])
def test_a_client_that_is_over_the_cap_reads_its_413(served: Site, acme, announced):
    upload = Upload(files=[("junit", "a.xml", bytes(CAP + 6 * MIB))])
    headers = bearer(acme["token"]) | {"Content-Type": upload.content_type}
    body = upload.body
    pieces = (body[at : at + MIB] for at in range(0, len(body), MIB))
    if announced:
        headers["Content-Length"] = str(len(body))
    rows, files = count(served), len(served.bodies())
    status, problem = served.request(
        "POST", PATH, pieces, headers=headers, encode_chunked=not announced
    )
    assert (status, problem["status"]) == (413, 413)
    assert (count(served), len(served.bodies())) == (rows, files)


def test_who_waits_to_be_refused_before_sending_is_answered(served: Site, acme):
    with connect(served) as connection:
        length = f"Content-Length: {CAP + 1}"
        connection.sendall(head(Upload(), acme["token"], length))
        assert status_of(connection) == 413
