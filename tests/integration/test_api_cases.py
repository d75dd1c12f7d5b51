"""Test cases over HTTP: by id, by node id, their statistics and history."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.utils import timezone

from projects.creation import Created, create_project
from tests.asking import ask, refused, told, wrong_fields
from tests.delivering import send

pytestmark = pytest.mark.django_db

TESTS = "/projects/acme/app/tests"
CART = "tests/test_cart.py::test_empty[a/b]"


def report(*cases: str) -> bytes:
    """A report of `name` or `name!` (failed) or `name~` (skipped) of pytest cases."""
    lines = []
    for case in cases:
        name, mark = case.rstrip("!~"), case[len(case.rstrip("!~")) :]
        file, _, last = name.partition("::")
        inner = {"!": '<failure message="no"/>', "~": "<skipped/>", "": ""}[mark]
        dotted = file.removesuffix(".py").replace("/", ".")
        lines.append(
            f'<testcase classname="{dotted}" file="{file}" name="{last}" time="0.5">'
            f"{inner}</testcase>"
        )
    text = f'<testsuite name="pytest">{"".join(lines)}</testsuite>'
    return text.encode()


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


def one(acme: Created, nodeid: str) -> Any:
    page = told(TESTS, acme.token, nodeid=nodeid)
    (item,) = page["items"]
    assert page["next"] is None
    return item


def ago(days: int) -> str:
    return (timezone.now() - timedelta(days=days)).isoformat()


def test_a_test_has_every_promised_field(acme):
    for n, mark in enumerate(("", "!", "~", "")):
        send(acme, report(CART + mark), run=f"{n}", started_at=ago(n + 1))
    case = told(f"/tests/{one(acme, CART)['id']}", acme.token)
    assert case["nodeid"] == CART
    assert case["file"] == "tests/test_cart.py"
    assert case["name"] == "test_empty[a/b]" or case["name"] == "test_empty"
    assert case["params"] == "a/b"
    assert case["state"] == "active"
    assert (case["owner"], case["line"]) == (None, None)
    assert case["first_seen"] <= case["last_seen"]
    stats = case["stats"]
    assert stats["runs"] == 4
    assert stats["fail_rate"] == pytest.approx(1 / 3)
    assert 0 <= stats["flake_rate"]["low"] <= stats["flake_rate"]["mean"]
    assert stats["flake_rate"]["mean"] <= stats["flake_rate"]["high"] <= 1
    assert stats["p50_s"] == pytest.approx(0.5, rel=0.3)
    assert stats["p95_s"] >= stats["p50_s"]
    assert {"suite", "url"} <= set(case)


def test_the_exact_look_up_takes_any_suffix_that_is_unique(acme):
    send(acme, report("a/t.py::one", "b/t.py::one", "b/t.py::one_more", CART))
    assert one(acme, "a/t.py::one")["nodeid"] == "a/t.py::one"
    assert one(acme, "a/t.py::one")["id"] != one(acme, "b/t.py::one")["id"]
    assert one(acme, "::one_more")["nodeid"] == "b/t.py::one_more"
    assert one(acme, "test_empty[a/b]")["nodeid"] == CART
    assert told(TESTS, acme.token, nodeid="t.py::two")["items"] == []
    answer = ask(TESTS, acme.token, nodeid="t.py::one")
    assert wrong_fields(answer) == ["nodeid"]
    assert "a/t.py::one" in answer.json()["detail"]


def test_the_look_up_obeys_the_other_filters(acme):
    send(acme, report("a/t.py::one", "b/t.py::two"))
    assert len(told(TESTS, acme.token, nodeid="::one", q="T.PY")["items"]) == 1
    assert told(TESTS, acme.token, nodeid="::one", file="b/t.py")["items"] == []
    assert told(TESTS, acme.token, nodeid="::one", state="gone")["items"] == []


def test_tests_are_listed_as_they_were_met_filtered_and_in_pages(acme):
    send(acme, report("b.py::one", "a.py::one", "a.py::two"))
    old = report("old.py::one")
    send(acme, old, run="old", started_at=ago(60))

    def listed(**query) -> list[str]:
        return [each["nodeid"] for each in told(TESTS, acme.token, **query)["items"]]

    assert listed() == ["b.py::one", "a.py::one", "a.py::two", "old.py::one"]
    assert listed(q="ONE") == ["b.py::one", "a.py::one", "old.py::one"]
    assert listed(file="a.py") == ["a.py::one", "a.py::two"]
    assert listed(file="a") == []
    assert listed(state="gone") == ["old.py::one"]
    assert listed(state="active", q="one") == ["b.py::one", "a.py::one"]
    assert listed(q="%") == []
    page = told(TESTS, acme.token, limit=3)
    rest = told(TESTS, acme.token, limit=3, cursor=page["next"])
    assert [each["nodeid"] for each in rest["items"]] == ["old.py::one"]
    assert rest["next"] is None


def test_the_statistics_are_of_the_window_that_was_asked_for(acme):
    send(acme, report("a.py::one!"), run="1", started_at=ago(20))
    send(acme, report("a.py::one"), run="2", started_at=ago(2))
    for query in ({}, {"nodeid": "a.py::one"}, {"q": "one"}):
        for window, runs in (("30d", 2), ("7d", 1)):
            (item,) = told(TESTS, acme.token, window=window, **query)["items"]
            assert item["stats"]["runs"] == runs, (query, window)


@pytest.mark.parametrize("safe", ["", "/:[]"])
def test_a_node_id_stands_in_a_path_encoded(acme, safe):
    send(acme, report(CART))
    path = f"{TESTS}/{quote(CART, safe=safe)}"
    assert told(path, acme.token)["nodeid"] == CART
    (cell,) = told(f"{path}/history", acme.token)["items"]
    assert cell["outcome"] == "passed"


def test_an_id_stands_in_the_same_path(acme):
    send(acme, report(CART))
    case = one(acme, CART)
    assert told(f"{TESTS}/{case['id']}", acme.token) == case
    assert len(told(f"{TESTS}/{case['id']}/history", acme.token)["items"]) == 1
    other = create_project("other/app", actor="test")
    refused(ask(f"/projects/other/app/tests/{case['id']}", other.token), 404)


def test_history_is_matched_last(acme):
    whole, shorter = "web/t.py::GET /history", "web/t.py::GET "
    send(acme, report(whole, "a.py::x"))
    path = f"{TESTS}/{quote(whole)}"
    assert told(path, acme.token)["nodeid"] == whole
    assert len(told(f"{path}/history", acme.token)["items"]) == 1
    assert told(f"{TESTS}/a.py::x/history", acme.token)["next"] is None
    refused(ask(f"{TESTS}/{quote(shorter)}x/history", acme.token), 404)


def test_history_is_newest_first_and_comes_in_pages(acme):
    for n, mark in enumerate(("", "!", "")):
        send(
            acme,
            report(CART + mark),
            run=f"r{n}",
            branch="main",
            commit=f"abc000{n}",
            started_at=ago(3 - n),
        )
    path = f"/tests/{one(acme, CART)['id']}/history"
    cells = told(path, acme.token)["items"]
    assert [(each["run_name"], each["outcome"]) for each in cells] == [
        ("r2", "passed"),
        ("r1", "failed"),
        ("r0", "passed"),
    ]
    assert [each["message"] for each in cells] == [None, "no", None]
    assert cells[0]["branch"] == "main"
    assert told(f"/runs/{cells[0]['run']}", acme.token)["commit"] == "abc0002"
    page = told(path, acme.token, limit=2)
    rest = told(path, acme.token, limit=2, cursor=page["next"])
    assert [each["run_name"] for each in rest["items"]] == ["r0"]
    assert rest["next"] is None


def test_a_test_of_another_project_looks_like_none(acme):
    other = create_project("other/app", actor="test")
    send(other, report(CART))
    page = told("/projects/other/app/tests", other.token)
    case_id = page["items"][0]["id"]
    for end in ("", "/history"):
        theirs = refused(ask(f"/tests/{case_id}{end}", acme.token), 404)
        assert theirs == refused(ask(f"/tests/{case_id + 1}{end}", acme.token), 404)
        refused(ask(f"{TESTS}/{case_id}{end}", acme.token), 404)
        refused(ask(f"{TESTS}/{quote(CART)}{end}", acme.token), 404)
