"""Leaks from the upload that tells them to the API that answers with them."""

from __future__ import annotations

import json

import pytest

from healthboard.pipeline import drain_all
from ingest.models import Upload as Row
from projects.creation import Created, create_project
from results.models import Failure, Leak, Run
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
    return f'<testcase classname="{classname}" name="{name}" time="0.1">{child}</testcase>'


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
    row = send(acme, ("gate", gate(leak())), job="gates", shard={"index": 2, "count": 4})
    assert (row.state, row.errors) == ("processed", [])
    run = run_of(acme)
    assert run["outcome"] == "failed"
    assert run["completeness"]["expected_shards"] == 1
    assert run["counts"]["tests"] == 2
    assert [shard["job"] for shard in run["shards"]] == [""]
    [one] = leaks_of(acme)
    rows = told(f"/runs/{run['id']}/results", acme.token)["items"]
    assert [row["test"] for row in rows if row["leaking"]] == [one["test"]]


def test_x(acme):
    assert wrong_fields(ask("/projects/acme/app/leaks", acme.token, nope="1")) == ["nope"]
    assert Failure.objects.count() == Leak.objects.count() == 0
