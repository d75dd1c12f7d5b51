"""From an admitted upload to facts: good files, bad ones, and both in one upload."""

from __future__ import annotations

import gzip

import pytest

from healthboard.pipeline import drain_all
from ingest import claims, queries, rate, replaying
from ingest.models import State
from ingest.models import Upload as Row
from projects.creation import Created, create_project
from results.models import Run, Shard
from tests.sending import Upload, bearer, post

pytestmark = pytest.mark.django_db

GOOD = b"""<testsuite name="s" tests="2">
<testcase classname="m" name="one" time="0.5"/>
<testcase classname="m" name="two" time="1.5"/>
</testsuite>"""
BROKEN = b"""<testsuite name="s">
<testcase classname="m" name="one"/>
<testcase classname="m" </testsuite>"""
TRACE = b"""{"v": 1, "test": "m.py::one", "worker": "main", "pid": 1, "position": 0, \
"outcome": "passed", "phase": "call"}
"""
HTML = b"<html><body>502</body></html>"


@pytest.fixture
def acme() -> Created:
    rate.forget()
    return create_project("acme/app", actor="test")


def process(acme: Created, *files: tuple[str, str, bytes], **context: object) -> Row:
    answer = post(Upload(context, list(files)), bearer(acme.token))
    assert answer.status_code == 202, answer.content
    drain_all()
    return Row.objects.get(pk=answer.json()["id"])


def test_a_good_file_becomes_a_run(acme: Created):
    row = process(acme, ("junit", "a.xml", GOOD), run="r1", commit="c0ffee1")
    assert row.state == State.PROCESSED
    assert (row.errors, row.failure, row.lease, row.due_at) == ([], "", "", None)
    assert row.processed_at is not None
    run = Run.objects.get()
    assert row.run_id == run.pk
    assert (run.name, run.commit, run.outcome) == ("r1", "c0ffee1", "passed")
    assert (run.tests, run.passed, run.duration_s) == (2, 2, 2.0)
    assert claims.waiting(None) == claims.waiting(acme.project.pk) == 0


def test_the_stored_context_reads_back_as_it_was_sent(acme: Created):
    process(
        acme,
        ("junit", "a.xml", GOOD),
        run="r1",
        environment={"python": "3.10"},
        shard={"index": 2, "count": 3},
        attempt=2,
        exit_code=0,
        complete=False,
        pr=5,
        started_at="2026-01-02T03:04:05.5+02:00",
    )
    shard = Shard.objects.get()
    assert (shard.index, shard.count, shard.attempt) == (2, 3, 2)
    assert (shard.exit_code, shard.complete) == (0, False)
    run = Run.objects.get()
    assert run.environment == {"python": "3.10"}
    assert run.pr == 5
    assert run.started_at.isoformat() == "2026-01-02T01:04:05.500000+00:00"


def test_one_bad_file_among_good_ones_is_named_with_its_place(acme: Created):
    row = process(
        acme,
        ("junit", "good.xml", GOOD),
        ("junit", "bad.xml", BROKEN),
        ("junit", "empty.xml", b""),
        run="r1",
    )
    assert row.state == State.PROCESSED
    assert {error["file"] for error in row.errors} == {"bad.xml", "empty.xml"}
    bad = next(error for error in row.errors if error["file"] == "bad.xml")
    assert (bad["line"], bad["column"]) == (3, 25)
    run = Run.objects.get()
    assert run.outcome == "damaged"
    assert run.tests >= 2
    told = [problem["message"] for problem in run.problems]
    assert any(message.startswith("bad.xml: ") for message in told)
    assert any(message.startswith("empty.xml: ") for message in told)


def test_only_bad_files_are_rejected_and_damage_the_run_they_name(acme: Created):
    row = process(acme, ("junit", "a.xml", HTML), run="r1")
    assert row.state == State.REJECTED
    assert [error["file"] for error in row.errors] == ["a.xml"]
    run = Run.objects.get()
    assert (run.pk, run.outcome, run.tests) == (row.run_id, "damaged", 0)
    assert run.problems[0]["upload"] == row.pk


def test_only_bad_files_of_no_run_make_none(acme: Created):
    row = process(acme, ("junit", "a.xml", HTML))
    assert (row.state, row.run_id) == (State.REJECTED, None)
    assert Run.objects.count() == 0


def test_a_later_good_upload_mends_the_run(acme: Created):
    process(acme, ("junit", "a.xml", HTML), run="r1")
    process(acme, ("junit", "a.xml", GOOD), run="r1")
    assert Run.objects.get().outcome == "passed"


def test_a_good_upload_of_another_kind_does_not_mend_it(acme: Created):
    process(acme, ("junit", "a.xml", HTML), run="r1")
    process(acme, ("order", "order.jsonl", TRACE), run="r1")
    run = Run.objects.get()
    assert (run.outcome, run.tests) == ("damaged", 1)


def test_a_rejected_upload_is_final(acme: Created):
    row = process(acme, ("junit", "a.xml", HTML))
    assert not replaying.retry(row, by="somebody")
    drain_all()
    assert Row.objects.get().attempts == 1


def test_an_auto_file_is_told_from_its_content(acme: Created):
    row = process(
        acme,
        ("auto", "a", GOOD),
        ("auto", "b", gzip.compress(GOOD.replace(b"m", b"n"))),
        ("auto", "c", b"what is this"),
        ("auto", "d", gzip.compress(TRACE)),
        run="r1",
    )
    assert [error["file"] for error in row.errors] == ["c"]
    assert Shard.objects.get().kinds == ["junit", "order"]
    assert queries.kinds(row) == ["auto"]


def test_what_was_repaired_is_a_warning(acme: Created):
    row = process(acme, ("junit", "a.xml", GOOD.replace(b"two", b"t\x01wo")))
    assert row.state == State.PROCESSED
    assert row.warnings[0]["file"] == "a.xml"
    assert row.warnings[0]["message"]


def test_a_packed_body_is_processed_as_it_was_sent(acme: Created):
    packed = gzip.compress(Upload({"run": "r1"}, [("junit", "a.xml", GOOD)]).body)
    answer = post(packed, bearer(acme.token) | {"Content-Encoding": "gzip"})
    assert answer.status_code == 202
    drain_all()
    assert Run.objects.get().tests == 2


def test_replay_leaves_the_same_as_once(acme: Created):
    row = process(acme, ("junit", "a.xml", GOOD), ("junit", "b.xml", HTML), run="r1")
    before = _facts()
    assert replaying.replay(ids=[row.pk]) == 1
    assert claims.waiting(acme.project.pk) == 1
    drain_all()
    assert _facts() == before
    row.refresh_from_db()
    assert (row.state, row.attempts) == (State.PROCESSED, 1)


def test_replay_takes_what_was_received_since(acme: Created):
    rows = [process(acme, ("junit", "a.xml", GOOD), run=str(n)) for n in range(3)]
    assert replaying.replay(since=rows[1].received_at) == 2
    assert replaying.replay() == 1
    drain_all()
    assert Run.objects.count() == 3


def test_uploads_are_listed_dead_ones_first(acme: Created):
    rows = [process(acme, ("junit", "a.xml", GOOD), run=str(n)) for n in range(4)]
    Row.objects.filter(pk=rows[1].pk).update(state=State.DEAD, failure="out of luck")
    Row.objects.filter(pk=rows[2].pk).update(state=State.FAILED)
    listed = [row.pk for row in queries.uploads(acme.project)]
    assert listed == [rows[n].pk for n in (1, 2, 3, 0)]
    dead = queries.get(rows[1].pk)
    assert dead is not None
    assert queries.problems(dead)[0]["message"] == "out of luck"
    assert queries.counts(acme.project)[State.PROCESSED] == 2
    assert [row.pk for row in queries.uploads(acme.project, states=[State.FAILED])] == [
        rows[2].pk
    ]


def _facts() -> list[object]:
    runs = Run.objects.order_by("pk").values(
        "pk", "name", "tests", "passed", "outcome", "problems", "completeness"
    )
    shards = Shard.objects.order_by("upload_id").values(
        "upload_id", "run_id", "tests", "kinds", "damage", "blocks__data"
    )
    return [*runs, *shards]
