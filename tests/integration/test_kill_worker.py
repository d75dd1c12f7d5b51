"""Workers that are killed at any instant leave the facts of one undisturbed run."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.reviewing import finding, ledger, review
from tests.sending import PATH, Upload, bearer
from tests.serving import Site, ending, kill, site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serving import Worker

pytestmark = [pytest.mark.kill, pytest.mark.slow, pytest.mark.timeout(600)]

UPLOADS = 40
KILLS = 60
BAD = b"<testsuite><testcase"
# What two histories of the same uploads must have in common, whatever was killed.
FACTS = """
SELECT 'run', r.name, r.outcome, r.tests, r.passed, r.failed, r.skipped, r.flaky,
       r.conflicts, r.problems, r.completeness, r.day, r.reported, r.duration_s
  FROM results_run r
UNION ALL SELECT 'shard', s.upload_id, r.name, s."index", s.attempt, s.tests, s.kinds,
       s.damage, s.notes, s.file_digests, s.reported, s.duration_s, NULL, NULL
  FROM results_shard s JOIN results_run r ON r.id = s.run_id
UNION ALL SELECT 'block', s.upload_id, b.chunk, hex(b.data), NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM results_block b JOIN results_shard s ON s.id = b.shard_id
UNION ALL SELECT 'failure', s.upload_id, t.nodeid, f.attempt, f.outcome, hex(d.digest),
       d.message, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM results_failure f JOIN results_shard s ON s.id = f.shard_id
  JOIN results_testcase t ON t.id = f.test_id JOIN results_detail d ON d.id = f.detail_id
UNION ALL SELECT 'case', t.number, t.nodeid, hex(t.key), NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL FROM results_testcase t
UNION ALL SELECT 'day', d.date, d.branch_class, hex(d.data), d.totals, d.dirty, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM results_day d
UNION ALL SELECT 'upload', u.id, u.state, u.errors, u.warnings, u.failure, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL FROM ingest_upload u
UNION ALL SELECT 'finding', f.source, f.pr, f.key, f.state, f.seen_count, f.first_seen,
       f.last_seen, f.rank, c.key, f.history, NULL, NULL, NULL
  FROM findings_finding f JOIN findings_cluster c ON c.id = f.cluster_id
UNION ALL SELECT 'review', r.upload_id, r.file, r.counts, r.raised, hex(r.content), NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM findings_review r
UNION ALL SELECT 'effect', l.upload_id, l.file, l.current, e.number, e.verdict, e.detail,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM findings_effect e JOIN findings_ledger l ON l.id = e.ledger_id
"""


def report(n: int) -> bytes:
    """Sixty tests, of which some fail with a text that is this report's own."""
    choose = random.Random(n)
    cases = []
    for test in range(60):
        inner = ""
        if n and choose.random() < 0.1:
            inner = f'<failure message="boom {n % 5}">line {test % 3}</failure>'
        seconds = choose.randrange(1, 900) / 1000
        cases.append(
            f'<testcase classname="m.C{test % 7}" name="t{test}" time="{seconds}">'
            f"{inner}</testcase>"
        )
    return f"<testsuite name='s'>{''.join(cases)}</testsuite>".encode()


def review_of(n: int) -> bytes:
    """A complete review that raises some of ten findings."""
    choose = random.Random(n)
    raised = [finding(f"Thing {each} is odd") for each in range(10)]
    return json.dumps(review(*choose.sample(raised, 6))).encode()


def upload(n: int) -> Upload:
    files = [("junit", "a.xml", report(n))]
    if n % 7 == 3:
        files.append(("junit", "bad.xml", BAD))
    if n % 11 == 5:
        files = [("junit", "bad.xml", BAD)]
    if n % 3 == 2 and n % 11 != 5:
        files.append(("review", "r.json", review_of(n)))
    if n % 6 == 1:
        files.append(("effects", "e.jsonl", ledger(seen=n % 4 == 1)))
    context: dict[str, Any] = {
        "run": f"r{n // 4}",
        "job": "unit",
        "shard": {"index": n % 4 + 1, "count": 4},
        "started_at": f"2026-03-0{n % 3 + 1}T10:00:00Z",
        "pr": n % 2 + 1,
    }
    return Upload(context, files)


def fill(made: Site) -> None:
    """Admit all uploads; the first is processed, so that all tests have numbers."""
    web, worker = made.serve(), made.worker()
    for n in range(UPLOADS):
        send(made, upload(n))
        if n == 0:
            run_to_the_end(worker)
    for process in made.processes:
        kill(process)
    assert web.poll() is not None


def send(made: Site, sent: Upload) -> None:
    headers = bearer(made.keys["token"]) | {"Content-Type": sent.content_type}
    assert made.request("POST", PATH, sent.body, headers=headers)[0] == 202


def run_to_the_end(worker: Worker) -> None:
    worker.go()
    assert worker.ends() == 0


def test_a_worker_killed_at_any_instant_leaves_the_facts_of_once(tmp_path: Path):
    (tmp_path / "first").mkdir()
    # So long a lease that only the knowledge of a death frees what it holds.
    with site(tmp_path / "first", HEALTHBOARD_LEASE_SECONDS="3600") as made:
        fill(made)
        calm, killed = made.copy(tmp_path / "calm"), made.copy(tmp_path / "killed")
    with ending(calm), ending(killed):
        run_to_the_end(calm.worker())
        states = calm.rows("SELECT state, count(*) FROM ingest_upload GROUP BY state")
        assert dict(states) == {"processed": 36, "rejected": 4}
        kills = kill_again_and_again(killed)
        [(interrupted,)] = killed.rows("SELECT sum(attempts) - 40 FROM ingest_upload")
        assert kills >= 10
        assert interrupted >= 5, "the kills hit nothing"
        assert facts(killed) == facts(calm)


def facts(made: Site) -> list[str]:
    return sorted(map(repr, made.rows(FACTS)))


def kill_again_and_again(made: Site) -> int:
    """Kill a worker at seeded instants after a claim; let another one end the work."""
    choose = random.Random(20260301)
    victim, other = made.worker(), made.worker()
    kills = 0
    while made.number("count(due_at)") > 3 and kills < 60:
        before = made.number("sum(attempts)")
        child = victim.go()
        made.reaches("sum(attempts)", before + 1)
        threading.Event().wait(choose.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        assert victim.ends() == -signal.SIGKILL
        kills += 1
    other.go()
    child = victim.go()
    os.kill(child, signal.SIGKILL)
    assert victim.ends() == -signal.SIGKILL
    assert other.ends() == 0
    run_to_the_end(victim)
    return kills


def test_a_worker_that_is_killed_on_one_upload_again_and_again_gives_it_up(
    tmp_path: Path,
):
    with site(tmp_path, HEALTHBOARD_LEASE_SECONDS="3600") as made:
        web = made.serve()
        send(made, Upload({}, [("junit", "a.xml", report(1) + b" " * 15_000_000)]))
        kill(web)
        worker = made.worker()
        for attempt in range(1, 6):
            child = worker.go()
            made.reaches("attempts", attempt)
            os.kill(child, signal.SIGKILL)
            assert worker.ends() == -signal.SIGKILL
        run_to_the_end(worker)
        rows = made.rows("SELECT state, attempts, lease FROM ingest_upload")
        assert rows == [("dead", 5, "")]
        assert made.rows("SELECT count(*) FROM results_run") == [(0,)]
