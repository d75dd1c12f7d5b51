"""A fix that a person names, and how the runs since prove or refute it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from healthboard.pipeline import drain_all
from leaks.decisions import Wish, decide
from leaks.models import Leaker, LeakerState
from projects.creation import Created, create_project
from tests import leaking_suite as suite
from tests.sending import Upload, bearer, post

pytestmark = pytest.mark.django_db

START = datetime.now(UTC).replace(microsecond=0) - timedelta(days=5)
FIXED = START + timedelta(days=2)


def the_leaker() -> Leaker:
    return Leaker.objects.get(test__nodeid=suite.nodeid(suite.LEAKER))


@pytest.fixture
def fixed() -> Created:
    """A project whose leaker somebody has fixed, after forty runs."""
    acme = create_project("acme/app", actor="a test")
    suite.send_all(acme, suite.story(), start=START)
    drain_all()
    wish = Wish(state=LeakerState.FIXED, commit="f" * 40)
    decide(acme.project, the_leaker().pk, wish, seen="open", by="ada", now=FIXED)
    return acme


def send(acme, count, *, failing=frozenset(), first=0, branch="main"):
    """Runs in which the leaker runs right before its victims."""
    order = [suite.LEAKER, *suite.VICTIMS]
    order += [test for test in range(60) if test not in order]
    run = suite.in_order(order, failing=set(failing))
    files = [("junit", "j.xml", suite.junit(run)), ("order", "o", suite.trace(run))]
    for number in range(first, first + count):
        context = {
            "run": f"since-{number}",
            "branch": branch,
            "commit": f"{number:040x}",
            "started_at": (FIXED + timedelta(minutes=number + 1)).isoformat(),
        }
        assert post(Upload(context, files), bearer(acme.token)).status_code == 202
    drain_all()


def test_ten_relevant_runs_and_a_small_chance_prove_a_fix(fixed):
    send(fixed, 5)
    leaker = the_leaker()
    assert (leaker.state, leaker.fix["verified"]) == ("fixed", False)
    assert "relevant runs since" in leaker.fix["words"]
    send(fixed, 15, first=5)
    leaker = the_leaker()
    assert leaker.fix["failures"] == 0
    assert leaker.fix["relevant"] > 10
    assert leaker.fix["chance"] < 0.01
    assert leaker.state == "verified_fixed"


def test_runs_of_other_branches_prove_nothing(fixed):
    send(fixed, 20, branch="topic")
    leaker = the_leaker()
    assert (leaker.state, leaker.fix["relevant"]) == ("fixed", 0)


def test_a_failure_after_it_since_reopens(fixed):
    send(fixed, 3)
    send(fixed, 1, failing={suite.VICTIMS[0]}, first=3)
    leaker = the_leaker()
    assert leaker.state == "open"
    assert (leaker.fixed_at, leaker.fix) == (None, None)
    assert leaker.reopened_at is not None
