"""Judging run by run costs little, and gives what judging once at the end gives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from healthboard.pipeline import drain_all
from leaks import recounting
from leaks.judging import judge_project
from leaks.memory import Memory
from leaks.models import Leaker, Pair, Verdict
from projects.creation import Created, create_project
from results import recounts
from tests import leaking_suite as suite
from tests.sending import Upload, bearer, post

pytestmark = pytest.mark.django_db

START = datetime.now(UTC).replace(microsecond=0) - timedelta(days=5)


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="a test")


def send(acme, uploads):
    for upload in uploads:
        assert post(upload, bearer(acme.token)).status_code == 202
    drain_all()


def of(judged):
    return {test: repr(one) for test, one in judged.judgements.items()}


def test_run_by_run_or_at_once_the_judgement_is_the_same(acme):
    memory = Memory()
    runs = list(suite.uploads(suite.story(), start=START))
    known = memory.of(acme.project.pk, "")
    for upload in runs:
        send(acme, [upload])
        step = judge_project(acme.project, memory=memory)
        assert of(step) == of(judge_project(acme.project))
    assert len(step.judgements) == 1 + len(suite.VICTIMS)
    assert known.parts == {}  # it had no tests then, so it is remembered by no epoch


def test_a_run_in_which_nothing_fails_reads_itself_and_weighs_nothing(acme):
    suite.send_all(acme, suite.story(), start=START)
    drain_all()
    memory = Memory()
    before = judge_project(acme.project, memory=memory)
    [remembered] = memory._projects.values()
    assert len(remembered.parts) == 40
    assert remembered.weighed == len(before.judgements) == 4
    parts = dict(remembered.parts)
    again = judge_project(acme.project, memory=memory)
    assert remembered.weighed == 0
    assert of(again) == of(before)
    # Two green runs: the first may be the pass after a failure, the second is none.
    for name in ("green", "greener"):
        at = (START + timedelta(days=4)).isoformat()
        context = {"run": name, "branch": "main", "commit": "a" * 40, "started_at": at}
        send(acme, [Upload(context, [("junit", "j.xml", suite.report(set()))])])
        judge_project(acme.project, memory=memory)
    assert remembered.weighed <= 1
    assert len(remembered.parts) == 42
    assert all(remembered.parts[key].columns is parts[key].columns for key in parts)


def test_what_does_not_fit_is_forgotten(acme):
    suite.send_all(acme, suite.story(runs=6), start=START)
    drain_all()
    memory = Memory(most=1)
    judge_project(acme.project, memory=memory)
    assert memory._projects == {}


def test_only_the_regression_of_one_pull_request_accuses_nobody(acme):
    """Test 30 fails in each run of one pull request, where 12 always came before it."""
    suite.send_all(acme, suite.story(), start=START)
    for number in range(8):
        at = (START + timedelta(days=3, hours=number)).isoformat()
        context = {
            "run": f"pr-{number}",
            "branch": "topic",
            "pr": 9,
            "commit": f"{number:040x}",
            "started_at": at,
        }
        run = suite.in_order([12, 30, *range(12), *range(13, 30)], failing={30})
        files = [("junit", "j.xml", suite.junit(run)), ("order", "o", suite.trace(run))]
        send(acme, [Upload(context, files)])
    victim = suite.nodeid(30)
    assert not Pair.objects.filter(victim__nodeid=victim).exists()
    assert not Verdict.objects.filter(test__nodeid=victim, name="victim").exists()
    assert [row.test.nodeid for row in Leaker.objects.filter(state="open")] == [
        suite.nodeid(suite.LEAKER)
    ]


def test_the_stage_remembers_and_a_new_process_agrees(acme, monkeypatch):
    suite.send_all(acme, suite.story(), start=START)
    drain_all()
    stored = list(Pair.objects.order_by("pk").values("test", "victim", "posterior"))
    monkeypatch.setattr(recounting, "_memory", Memory())
    send(acme, [])
    recounting.work(recounts.take(acme.project.pk, START, lease="a/1"))
    assert (
        list(Pair.objects.order_by("pk").values("test", "victim", "posterior"))
        == stored
    )
