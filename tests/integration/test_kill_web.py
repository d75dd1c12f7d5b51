"""A web process that is killed while uploads come in loses none and doubles none."""

from __future__ import annotations

import http.client
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.sending import PATH, Upload, bearer
from tests.serving import Site, kill, site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.kill, pytest.mark.slow, pytest.mark.timeout(600)]

SENDERS = 4
EACH = 25
KILLS = 2


def upload(n: int) -> Upload:
    case = b'<testcase classname="m" name="one" time="0.1"/>' * 200
    return Upload(
        {"run": str(n)}, [("junit", "a.xml", b"<testsuite>" + case + b"</testsuite>")]
    )


def test_killing_the_web_process_loses_and_doubles_nothing(tmp_path: Path):
    with site(tmp_path, HEALTHBOARD_RATE="0") as made:
        made.serve()
        answers: dict[int, list[int]] = {n: [] for n in range(SENDERS * EACH)}
        up = threading.Event()
        up.set()

        def deliver(sender: int) -> None:
            for n in range(sender * EACH, (sender + 1) * EACH):
                while not answers[n] or answers[n][-1] >= 500:
                    up.wait(60)
                    answers[n].append(send(made, n))

        with ThreadPoolExecutor(SENDERS) as pool:
            futures = [pool.submit(deliver, sender) for sender in range(SENDERS)]
            kill_now_and_then(made, up, answers)
            for future in futures:
                future.result()

        last = {tries[-1] for tries in answers.values()}
        assert last <= {200, 202}
        tries = sum(map(len, answers.values()))
        assert tries > len(answers), "no kill met an upload"
        rows = made.rows("SELECT delivery_id, body FROM ingest_upload")
        assert sorted(int(key) for key, _ in rows) == sorted(answers)
        kept = {made.data / "inbox" / body for _, body in rows}
        assert kept <= set(made.bodies())
        for key, body in rows:
            assert (made.data / "inbox" / body).read_bytes() == upload(int(key)).body
        # What a kill left half written is of nobody, and goes with the next sweep.
        assert len(made.bodies()) - len(rows) <= SENDERS * KILLS

        worker = made.worker()
        worker.go()
        assert worker.ends() == 0
        done = made.rows(
            "SELECT state, attempts, count(*) FROM ingest_upload GROUP BY 1"
        )
        assert done == [("processed", 1, len(answers))]
        assert made.rows("SELECT count(*) FROM results_run") == [(len(answers),)]


def send(made: Site, n: int) -> int:
    sent = upload(n)
    headers = bearer(made.keys["token"]) | {
        "Content-Type": sent.content_type,
        "Idempotency-Key": str(n),
    }
    try:
        return made.request("POST", PATH, sent.body, headers=headers)[0]
    except (OSError, http.client.HTTPException):
        return 599


def kill_now_and_then(
    made: Site, up: threading.Event, answers: dict[int, list[int]]
) -> None:
    choose = random.Random(7)
    for _ in range(KILLS):
        before = made.number("count(*)")
        made.reaches("count(*)", before + 8)
        threading.Event().wait(choose.uniform(0, 0.05))
        up.clear()
        kill(made.processes[-1])
        made.serve()
        up.set()
