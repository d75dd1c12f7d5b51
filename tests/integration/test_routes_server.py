"""Routes of a real web process: the shown samples, and the figures of the evidence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from dashboard.samples import VARIABLE, samples
from ingest.models import RouteKind
from tests.routing import GATE, REVIEW, hub_signed
from tests.sending import signed
from tests.serving import ROOT, Site, kill, site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.kill, pytest.mark.timeout(300)]

KINDS = RouteKind.values
# The files that the samples send.
FILES = {
    "leaks.json": GATE,
    "effects.jsonl": b'{"v": 1, "type": "claim", "n": "a\\nb"}\n',
    "review.md": REVIEW.encode(),
    "event.json": b'{"zen": "50 % of \xc3\xa4\n"}',
}


def make(made: Site, kind: str) -> dict[str, str]:
    """Make a route by the command, as an operator does."""
    command = [sys.executable, "manage.py", "route", "create", "acme/app", kind]
    done = subprocess.run(
        [*command, "--json"],
        cwd=ROOT,
        env=made.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, str] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("data")) as made:
        made.serve()
        yield made


@pytest.mark.parametrize("kind", KINDS)
def test_the_samples_sign_and_send(served: Site, tmp_path: Path, kind: str):
    route = make(served, kind)
    for name, content in FILES.items():
        # Without an id of its own the same body would be the same delivery.
        (tmp_path / name).write_bytes(content + b" " * KINDS.index(kind))
    url = f"http://127.0.0.1:{served.port}{route['path']}"
    shown = samples(kind, url=url, secret=route["secret"])
    assert shown.export == f"export {VARIABLE}='{route['secret']}'"
    said = []
    for command in (
        ["bash", "-euc", f"{shown.export}\n{shown.curl}"],
        [
            "bash",
            "-euc",
            f'{shown.export}\nexec "$0" -c "$1"',
            sys.executable,
            shown.python,
        ],
    ):
        done = subprocess.run(
            command, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        said.append(done.stdout)
    assert json.loads(said[0])["status"] == "accepted"
    assert said[1].startswith("200 ")
    assert '"duplicate"' in said[1]
    refused = subprocess.run(
        ["bash", "-euc", f"export {VARIABLE}=wrong\n{shown.curl}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert '"status": 401' in refused.stdout


def post(
    made: Site, path: str, body: bytes, headers: dict[str, str]
) -> tuple[int, dict[str, Any]]:
    return made.request("POST", path, body, headers=headers)


def test_a_chunked_body_is_admitted(served: Site):
    route = make(served, "github")
    body = b'{"zen": "piece by piece"}'
    headers = hub_signed(body, route["secret"])
    pieces = (body[at : at + 7] for at in range(0, len(body), 7))
    status, _ = served.request(
        "POST", route["path"], pieces, headers=headers, encode_chunked=True
    )
    assert status == 202


def test_the_figures_of_the_shared_evidence(tmp_path: Path, shared: Path):
    evidence = json.loads((shared / "samples/webhook-evidence.json").read_text())
    with site(tmp_path) as made:
        first = made.serve()
        route = make(made, "review")
        path, secret = route["path"], route["secret"]
        one, two = REVIEW.encode(), REVIEW.encode() + b"\n"

        status, _ = post(made, path, one, signed(one, "wrong"))
        assert status == evidence["invalid_hmac_status"]
        assert made.number("count(*)") == evidence["rows_after_invalid_hmac"]

        inbox = made.data / "inbox"
        inbox.rename(made.data / "aside")
        inbox.write_text("a file where the inbox should be")
        status, _ = post(made, path, one, signed(one, secret))
        assert status == evidence["admission_failure_status"]
        assert made.number("count(*)") == evidence["rows_after_admission_failure"]
        inbox.unlink()
        (made.data / "aside").rename(inbox)

        statuses = [post(made, path, one, signed(one, secret))[0] for _ in range(2)]
        assert statuses == [evidence["first_status"], evidence["duplicate_status"]]

        proof = signed(two, secret)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: post(made, path, two, proof), range(8)))
        found = sorted(answer[0] for answer in answers)
        assert found == evidence["concurrent_statuses"]

        kill(first)
        made.serve()
        status, _ = post(made, path, one, signed(one, secret))
        assert status == evidence["restart"]["duplicate_status"]

        worker = made.worker()
        worker.go()
        assert worker.ends() == 0
        done = made.rows("SELECT state, attempts FROM ingest_upload")
        assert len(done) == evidence["final_rows"]
        assert done == [("processed", 1)] * evidence["final_processings"]
