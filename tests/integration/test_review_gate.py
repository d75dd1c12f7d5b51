"""The gate of a run: what quarantine changes, and what it does not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from projects.creation import Created, create_project
from results.models import Run
from review.deciding import Wish, decide
from tests.asking import ask, refused, told
from tests.builders import make_context, make_leak, make_run

pytestmark = pytest.mark.django_db

NOW = timezone.now()
RED = {"test_a": "failed", "test_b": "passed", "test_c": "error"}


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


def gate(acme: Created, run: int):
    return told(f"/runs/{run}/gate", acme.token)


def quarantine(acme: Created, name: str, *, days: int = 7) -> None:
    test = acme.project.tests.get(name=name)
    wish = Wish(quarantine_until=NOW + timedelta(days=days), reason="known")
    decide(acme.project, test.pk, wish, by="ana", now=NOW)


def test_a_green_run_passes(acme):
    assert gate(acme, make_run(acme.project)) == {
        "answer": "pass",
        "unquarantined": 0,
        "quarantined": [],
        "reasons": ["Nothing failed."],
    }


def test_a_red_run_fails_and_names_its_tests(acme):
    assert gate(acme, make_run(acme.project, RED)) == {
        "answer": "fail",
        "unquarantined": 2,
        "quarantined": [],
        "reasons": [
            "2 tests fail: tests/test_shop.py::test_a, tests/test_shop.py::test_c."
        ],
    }


def test_quarantine_changes_the_answer_and_no_outcome(acme):
    run = make_run(acme.project, RED)
    quarantine(acme, "test_a")
    answer = gate(acme, run)
    assert (answer["answer"], answer["unquarantined"]) == ("fail", 1)
    assert answer["quarantined"] == ["tests/test_shop.py::test_a"]
    quarantine(acme, "test_c")
    answer = gate(acme, run)
    assert (answer["answer"], answer["unquarantined"]) == ("pass", 0)
    assert answer["reasons"] == ["2 failing tests are quarantined: not counted."]
    assert told(f"/runs/{run}", acme.token)["outcome"] == "failed"
    results = told(f"/runs/{run}/results", acme.token, outcome="failing")["items"]
    assert {row["outcome"] for row in results} == {"failed", "error"}


def test_a_quarantine_ends_by_itself(acme):
    run = make_run(acme.project, {"test_a": "failed"})
    quarantine(acme, "test_a")
    acme.project.standings.update(quarantined_until=NOW - timedelta(seconds=1))
    assert gate(acme, run)["answer"] == "fail"


def test_a_passing_test_in_quarantine_is_not_named(acme):
    run = make_run(acme.project)
    quarantine(acme, "test_a")
    assert gate(acme, run)["quarantined"] == []


def test_a_run_with_missing_parts_waits_unless_it_is_red_already(acme):
    context = make_context("ci-2", shard="1/2")
    run = make_run(acme.project, context=context)
    answer = gate(acme, run)
    assert (answer["answer"], answer["reasons"]) == (
        "wait",
        ["1 of 2 parts came; missing: 2/2."],
    )
    red = make_run(acme.project, RED, context=make_context("ci-3", shard="1/2"))
    assert gate(acme, red)["answer"] == "fail"


def test_what_was_not_seen_whole_never_passes(acme):
    cut = make_context("ci-4", complete=False)
    stopped = make_run(acme.project, context=cut)
    assert gate(acme, stopped)["reasons"] == [
        "A part of the run stopped before its end."
    ]
    damaged = make_run(acme.project, context=make_context("ci-5"), damage=["a.xml"])
    empty = make_run(acme.project, (), context=make_context("ci-6"))
    answers = [gate(acme, run)["answer"] for run in (stopped, damaged, empty)]
    assert answers == ["fail", "fail", "fail"]


def test_a_leak_by_an_enforced_gate_fails_and_can_be_quarantined(acme):
    run = make_run(acme.project, leaks=[make_leak("test_a")])
    assert Run.objects.get(pk=run).leaks_raised == 1
    answer = gate(acme, run)
    assert (answer["answer"], answer["unquarantined"]) == ("fail", 1)
    assert answer["reasons"] == ["tests/test_shop.py::test_a leaks, says a gate."]
    quarantine(acme, "test_a")
    assert gate(acme, run)["answer"] == "pass"
    session = make_run(
        acme.project,
        context=make_context("ci-9"),
        leaks=[make_leak("", session=True)],
    )
    assert gate(acme, session)["reasons"] == [
        "A gate tells 1 leak of the whole session."
    ]


def test_strangers_learn_nothing(acme):
    run = make_run(acme.project)
    other = create_project("acme/other", actor="test")
    refused(ask(f"/runs/{run}/gate", other.token), 404)
    refused(ask(f"/runs/{run}/gate"), 401)
    refused(ask("/runs/999999/gate", acme.token), 404)
