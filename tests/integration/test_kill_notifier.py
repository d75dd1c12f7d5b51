"""Workers that are killed at any instant: every event arrives, and none gets two ids."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.delivering import FIRST, GREEN
from tests.receiving import receiving
from tests.sending import PATH, Upload, bearer
from tests.serving import Site, kill, site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.kill, pytest.mark.slow, pytest.mark.timeout(600)]

RUNS, KILLS = 24, 25


def subscribe(made: Site, url: str) -> None:
    headers = bearer(made.keys["token"]) | {"Content-Type": "application/json"}
    body = json.dumps({"url": url, "fold": False})
    path = "/api/v1/projects/acme/app/webhooks"
    assert made.request("POST", path, body, headers=headers)[0] == 201


def send(made: Site, n: int) -> None:
    minute = f"2026-03-02T10:{n:02}:00Z"
    report = GREEN if n % 3 == 2 else FIRST
    sent = Upload(
        {"run": f"r{n}", "branch": "main", "started_at": minute},
        [("junit", "a.xml", report)],
    )
    headers = bearer(made.keys["token"]) | {"Content-Type": sent.content_type}
    assert made.request("POST", PATH, sent.body, headers=headers)[0] == 202


def hurry(made: Site) -> None:
    """Let the time of every next try have come."""
    with closing(sqlite3.connect(made.data / "healthboard.db", timeout=20)) as database:
        now = "strftime('%Y-%m-%d %H:%M:%f', 'now')"
        database.execute(
            f"UPDATE notify_delivery SET due_at = {now} WHERE due_at IS NOT NULL"
        )
        database.execute("UPDATE notify_endpoint SET held_until = NULL")
        database.commit()


def test_every_event_arrives_with_one_id_whatever_is_killed(tmp_path: Path):
    seen: Counter[str] = Counter()
    guard = threading.Lock()

    def refuses_first(got):
        with guard:
            seen[got.json["id"]] += 1
            return 400 if seen[got.json["id"]] % 2 else 200

    with (
        receiving() as well,
        receiving(refuses_first) as badly,
        site(tmp_path, HEALTHBOARD_WEBHOOK_ALLOW="127.0.0.0/8") as made,
    ):
        web = made.serve()
        for receiver in (well, badly):
            subscribe(made, receiver.url)
        for n in range(RUNS):
            send(made, n)
        kill(web)
        kills = kill_again_and_again(made)
        worker = made.worker()
        for _ in range(4):
            hurry(made)
            worker.go()
            assert worker.ends() == 0
        facts = made.rows("SELECT type, key, public_id FROM notify_event")
        left = made.rows("SELECT state FROM notify_delivery WHERE state <> 'delivered'")
    assert kills >= 10
    assert left == []
    failed = sum(kind == "run.failed" for kind, _, _ in facts)
    assert failed == RUNS - RUNS // 3
    assert len({(kind, key) for kind, key, _ in facts}) == len(facts)
    ids = {public_id for _, _, public_id in facts}
    for receiver in (well, badly):
        assert {body["id"] for body in receiver.bodies} == ids


def kill_again_and_again(made: Site) -> int:
    """Kill a worker at seeded instants, until there is nothing left to do."""
    choose = random.Random(20260302)
    worker = made.worker()
    kills = 0
    for _ in range(KILLS):
        hurry(made)
        child = worker.go()
        threading.Event().wait(choose.uniform(0.05, 0.6))
        os.kill(child, signal.SIGKILL)
        kills += worker.ends() == -signal.SIGKILL
    return kills
