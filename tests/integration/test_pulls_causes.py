"""Failures of a pull request that a leaker, or chance, explains."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from healthboard.pipeline import drain_all
from leaks.models import Leaker
from projects.creation import Created, create_project
from tests import leaking_suite as suite
from tests.delivering import send
from tests.pulling import names, pull

pytestmark = pytest.mark.django_db

BASE = "b" * 40


@pytest.fixture
def shuffled() -> Created:
    """A project with forty shuffled runs of the suite that leaks, then a green one."""
    created = create_project("acme/app", actor="test")
    start = timezone.now() - timedelta(days=3)
    suite.send_all(created, suite.story(), start=start)
    green = suite.report(set())
    send(created, green, run="green", branch="main", commit=BASE, ancestry=[BASE])
    return created


def judged(created: Created, failing: set[int], **context):
    said = {"run": "p", "pr": 9, "commit": "c" * 40, "merge_base": BASE} | context
    send(created, suite.report(failing), **said)
    return pull(created, said["pr"])


def test_a_victim_s_failure_is_its_leaker_s(shuffled):
    victim = suite.VICTIMS[0]
    found = judged(shuffled, {victim})
    [item] = found["failures"]["inherited"]  # though it passed at the base
    assert item["leaker"]["nodeid"] == suite.nodeid(suite.LEAKER)
    assert (item["leaker"]["share"], item["leaker"]["status"]) == (
        "inherited",
        "confirmed",
    )
    assert found["verdict"] == "not_yours"
    assert found["sentence"] == (
        f"1 failure: 0 introduced, 1 inherited from leaker `test_{suite.LEAKER:02}`."
    )
    assert any(
        line.startswith("To be sure, run: pytest") and suite.nodeid(victim) in line
        for line in found["advice"]
    )


def test_a_known_flaky_one_is_told_apart_with_its_rate(shuffled):
    found = judged(shuffled, {suite.FLAKE, 3})
    assert names(found["failures"]) == {
        "introduced": ["test_03"],
        "unknown": [f"test_{suite.FLAKE}"],
    }
    [item] = found["failures"]["unknown"]
    assert 0.1 < item["flaky"]["rate"] < 0.5
    assert item["flaky"]["runs"] >= 40
    assert found["sentence"].startswith(
        "2 failures: 1 introduced, 1 known flaky (fails"
    )


def test_only_flaky_ones_are_not_yours(shuffled):
    assert judged(shuffled, {suite.FLAKE})["verdict"] == "not_yours"


def test_a_leaker_that_is_dismissed_changes_the_verdict(shuffled):
    victim = suite.VICTIMS[0]
    assert judged(shuffled, {victim})["verdict"] == "not_yours"
    leaker = Leaker.objects.get(state="open")
    Leaker.objects.filter(pk=leaker.pk).update(
        state="dismissed", updated_at=timezone.now()
    )
    drain_all()
    assert pull(shuffled, 9)["verdict"] == "yours"
