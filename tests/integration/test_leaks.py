"""Leaks from the upload that tells them to the API that answers with them."""

from __future__ import annotations

import json

import pytest

from formats.outcomes import CODE, Outcome
from healthboard.pipeline import drain_all
from ingest import replaying
from ingest.models import Upload as Row
from projects.creation import Created, create_project
from results.models import Failure, Leak, Run
from results.queries import cases, runs
from tests.asking import ask, told, wrong_fields
from tests.sending import Upload, bearer, post

pytestmark = pytest.mark.django_db

NAME = "test_swaps_the_loader"
NODEID = f"tests/test_loader.py::{NAME}"
SAID = (
    f"{NODEID} removed 3 module(s) from sys.modules and did not restore them: "
    "shop.cart, shop.tax (+1 more)"
)


def case(name, child="", classname="tests.test_loader"):
    return (
        f'<testcase classname="{classname}" name="{name}" time="0.1">{child}</testcase>'
    )


def error(message=f"failed on teardown with &quot;Failed: {SAID}&quot;", text=""):
    return f'<error message="{message}">{text}</error>'


def suite(*cases):
    return f'<testsuite name="pytest">{"".join(cases)}</testsuite>'.encode()


def gate(*leaks, **fields):
    return json.dumps(
        {"schema": "healthboard.gate/1", "gate": "ours", "leaks": leaks} | fields
    ).encode()


def leak(test=NODEID, kind="sys_modules.removed", **fields):
    return {"test": test, "kind": kind, "items": ["shop.cart"]} | fields


GATED = suite(case(NAME, error()), case("test_other"))


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="a test")


def send(acme, *files, run="r1", **context):
    named = [(kind, f"{n}.{kind}", raw) for n, (kind, raw) in enumerate(files, 1)]
    context = {"run": run, "branch": "main", "commit": "c" * 40} | context
    answer = post(Upload(context, named), bearer(acme.token))
    assert answer.status_code == 202, answer.content
    drain_all()
    return Row.objects.get(pk=answer.json()["id"])


def leaks_of(acme, **query):
    return told("/projects/acme/app/leaks", acme.token, **query)["items"]


def run_of(acme):
    run = Run.objects.get()
    return told(f"/runs/{run.pk}", acme.token)


def test_a_recognised_text_is_a_leak_of_a_passed_test(acme):
    send(acme, ("junit", GATED), exit_code=1, pr=7)
    run = run_of(acme)
    assert run["outcome"] == "failed"
    assert run["failed_outside"] is False
    assert run["counts"] == {
        "tests": 2, "passed": 2, "failed": 0, "errors": 0, "skipped": 0,
        "xfailed": 0, "xpassed": 0, "flaky": 0,
    }  # fmt: skip
    assert run["reported"]["errors"] == 1
    [one] = leaks_of(acme)
    case_id = one.pop("test")
    assert one == {
        "nodeid": NODEID,
        "kind": "sys_modules.removed",
        "gate": "sys_modules",
        "items": ["shop.cart", "shop.tax"],
        "item_count": 3,
        "phase": "teardown",
        "worker": None,
        "position": 0,
        "enforced": True,
        "opted_out": False,
        "message": SAID,
        "recipe": None,
        "detail": None,
        "run": run["id"],
        "commit": "c" * 40,
    }
    rows = told(f"/runs/{run['id']}/results", acme.token)["items"]
    [mine] = [row for row in rows if row["test"] == case_id]
    assert (mine["outcome"], mine["leaking"], mine["flaky"]) == ("passed", True, False)
    assert SAID in mine["message"]


def test_a_payload_alone_is_of_the_same_test_and_no_missing_part(acme):
    send(acme, ("junit", suite(case(NAME), case("test_other"))))
    row = send(
        acme, ("gate", gate(leak())), job="gates", shard={"index": 2, "count": 4}
    )
    assert (row.state, row.errors) == ("processed", [])
    run = run_of(acme)
    assert run["outcome"] == "failed"
    assert run["completeness"]["expected_shards"] == 1
    assert run["counts"]["tests"] == 2
    assert [shard["job"] for shard in run["shards"]] == [""]
    [one] = leaks_of(acme)
    rows = told(f"/runs/{run['id']}/results", acme.token)["items"]
    assert [row["test"] for row in rows if row["leaking"]] == [one["test"]]


def test_the_same_in_any_order(acme):
    files = [("junit", GATED), ("gate", gate(leak(recipe="restore it")))]
    seen = []
    for run, order in (("a", files), ("b", files[::-1])):
        for one in order:
            send(acme, one, run=run)
        row = Run.objects.get(name=run)
        [told_leak] = leaks_of(acme, run=row.pk)
        told_leak.pop("run")
        seen.append((row.outcome, row.passed, row.leaks, row.leaks_raised, told_leak))
    assert seen[0] == seen[1]
    assert seen[0][:4] == ("failed", 2, 1, 1)
    assert seen[0][4]["recipe"] == "restore it"  # the payload counts, not the text


def test_a_trace_of_its_own_does_not_contradict_the_report(acme):
    """A trace calls a gate's failure an error, and knows no words."""
    names = {NODEID: "error", "tests/test_loader.py::test_other": "passed"}
    lines = [
        {"v": 1, "test": test, "outcome": names[test], "worker": "w", "pid": 1}
        | {"position": position}
        for position, test in enumerate(names)
    ]
    trace = "\n".join(map(json.dumps, lines)).encode() + b"\n"
    send(acme, ("order", trace))
    assert run_of(acme)["counts"]["errors"] == 1
    send(acme, ("junit", GATED))
    run = run_of(acme)
    assert (run["counts"]["passed"], run["counts"]["errors"]) == (2, 0)
    assert [one["kind"] for one in run["problems"]] == ["leak"]
    assert run["reported"]["errors"] == 1


def test_processing_again_replaces_exactly_what_was_told(acme):
    row = send(acme, ("junit", GATED), ("gate", gate(leak(kind="env.set"))))
    before = leaks_of(acme)
    assert len(before) == 2
    assert replaying.replay(ids=[row.pk]) == 1
    drain_all()
    assert leaks_of(acme) == before
    assert Leak.objects.count() == 2


def test_the_same_payload_again_adds_nothing(acme):
    send(acme, ("gate", gate(leak(), leak(test=None, kind="env.set"))))
    other = gate(leak(), leak(test=None, kind="env.set")) + b" "
    send(acme, ("gate", other))
    assert len(leaks_of(acme)) == 2
    assert Run.objects.get().leaks == 2


def test_a_later_attempt_without_the_leak_supersedes_it(acme):
    send(acme, ("junit", GATED))
    send(acme, ("junit", suite(case(NAME))), attempt=2)
    run = run_of(acme)
    assert (run["outcome"], run["counts"]["flaky"]) == ("passed", 0)
    assert leaks_of(acme) == []
    [mine] = told(f"/runs/{run['id']}/results", acme.token, q=NAME)["items"]
    assert (mine["leaking"], mine["message"]) == (False, None)


def test_a_later_attempt_of_other_tests_does_not(acme):
    send(acme, ("junit", GATED))
    send(acme, ("junit", suite(case("test_other"))), attempt=2)
    assert run_of(acme)["outcome"] == "failed"
    assert len(leaks_of(acme)) == 1


@pytest.mark.parametrize(
    ("fields", "outcome", "raised"),
    [
        ({}, "failed", 1),
        ({"enforced": False}, "passed", 0),
        ({"opted_out": True}, "passed", 0),
    ],
)
def test_only_what_is_enforced_fails_a_run(acme, fields, outcome, raised):
    send(acme, ("junit", suite(case(NAME))), ("gate", gate(leak(**fields))))
    assert run_of(acme)["outcome"] == outcome
    assert Run.objects.get().leaks_raised == raised
    assert len(leaks_of(acme)) == 1


@pytest.mark.parametrize(
    ("fields", "outcome"), [({}, "failed"), ({"enforced": False}, "no_results")]
)
def test_a_run_of_leaks_alone(acme, fields, outcome):
    send(acme, ("gate", gate(leak(**fields))))
    run = run_of(acme)
    assert (run["outcome"], run["counts"]["tests"]) == (outcome, 0)
    assert run["completeness"]["missing"] == run["shards"] == []


def test_a_missing_part_still_is_missing(acme):
    send(acme, ("junit", GATED), shard={"index": 1, "count": 2})
    send(acme, ("gate", gate(leak())), shard={"index": 2, "count": 2})
    run = run_of(acme)
    assert (run["outcome"], run["completeness"]["missing"]) == ("incomplete", [2])


def test_a_bad_payload_has_its_place_and_damages_the_run_until_it_is_mended(acme):
    bad = gate(*[leak()] * 3, leak(item_count=-1))
    row = send(acme, ("junit", suite(case(NAME))), ("gate", bad))
    shown = told(f"/uploads/{row.pk}", acme.token)
    assert shown["state"] == "processed"
    assert shown["error"]["path"] == "leaks[3].item_count"
    assert shown["error"]["message"].startswith("leaks[3].item_count: must be 0 to")
    assert leaks_of(acme) == []
    assert run_of(acme)["outcome"] == "damaged"
    send(acme, ("gate", gate()))
    assert run_of(acme)["outcome"] == "passed"


def test_a_bad_payload_alone_is_rejected(acme):
    row = send(acme, ("gate", b"{"))
    assert row.state == "rejected"
    run = run_of(acme)
    assert (run["outcome"], run["completeness"]["expected_shards"]) == ("damaged", 0)


def test_a_state_guards_list_has_its_details(acme):
    entries = [
        {
            "path": "/b/1",
            "reason": "no agent_session",
            "agent_session": None,
            "prompt": "",
        },
        {"path": "/b/2", "reason": "stale", "agent_session": "a:1", "prompt": "go"},
    ]
    send(acme, ("auto", json.dumps(entries).encode()))
    found = leaks_of(acme, kind="control_plane.entry")
    assert [one["detail"] for one in found] == entries
    assert {(one["test"], one["nodeid"]) for one in found} == {(None, None)}


def test_filters(acme):
    send(acme, ("gate", gate(leak(), leak(kind="env.set"))), run="a", pr=7)
    send(acme, ("gate", gate(leak("tests/test_b.py::test_b"))), run="b", pr=8)
    assert [one["kind"] for one in leaks_of(acme)] == [
        "sys_modules.removed",
        "sys_modules.removed",
        "env.set",
    ]
    assert len(leaks_of(acme, pr=7)) == len(leaks_of(acme, test=NODEID)) == 2
    assert len(leaks_of(acme, kind="env.set")) == len(leaks_of(acme, pr=8)) == 1
    assert len(leaks_of(acme, run=Run.objects.get(name="b").pk)) == 1
    assert leaks_of(acme, kind="env") == leaks_of(acme, test="test_nowhere") == []
    other = Leak.objects.first()
    assert len(leaks_of(acme, test=str(other.test_id))) == 2


def test_pages_of_the_list(acme):
    send(acme, ("gate", gate(*[leak(kind=f"k.{n}") for n in range(5)])))
    seen, cursor = [], None
    for _ in range(3):
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = told("/projects/acme/app/leaks", acme.token, **query)
        seen += [one["kind"] for one in page["items"]]
        cursor = page["next"]
    assert (seen, cursor) == ([f"k.{n}" for n in range(5)], None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"nope": "1"},
        {"run": "x"},
        {"pr": "0"},
        {"kind": ""},
        {"cursor": "x"},
        {"limit": "0"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_wrong_filter_is_named(acme, wrong):
    answer = ask("/projects/acme/app/leaks", acme.token, **wrong)
    assert wrong_fields(answer) == list(wrong)


def test_a_history_knows_where_it_leaked(acme):
    send(acme, ("junit", GATED), run="a")
    send(acme, ("junit", suite(case(NAME))), run="b")
    case_id = Leak.objects.get().test_id
    cells = cases.history(case_id).items
    assert {cell.run_name: cell.leaking for cell in cells} == {"a": True, "b": False}


def test_a_leaks_text_stays_readable(acme):
    send(acme, ("junit", GATED))
    failure = Failure.objects.get()
    assert failure.outcome == CODE[Outcome.PASSED]
    assert SAID in failure.detail.message
    assert runs.failure_groups(Run.objects.get().pk) == []


def test_the_samples_go_all_the_way(acme, shared):
    samples = shared / "samples"
    report = (samples / "gate-sys-modules-junit.xml").read_bytes()
    guard = (samples / "state-guard.json").read_bytes()
    send(acme, ("auto", report), ("auto", guard))
    found = leaks_of(acme)
    assert sorted(one["kind"] for one in found) == ["control_plane.entry"] * 3 + [
        "sys_modules.removed"
    ]
    counts = run_of(acme)["counts"]
    assert (counts["passed"], counts["failed"], counts["errors"]) == (3, 2, 0)
