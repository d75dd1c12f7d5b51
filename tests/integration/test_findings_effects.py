"""Ledgers of effects from the upload to the list, the leaks and the findings."""

from __future__ import annotations

import json

import pytest

from findings.models import Effect, Finding, Ledger
from healthboard.pipeline import drain_all
from ingest import replaying
from ingest.models import Handover
from projects.creation import Created, create_project
from projects.models import Role
from results.models import Run
from tests.asking import told
from tests.delivering import send as send_reports
from tests.reviewing import ledger, send
from tests.visiting import base, visit, visitor

pytestmark = pytest.mark.django_db

FIELDS = ("execution", "impact", "verdict", "cleanup", "unresolved_impact")
TEST = "tests/test_cart.py::test_total"
JUNIT = b"""<testsuite name="pytest"><testcase classname="tests.test_cart"
 name="test_total" time="0.5"/></testsuite>"""


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


def send_ledger(acme: Created, raw: bytes, **context):
    return send(acme, ("effects", "effects.jsonl", raw), **context)


def effects(acme: Created, **query):
    return told("/projects/acme/app/effects", acme.token, limit=500, **query)["items"]


def findings(acme: Created) -> dict[str, tuple[str, str]]:
    items = told("/projects/acme/app/findings", acme.token)["items"]
    return {each["effect_id"]: (each["severity"], each["state"]) for each in items}


def test_effects_are_judged_and_disclosed(acme: Created):
    send_ledger(acme, ledger(), run="ci-1", pr=7)
    found = {each["effect_id"]: each for each in effects(acme)}
    assert {name: each["verdict"] for name, each in found.items()} == {
        "e1": "verified",
        "e3": "contradicted",
        "e5": "unverified",
        "e7": "failed",
        "e9": "unverified",
    }
    assert (
        found["e5"]["disclosure"] == "reported success but not independently verified"
    )
    assert (found["e7"]["cleanup"], found["e7"]["unresolved_impact"]) == (
        "failed",
        True,
    )
    assert (found["e9"]["execution"], found["e9"]["replayed"]) == ("interrupted", True)
    assert [event["kind"] for event in found["e1"]["timeline"]] == [
        "claim",
        "outcome",
        "observation",
    ]
    run = Run.objects.get()
    assert {each["run"] for each in found.values()} == {run.pk}
    assert len(effects(acme, run=run.pk, verdict="unverified")) == 2
    assert effects(acme, run=run.pk + 1) == []


def test_each_verdict_is_a_finding_of_its_severity(acme: Created):
    send_ledger(acme, ledger(), run="ci-1", pr=7)
    assert findings(acme) == {
        "e3": ("P1", "open"),
        "e5": ("P3", "open"),
        "e7": ("P2", "open"),
        "e9": ("P2", "open"),
    }


def test_what_a_later_export_no_longer_raises_is_resolved(acme: Created):
    unseen = ledger(seen=False)
    send_ledger(acme, unseen, run="ci-1")
    assert {each["verdict"] for each in effects(acme) if each["effect_id"] == "e1"} == {
        "unverified"
    }
    send_ledger(acme, unseen.replace(b'"absent"', b'"exists"'), run="ci-1")
    assert findings(acme)["e3"] == ("P1", "resolved")
    assert len(effects(acme)) == 5  # of the same effect only the latest is listed


def test_effects_of_a_test_are_leaks_of_it(acme: Created):
    send_reports(acme, JUNIT, run="ci-1")
    send_ledger(acme, ledger(), run="ci-1")
    leaks = told("/projects/acme/app/leaks", acme.token)["items"]
    assert {(each["nodeid"], each["kind"], each["enforced"]) for each in leaks} == {
        (TEST, "effect.contradicted", False),
        (TEST, "effect.unverified", False),
        (TEST, "effect.failed", False),
    }
    assert {each["nodeid"] for each in effects(acme)} == {TEST}
    run = Run.objects.get()
    assert (run.outcome, run.tests) == ("passed", 1)
    first = told("/projects/acme/app/findings", acme.token)["items"][0]
    assert {each["nodeid"] for each in first["leaks"]} == {TEST}


def test_the_upload_can_name_the_test_of_all_effects(acme: Created):
    send_ledger(acme, ledger(), run="ci-1", test="tests/test_mail.py::test_send")
    assert {each["nodeid"] for each in effects(acme)} == {
        "tests/test_mail.py::test_send"
    }
    leaks = told("/projects/acme/app/leaks", acme.token)["items"]
    assert {each["nodeid"] for each in leaks} == {"tests/test_mail.py::test_send"}


def test_a_bad_line_rejects_the_whole_and_damages_its_run(acme: Created):
    raw = ledger().replace(b'"v": 1', b'"v": 2', 3).replace(b'"v": 2', b'"v": 1', 2)
    row = send_ledger(acme, raw, run="ci-1")
    assert (row.state, row.errors[0]["line"], row.errors[0]["path"]) == (
        "rejected",
        3,
        "v",
    )
    assert Run.objects.get().outcome == "damaged"
    assert Effect.objects.count() == 0
    send_ledger(acme, ledger(), run="ci-1")
    assert Run.objects.get().outcome == "no_results"


def test_a_run_with_a_ledger_alone_says_so_where_a_person_reads_it(acme: Created):
    send_ledger(acme, ledger(), run="ci-1", branch="main")
    run = Run.objects.get()
    assert (run.outcome, run.instead) == ("no_results", "effects")
    client = visitor(acme.project, Role.VIEWER, name="vi")
    for path in ("/", "/runs", f"/runs/{run.pk}"):
        assert "effects only" in visit(client, base(acme.project) + path), path
    send_reports(acme, JUNIT, run="ci-1", branch="main")
    run.refresh_from_db()
    assert (run.outcome, run.instead) == ("passed", "")


def test_a_torn_last_line_is_a_warning(acme: Created):
    row = send_ledger(acme, ledger() + b'{"v": 1, "ty', run="ci-1")
    assert (row.state, [each["code"] for each in row.warnings]) == (
        "processed",
        ["torn-line"],
    )
    assert len(effects(acme)) == 5


def test_processing_again_leaves_the_same(acme: Created):
    send_ledger(acme, ledger(), run="ci-1")
    before, pks = effects(acme), set(Finding.objects.values_list("pk", flat=True))
    replaying.replay()
    drain_all()
    again = effects(acme)
    assert [each | {"id": 0} for each in again] == [each | {"id": 0} for each in before]
    assert set(Finding.objects.values_list("pk", flat=True)) == pks
    assert Ledger.objects.count() == 1


def test_a_ledger_that_is_being_written_counts_nowhere(acme: Created):
    send_ledger(acme, ledger(), run="ci-1")
    Ledger.objects.update(current=False)  # as a killed worker leaves it
    assert effects(acme) == []
    upload = Ledger.objects.get().upload
    Handover.objects.filter(upload=upload).update(due_at=upload.received_at)
    drain_all()
    assert len(effects(acme)) == 5
    assert Ledger.objects.count() == 1


def test_the_shared_samples_are_judged_and_rejected_as_recorded(acme: Created, shared):
    """Each through the whole system, as the upload of a run of its own."""
    samples = sorted((shared / "samples/effects").rglob("*.jsonl"))
    assert samples
    for sample in samples:
        expected = json.loads(sample.with_suffix(".expected.json").read_text())
        raw = sample.read_bytes()
        row = send_ledger(acme, raw, run=str(sample), complete=expected["ended"])
        if expected["rejected"]:
            assert (row.state, row.errors[0]["line"]) == ("rejected", expected["line"])
            continue
        judged = {
            each["effect_id"]: {name: each[name] for name in FIELDS}
            for each in effects(acme, run=row.run_id)
        }
        for each in judged.values():
            each["impact"] = each["impact"] or None
        assert judged == expected["effects"], sample.name
