"""Leakers and victims, from uploads of JUnit and order traces to the API."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.test import Client

from healthboard.pipeline import BY_NAME, drain, drain_all
from leaks.models import Leaker, Pair, Proof, Verdict
from leaks.queries import causes, open_leakers
from projects.creation import Created, create_project
from results.exclusion import exclude
from results.models import Run
from results.models import TestCase as Case
from tests import leaking_suite as suite
from tests.asking import refused, told, wrong_fields
from tests.leaking_suite import send_gate
from tests.sending import Upload, bearer, post

pytestmark = pytest.mark.django_db

BASE = "/projects/acme/app"
START = datetime.now(UTC).replace(microsecond=0) - timedelta(days=5)
LEAKER = suite.nodeid(suite.LEAKER)
VICTIMS = {suite.nodeid(test) for test in suite.VICTIMS}


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="a test")


@pytest.fixture
def shuffled(acme) -> Created:
    """A project with forty shuffled runs of the suite that leaks."""
    suite.send_all(acme, suite.story(), start=START)
    drain_all()
    return acme


def classes(acme):
    rows = told(f"{BASE}/flaky", acme.token)["items"]
    return {row["nodeid"]: row["class"] for row in rows}


def stored():
    """Everything that a judgement came to, without the times of storing."""
    leakers = Leaker.objects.values_list(
        "test", "state", "source", "first_run_id", "lost_s", "failed_runs", "victims"
    )
    pairs = Pair.objects.values_list("test", "victim", "kind", "status", "posterior")
    verdicts = Verdict.objects.values_list("test", "name", "rank", "evidence")
    return sorted(leakers), sorted(pairs), sorted(verdicts, key=lambda row: row[0])


def test_the_leaker_is_found_with_its_victims(shuffled):
    [leaker] = told(f"{BASE}/leakers", shuffled.token)["items"]
    assert leaker["nodeid"] == LEAKER
    assert (leaker["state"], leaker["source"]) == ("open", "correlation")
    assert leaker["kinds"] == []
    claimed = [one for one in leaker["victims"] if one["status"] == "confirmed"]
    assert {one["nodeid"] for one in claimed} == VICTIMS
    assert told(f"/leakers/{leaker['id']}", shuffled.token) == leaker
    failed = [
        number
        for number, run in enumerate(suite.story().runs)
        if run.states[[int(test) in suite.VICTIMS for test in run.tests]].any()
    ]
    # The oldest run in which a victim failed: it can only have failed after it.
    run = told(f"/runs/{leaker['first_seen']['run']}", shuffled.token)
    assert run["run"] == f"ci-{failed[0]}"
    assert leaker["first_seen"]["commit"] == run["commit"]
    assert 0.5 * len(failed) < leaker["cost"]["failed_runs"] <= len(failed)
    command = f"pytest -p no:randomly -p no:random_order {LEAKER} "
    assert leaker["reproduce"].startswith(command)


def test_a_failing_result_names_the_leaker_that_ran_before_it(shuffled):
    run = Run.objects.filter(failed__gt=0).latest("started_at")
    rows = told(f"/runs/{run.pk}/results?outcome=failing", shuffled.token)["items"]
    found = causes(run.pk)
    assert rows
    for row in rows:
        number = Case.objects.get(pk=row["test"]).number
        if row["nodeid"] in VICTIMS:
            assert row["cause"] == row["suspect"]["nodeid"] == LEAKER
            assert row["suspect"]["status"] == "confirmed"
            assert row["suspect"]["ran_before"] is True
            assert found[number].nodeid == LEAKER
            assert found[number].leaker == Leaker.objects.get().pk
        else:
            assert (row["nodeid"], row["cause"]) == (suite.nodeid(suite.FLAKE), None)
    passed = told(f"/runs/{run.pk}/results?outcome=passed", shuffled.token)["items"]
    assert {(row["cause"], row["suspect"]) for row in passed} == {(None, None)}
    Leaker.objects.update(state="dismissed")
    assert not any(one.claimed for one in causes(run.pk).values())


def test_a_run_without_an_order_says_that_it_is_not_known(shuffled):
    [upload] = list(suite.uploads(suite.story(), start=START, traced=False))[-1:]
    sick = suite.report({suite.VICTIMS[0]})
    post(
        Upload(upload.context | {"run": "shuffled"}, [("junit", "j.xml", sick)]),
        bearer(shuffled.token),
    )
    drain(BY_NAME["ingest"])
    run = Run.objects.get(name="shuffled")
    Run.objects.filter(pk=run.pk).update(order="unknown")
    [cause] = causes(run.pk).values()
    assert (cause.nodeid, cause.ran_before) == (LEAKER, None)


def test_open_leakers_tell_kinds_victims_and_cost(shuffled):
    [row] = open_leakers(shuffled.project.pk)
    assert (row.nodeid, row.kinds) == (LEAKER, [])
    assert {one.nodeid for one in row.victims if one.status == "confirmed"} == VICTIMS
    assert row.lost_s > 0
    Leaker.objects.update(state="muted")
    assert open_leakers(shuffled.project.pk) == []


def test_every_unstable_test_has_its_class_and_a_victim_its_leaker(shuffled):
    expected = dict.fromkeys(VICTIMS, "victim") | {suite.nodeid(suite.FLAKE): "flaky"}
    assert classes(shuffled) == expected
    for victim in sorted(VICTIMS):
        row = told(f"{BASE}/victims/{victim}", shuffled.token)
        assert (row["nodeid"], row["type"], row["class"]) == (
            victim,
            "victim",
            "victim",
        )
        best = row["candidates"][0]
        assert (best["nodeid"], best["status"]) == (LEAKER, "confirmed")
        assert best["posterior"] > 0.95
        assert best["failed_without"] == 0
        assert best["failed_after"] + best["passed_after"] > 10
        assert best["evidence"]["method_version"] == 1
        assert row["probe"]["command"].endswith(f"{LEAKER} {victim}")
    row = told(f"{BASE}/victims/{suite.nodeid(0)}", shuffled.token)
    assert (row["type"], row["class"], row["candidates"]) == (None, None, [])


def test_whole_or_run_by_run_the_answer_is_the_same(shuffled, capsys):
    whole = stored()
    call_command("leaks", "recompute", "acme/app")
    assert "1 leakers, 4 unstable tests" in capsys.readouterr().out
    assert stored() == whole
    call_command("replay", "--since", "2000-01-31")
    drain_all()
    assert stored() == whole
    Pair.objects.all().delete()
    Leaker.objects.all().delete()
    Verdict.objects.all().delete()
    call_command("leaks", "recompute", "acme/app")
    assert stored() == whole


def test_reports_without_an_order_accuse_nobody(acme):
    """What ran where is not known: outcomes alone name no leaker."""
    suite.send_all(acme, suite.story(), start=START, traced=False)
    drain_all()
    assert told(f"{BASE}/leakers", acme.token)["items"] == []
    found = classes(acme)
    assert len(found) == 1 + len(VICTIMS)
    assert not {"victim", "brittle"} & set(found.values())
    assert not Pair.objects.exists()


def test_excluded_runs_are_left_out(shuffled):
    for run in Run.objects.all():
        exclude(run.pk, reason="the machine was broken", by="a test")
    drain_all()
    assert classes(shuffled) == {}
    [leaker] = told(f"{BASE}/leakers", shuffled.token)["items"]
    assert leaker["state"] == "fixed"
    assert {one["current"] for one in leaker["victims"]} == {False}


def test_a_gate_opens_a_leaker_at_once(acme):
    send_gate(acme)
    [leaker] = told(f"{BASE}/leakers", acme.token)["items"]
    assert leaker["nodeid"] == suite.nodeid(7)
    assert (leaker["state"], leaker["source"]) == ("open", "gate")
    assert leaker["kinds"] == ["sys_modules.removed"]
    assert leaker["recipe"] == "put them back"
    assert (leaker["first_seen"]["commit"], leaker["first_seen"]["pr"]) == ("d" * 40, 7)
    assert (leaker["victims"], leaker["reproduce"]) == ([], None)
    assert classes(acme) == {suite.nodeid(7): "gate"}


def test_a_muted_leaker_stays_muted(acme):
    send_gate(acme)
    Leaker.objects.update(state="muted")
    send_gate(acme, run="again")
    [leaker] = told(f"{BASE}/leakers", acme.token)["items"]
    assert leaker["state"] == "muted"


def test_a_fixed_leaker_opens_again_when_it_leaks_again(acme):
    send_gate(acme)
    Leaker.objects.update(state="fixed", fixed_at=datetime.now(UTC))
    call_command("leaks", "recompute", "acme/app")
    assert Leaker.objects.get().state == "fixed"
    Leaker.objects.update(fixed_at=datetime.now(UTC) - timedelta(days=1))
    call_command("leaks", "recompute", "acme/app")
    leaker = Leaker.objects.get()
    assert (leaker.state, leaker.reopened_at is None) == ("open", False)


PROOF = {
    "leaker": LEAKER,
    "result": "refuted",
    "type": "victim",
    "how": "both alone, in this order",
    "command": "pytest a b",
    "runs": 5,
    "failed": 0,
    "commit": "e" * 40,
    "environment": {"python": "3.13"},
}


def prove(acme, victim, key=None, **changes):
    headers = bearer(acme.token) | ({"Idempotency-Key": key} if key else {})
    return Client().post(
        f"/api/v1{BASE}/victims/{victim}/proofs",
        json.dumps(PROOF | changes),
        content_type="application/json",
        headers=headers,
    )


def candidates(acme, victim):
    rows = told(f"{BASE}/victims/{victim}", acme.token)["candidates"]
    return {row["nodeid"]: row["status"] for row in rows}


def test_a_proof_outranks_the_runs(shuffled):
    victim = suite.nodeid(suite.VICTIMS[0])
    assert prove(shuffled, victim).status_code == 201
    assert told(f"{BASE}/status", shuffled.token)["stages"]["leaks"] == 1
    drain_all()
    assert candidates(shuffled, victim)[LEAKER] == "refuted"
    innocent = suite.nodeid(30)
    answer = prove(shuffled, victim, leaker=innocent, result="confirmed", failed=5)
    assert answer.status_code == 201
    drain_all()
    assert candidates(shuffled, victim)[innocent] == "proven"
    leakers = told(f"{BASE}/leakers", shuffled.token)["items"]
    assert {row["nodeid"]: row["state"] for row in leakers} == {
        LEAKER: "open",  # of its other victims
        innocent: "open",
    }
    prove(shuffled, victim, result="confirmed", failed=5)
    drain_all()
    assert candidates(shuffled, victim)[LEAKER] == "proven"


@pytest.fixture
def once(acme) -> Created:
    """A project with one run."""
    suite.send_all(acme, suite.story(runs=2), start=START)
    drain_all()
    return acme


def test_a_proof_told_twice_is_one(once):
    victim = suite.nodeid(suite.VICTIMS[0])
    first = prove(once, victim, "p-1")
    again = prove(once, victim, "p-1")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert Proof.objects.count() == 1
    assert refused(prove(once, victim, "p-1", runs=6), 409)
    unnamed = [prove(once, victim).status_code for _ in range(2)]
    assert unnamed == [201, 200]
    rows = told(f"{BASE}/victims/{victim}/proofs", once.token)["items"]
    assert [row["id"] == "p-1" for row in rows] == [False, True]


def test_a_proof_that_says_nothing_is_refused(once):
    victim = suite.nodeid(suite.VICTIMS[0])
    assert wrong_fields(prove(once, victim, leaker="no such test")) == ["leaker"]
    assert wrong_fields(prove(once, victim, leaker=victim)) == ["leaker"]
    assert wrong_fields(prove(once, victim, result="perhaps")) == ["result"]
    assert wrong_fields(prove(once, victim, runs=-1)) == ["runs"]
    refused(prove(once, "no::such"), 404)
