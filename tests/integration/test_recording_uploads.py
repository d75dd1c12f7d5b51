"""Damage and its mending, repeated uploads, replays, and the order of uploads."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from formats.report import FileProblem
from projects.creation import create_project
from results import models
from results.models import Block, Failure, Run, Shard
from results.queries import runs
from tests.asking import told
from tests.builders import (
    make_context,
    make_project,
    make_result,
    prepare,
    rebuild_days,
    store,
)
from tests.delivering import GREEN, send

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def record(project, results=("test_a",), **options):
    return Run.objects.get(pk=store(prepare(project, results, **options)).run_id)


def kinds(run):
    return [problem["kind"] for problem in run.problems]


def test_a_bad_file_among_good_ones_makes_the_run_damaged(project):
    run = record(project, ["test_a"], damage=["b.xml"])
    assert (run.outcome, run.passed) == ("damaged", 1)
    assert run.problems[0]["message"] == "b.xml: file is empty"
    assert run.parts[0]["state"] == "damaged"


def test_a_rejected_upload_adds_nothing_but_its_reason(project):
    record(project, ["test_a"])
    run = record(project, None, damage=["b.xml"])
    assert (run.outcome, run.tests) == ("damaged", 1)


MENDING = [
    pytest.param(["test_a"], {}, True, id="a later good upload of the same part"),
    pytest.param(["test_a"], {"attempt": 2}, True, id="a later attempt"),
    pytest.param(["test_a"], {"shard": "2/2"}, False, id="another shard"),
    pytest.param(["test_a"], {"job": "lint"}, False, id="another job"),
    pytest.param(None, {"attempt": 2}, False, id="a later attempt that is bad itself"),
]


@pytest.mark.parametrize(("results", "context", "mended"), MENDING)
def test_damage_is_mended_by(project, results, context, mended):
    first = make_context(shard="1/2") if "shard" in context else make_context()
    record(project, None, damage=["a.xml"], context=first)
    damage = [] if results else ["a.xml"]
    run = record(project, results, damage=damage, context=make_context(**context))
    assert (run.outcome != "damaged") == mended
    assert ("mended" in kinds(run)) == mended


def test_damage_is_mended_by_a_good_report_that_was_known_before(project):
    record(project, ["test_a"], digests=["good"])
    assert record(project, None, damage=["a.xml"]).outcome == "damaged"
    run = record(project, ["test_a"], digests=["good"])
    assert (run.outcome, run.reported["tests"]) == ("passed", 1)


def test_damage_is_not_mended_by_the_same_damage_again(project):
    for _ in range(2):
        run = record(project, ["test_a"], damage=["b.xml"], digests=["good", "bad"])
        assert (run.outcome, run.tests) == ("damaged", 1)


def test_damage_is_not_mended_by_an_earlier_upload(project):
    record(project, None, damage=["a.xml"], upload_id=902)
    run = record(project, ["test_a"], upload_id=901)
    assert run.outcome == "damaged"


def test_damage_is_not_mended_by_another_kind(project):
    bad = FileProblem("a.xml", "file is empty", kind="junit")
    record(project, None, damage=[bad])
    run = record(project, ["test_a"], kinds=["order"])
    assert run.outcome == "damaged"
    run = record(project, ["test_a"], kinds=["junit"])
    assert run.outcome == "passed"


def test_the_same_content_again_adds_nothing(project):
    results = {"test_a": "passed", "test_b": "failed"}
    first = prepare(project, results, digests=["d1"])
    again = prepare(project, results, digests=["d1"])
    run_id = store(first).run_id
    stored = store(again)
    assert stored == (run_id, first.upload_id)
    run = Run.objects.get()
    assert (run.tests, run.passed, run.failed) == (2, 1, 1)
    assert run.reported["tests"] == 2
    assert Failure.objects.count() == 1
    text = f"already stored by upload {first.upload_id}: adds nothing"
    assert [n.message for n in runs.get_run(run_id).notes] == [text]
    assert kinds(run) == ["duplicate"]


@pytest.mark.parametrize(
    "context", [{"shard": "2/2"}, {"attempt": 2}, {"job": "b"}, {"run": "ci-2"}]
)
def test_the_same_content_of_another_part_is_another_result(project, context):
    record(project, digests=["d1"])
    stored = store(prepare(project, digests=["d1"], context=make_context(**context)))
    assert stored.same_as is None


def test_more_than_was_stored_is_not_the_same(project):
    record(project, ["test_a"], digests=["d1"])
    stored = store(prepare(project, ["test_a", "test_b"], digests=["d1", "d2"]))
    assert stored.same_as is None
    assert Run.objects.get().tests == 2


def test_a_rejected_upload_stores_nothing_that_could_be_there_already(project):
    record(project, None, damage=["a.xml"], digests=["d1"])
    stored = store(prepare(project, None, damage=["a.xml"], digests=["d1"]))
    assert stored.same_as is None


def everything():
    """All that recording leaves, without what differs from time to time."""
    run_fields = [
        field.name
        for field in Run._meta.fields
        if field.name not in ("id", "version", "created_at", "updated_at")
    ]
    return (
        list(Run.objects.order_by("name").values(*run_fields)),
        list(
            Shard.objects.order_by("upload_id").values_list(
                "upload_id", "tests", "same_as_upload", "notes", "roster__tests"
            )
        ),
        sorted(
            (shard, chunk, bytes(data))
            for shard, chunk, data in Block.objects.values_list(
                "shard__upload_id", "chunk", "data"
            )
        ),
        sorted(
            Failure.objects.values_list(
                "shard__upload_id", "test__number", "outcome", "detail__message"
            )
        ),
    )


def test_recording_twice_is_recording_once(project):
    upload = prepare(project, {"test_a": "failed", "test_b": "passed"}, notes=["odd"])
    store(upload)
    once = everything()
    store(upload)
    again = prepare(
        project,
        {"test_a": "failed", "test_b": "passed"},
        notes=["odd"],
        upload_id=upload.upload_id,
    )
    store(again)
    assert everything() == once


def test_a_replay_replaces_what_the_upload_said(project):
    store(prepare(project, {"test_a": "failed", "test_b": "failed"}, upload_id=601))
    run = record(project, {"test_a": "passed"}, upload_id=601)
    assert (run.outcome, run.tests) == ("passed", 1)
    assert Failure.objects.count() == 0
    assert Shard.objects.count() == 1
    run = record(project, None, damage=["a.xml"], upload_id=601)
    assert (run.outcome, run.tests) == ("damaged", 0)
    assert Block.objects.count() == 0


def test_a_replay_of_the_first_leaves_its_copy_a_copy(project):
    first = prepare(project, digests=["d1"], upload_id=701)
    store(first)
    store(prepare(project, digests=["d1"], upload_id=702))
    assert store(first).same_as is None
    copies = Shard.objects.order_by("upload_id").values_list("same_as_upload")
    assert list(copies) == [(None,), (701,)]


UPLOADS: list[dict[str, Any]] = [
    {"results": {"test_a": "passed", "test_b": "failed"}, "context": {"shard": "1/2"}},
    {"results": {"test_c": "failed"}, "context": {"shard": "2/2", "commit": "c9"}},
    {"results": {"test_c": "passed"}, "context": {"shard": "2/2", "attempt": 2}},
    {"results": None, "context": {"shard": "2/2"}, "damage": ["x.xml"]},
]


def test_the_order_of_processing_changes_nothing():
    summaries = []
    for number, order in enumerate(itertools.permutations(range(4))):
        project = make_project(f"acme/p{number}")
        # The numbering of tests follows the order in which they are first met.
        prepared = [
            prepare(
                project,
                upload["results"],
                context=make_context(**upload["context"]),
                damage=upload.get("damage", ()),
                upload_id=10_000 + 10 * number + place,
            )
            for place, upload in enumerate(UPLOADS)
        ]
        for place in order:
            run_id = store(prepared[place]).run_id
        run: dict[str, Any] = dict(Run.objects.filter(pk=run_id).values().get())
        for name in ("id", "project_id", "created_at", "updated_at", "version"):
            del run[name]
        base = 10_000 + 10 * number
        text = repr(run)
        for place in range(4):
            text = text.replace(str(base + place), f"upload-{place}")
        summaries.append(text)
    assert len(set(summaries)) == 1
    assert "'outcome': 'passed'" not in summaries[0]


def test_a_run_that_moves_to_another_day_marks_both(project):
    late = make_context(started_at=make_context().started_at.replace(day=5))
    record(project, ["test_a"], context=late)
    rebuild_days()
    record(project, ["test_b"], context=make_context())
    run = Run.objects.get()
    assert run.day.day == 2
    days = project.days.order_by("date").values_list("date__day", "dirty")
    assert list(days) == [(2, True), (5, True)]


def test_an_interrupted_store_leaves_nothing_behind(project):
    prepared = prepare(project, {"test_a": "failed"})
    broken = replace(prepared, told=[replace(prepared.told[0], outcome=None)])
    with pytest.raises(Exception, match=r"(?i)null"):
        store(broken)
    assert not Run.objects.exists()
    assert models.TestCase.objects.count() == 1  # nothing depends on it
    store(prepared)
    assert Run.objects.get().failed == 1


def test_processes_without_results_do_not_disturb_the_order(project):
    results = [
        make_result("test_a", process=2, position=1),
        make_result("test_b", process=2, position=0),
        make_result("test_c", process=0, position=0),
    ]
    run = record(project, results, processes=["gw0", "gw1", "gw2"])
    rows = {
        r.nodeid[-6:]: (r.worker, r.position) for r in runs.list_results(run.pk).items
    }
    assert rows == {"test_a": ("gw2", 1), "test_b": ("gw2", 0), "test_c": ("gw0", 0)}


def test_the_sender_of_a_repeated_report_is_told_so():
    acme = create_project("acme/app", actor="test")
    first = send(acme, GREEN, run="7")
    again = send(acme, GREEN, run="7", ci_url="https://ci.example/2")
    upload = told(f"/uploads/{again}", acme.token)
    assert upload["state"] == "processed"
    messages = [warning["message"] for warning in upload["warnings"]]
    assert messages == [f"already stored by upload {first}"]
