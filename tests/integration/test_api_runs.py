"""Runs and their results over HTTP, from real uploads."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.models import Upload as Row
from projects.creation import Created, create_project
from tests.asking import ask, refused, told
from tests.delivering import BROKEN, FIRST, GREEN, send

pytestmark = pytest.mark.django_db

RUNS = "/projects/acme/app/runs"
COUNTS = {
    "tests": 0,
    "passed": 0,
    "failed": 0,
    "errors": 0,
    "skipped": 0,
    "xfailed": 0,
    "xpassed": 0,
    "flaky": 0,
}
A = b'<testsuite name="pytest"><testcase classname="tests.test_a" name="one" time="2"/></testsuite>'
B_RED = b'<testsuite name="pytest"><testcase classname="tests.test_b" name="two" time="1"><failure message="no">x</failure></testcase></testsuite>'
B_GREEN = b'<testsuite name="pytest"><testcase classname="tests.test_b" name="two" time="3"/></testsuite>'


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


def run_of(created: Created, upload_id: int) -> Any:
    run_id = Row.objects.get(pk=upload_id).run_id
    return told(f"/runs/{run_id}", created.token)


def names(page: Any) -> list[str]:
    return [each["run"] for each in page["items"]]


def test_a_run_has_every_promised_field(acme):
    upload_id = send(
        acme,
        FIRST,
        run="github-7211",
        branch="feature",
        commit="abc1234def",
        base_branch="main",
        pr=538,
        environment={"os": "linux", "python": "3.12"},
        ci_url="https://ci.example/7211",
        started_at="2026-03-02T11:00:00+01:00",
    )
    run = run_of(acme, upload_id)
    assert {
        name: run[name]
        for name in ("run", "project", "environment", "branch", "commit", "pr")
    } == {
        "run": "github-7211",
        "project": "acme/app",
        "environment": {"os": "linux", "python": "3.12"},
        "branch": "feature",
        "commit": "abc1234def",
        "pr": 538,
    }
    assert run["outcome"] == "failed"
    assert run["started_at"] == "2026-03-02T10:00:00Z"
    assert run["counts"] == COUNTS | {
        "tests": 4,
        "passed": 2,
        "failed": 1,
        "skipped": 1,
    }
    assert run["reported"] == {
        "tests": 4,
        "passed": 2,
        "failed": 1,
        "errors": 0,
        "skipped": 1,
    }
    assert run["duration_s"] == 2.25
    assert run["completeness"] == {
        "expected_shards": 1,
        "received": 1,
        "missing": [],
        "duplicated_tests": [],
    }
    assert [each["attempt"] for each in run["attempts"]] == [1]
    assert [
        (each["index"], each["count"], each["tests"], each["duration_s"], each["state"])
        for each in run["shards"]
    ] == [(1, 1, 4, 2.25, "complete")]
    assert run["order"] in {"traced", "assumed", "unknown"}
    assert (run["problems"], run["uploads"]) == ([], [upload_id])
    assert run["url"].endswith(f"/api/v1/runs/{run['id']}")
    assert run["head_sha"] == "abc1234def"


def test_what_is_not_known_is_null(acme):
    run = run_of(acme, send(acme, A))
    for name in ("branch", "commit", "pr", "ci_url", "base_branch", "committed_at"):
        assert run[name] is None, name
    assert run["environment"] == {}


def test_missing_shards_are_named_until_they_come(acme):
    context: dict[str, Any] = {"run": "r", "job": "unit"}
    first = send(acme, A, shard={"index": 1, "count": 3}, **context)
    run = run_of(acme, first)
    assert run["outcome"] == "incomplete"
    assert run["completeness"]["expected_shards"] == 3
    assert run["completeness"]["received"] == 1
    assert run["completeness"]["missing"] == [2, 3]
    assert [(each["index"], each["state"]) for each in run["shards"]] == [
        (1, "complete"),
        (2, "missing"),
        (3, "missing"),
    ]
    send(acme, B_GREEN, shard={"index": 3, "count": 3}, **context)
    send(acme, A, shard={"index": 2, "count": 3}, **context)
    run = run_of(acme, first)
    assert run["outcome"] == "passed"
    assert run["completeness"]["missing"] == []
    assert len(run["completeness"]["duplicated_tests"]) == 1
    assert run["counts"]["tests"] == 2


def test_a_later_attempt_counts_and_the_earlier_stays_visible(acme):
    context: dict[str, Any] = {"run": "r", "job": "unit"}
    send(acme, A, shard={"index": 1, "count": 2}, **context)
    send(acme, B_RED, shard={"index": 2, "count": 2}, **context)
    last = send(acme, B_GREEN, shard={"index": 2, "count": 2}, attempt=2, **context)
    run = run_of(acme, last)
    assert run["outcome"] == "passed"
    assert run["counts"] == COUNTS | {"tests": 2, "passed": 2, "flaky": 1}
    assert [each["attempt"] for each in run["attempts"]] == [1, 2]
    assert run["attempts"][0]["counts"]["failed"] == 1
    results = told(f"/runs/{run['id']}/results", acme.token, outcome="flaky")
    assert [(each["attempts"], each["outcome"]) for each in results["items"]] == [
        (2, "passed")
    ]
    first = told(f"/runs/{run['id']}/results", acme.token, attempt=1, outcome="failed")
    assert [each["message"] for each in first["items"]] == ["no"]


def test_a_damaged_run_says_why(acme):
    run = run_of(acme, send(acme, GREEN, BROKEN, run="r"))
    assert run["outcome"] == "damaged"
    assert run["counts"]["passed"] == 3
    assert any("2.xml" in each["message"] for each in run["problems"])


def test_the_list_is_newest_first_and_filtered(acme):
    def sent(run: str, day: int, **context) -> None:
        report = A if run != "d" else B_RED
        at = f"2026-03-{day:02}T12:00:00Z"
        send(acme, report, run=run, started_at=at, **context)

    sent("a", 1, branch="main", commit="aaaaaaa1", environment={"os": "linux"})
    sent("b", 2, branch="main", commit="bbbbbbb2", environment={"os": "mac", "py": "3"})
    sent("c", 3, branch="feature", commit="ccccccc3", pr=7)
    sent("d", 4, branch="feature", commit="ccccccc3", pr=7)
    assert names(told(RUNS, acme.token)) == ["d", "c", "b", "a"]
    queries: list[tuple[dict[str, Any], list[str]]] = [
        ({"branch": "main"}, ["b", "a"]),
        ({"branch": "other"}, []),
        ({"commit": "ccccccc3"}, ["d", "c"]),
        ({"commit": "bbbbbbb"}, ["b"]),
        ({"pr": 7}, ["d", "c"]),
        ({"environment": "os=mac"}, ["b"]),
        ({"environment": "os=mac,py=3"}, ["b"]),
        ({"environment": "os=linux,py=3"}, []),
        ({"since": "2026-03-03"}, ["d", "c"]),
        ({"until": "2026-03-02T12:00:00Z"}, ["a"]),
        ({"since": "2026-03-02T13:00:00+01:00", "until": "2026-03-03"}, ["b"]),
        ({"outcome": "failed"}, ["d"]),
        ({"outcome": "damaged"}, []),
        ({"branch": "feature", "outcome": "passed"}, ["c"]),
    ]
    for query, expected in queries:
        assert names(told(RUNS, acme.token, **query)) == expected, query


def test_the_list_comes_in_pages(acme):
    for n in range(5):
        send(acme, A, run=f"r{n}", started_at=f"2026-03-01T0{n}:00:00Z")
    found: list[Any] = []
    cursor: dict[str, Any] = {}
    for _ in range(3):
        page = told(RUNS, acme.token, limit=2, **cursor)
        found.append(names(page))
        cursor = {"cursor": page["next"]}
    assert found == [["r4", "r3"], ["r2", "r1"], ["r0"]]
    assert page["next"] is None


def test_results_have_every_promised_field(acme):
    run = run_of(acme, send(acme, FIRST))
    page = told(f"/runs/{run['id']}/results", acme.token, outcome="failed")
    (result,) = page["items"]
    assert page["next"] is None
    assert result["nodeid"].endswith("::test_session")
    assert result["outcome"] == "failed"
    assert result["attempts"] == 1
    assert result["duration_s"] == pytest.approx(1.5, rel=0.01)
    assert result["message"] == "assert 401 == 200"
    assert result["failure_group"]
    assert result["cause"] is None
    assert {"worker", "position"} <= set(result)
    assert told(f"/tests/{result['test']}", acme.token)["nodeid"] == result["nodeid"]


def test_results_are_filtered_and_come_in_pages(acme):
    run = run_of(acme, send(acme, FIRST))
    path = f"/runs/{run['id']}/results"

    def last_parts(**query) -> list[str]:
        items = told(path, acme.token, **query)["items"]
        return sorted(each["nodeid"].rpartition("::")[2] for each in items)

    everything = ["test_empty[a/b]", "test_logout", "test_session", "test_total"]
    assert last_parts() == everything
    assert last_parts(outcome="passed") == ["test_empty[a/b]", "test_total"]
    assert last_parts(outcome="failing") == ["test_session"]
    assert last_parts(outcome="skipped") == ["test_logout"]
    assert last_parts(outcome="error") == []
    assert last_parts(q="LOGIN") == ["test_logout", "test_session"]
    assert last_parts(q="login", outcome="skipped") == ["test_logout"]
    found: list[Any] = []
    cursor: dict[str, Any] = {}
    while True:
        page = told(path, acme.token, limit=3, **cursor)
        found += page["items"]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert len(found) == len({each["test"] for each in found}) == 4


def test_a_run_of_another_project_looks_like_none(acme):
    other = create_project("other/app", actor="test")
    run = run_of(other, send(other, GREEN))
    for end in ("", "/results"):
        theirs = refused(ask(f"/runs/{run['id']}{end}", acme.token), 404)
        assert theirs == refused(ask(f"/runs/{run['id'] + 1}{end}", acme.token), 404)
    assert names(told(RUNS, acme.token)) == []
