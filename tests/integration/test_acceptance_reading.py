"""The read API: every promised field, every list to its end, numbers by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.outside import junit, report

if TYPE_CHECKING:
    from tests.outside import Outside, Project

pytestmark = [pytest.mark.kill, pytest.mark.timeout(180)]

FAILED = "<failure message='boom'>E boom</failure>"
SKIPPED = "<skipped message='not here'/>"
NUMBER = (int, float)
REPORTED = dict.fromkeys(["tests", "passed", "failed", "errors", "skipped"], int)
COUNTS = REPORTED | dict.fromkeys(["xfailed", "xpassed", "flaky"], int)
PROBLEM = {"message": str, "file": str, "line": "int?", "column": "int?"}
PROMISED: dict[str, dict[str, Any]] = {
    "/uploads/{upload}": {
        "id": int,
        "state": str,
        "kind": [str],
        "error": "null",
        "errors": [PROBLEM],
        "warnings": [PROBLEM],
        "run": int,
        "received_at": "time",
        "processed_at": "time",
    },
    "/uploads/{bad}": {"error": PROBLEM, "errors": [PROBLEM], "state": str},
    "/runs/{run}": {
        "run": str,
        "attempts": [{"attempt": int}],
        "environment": dict,
        "branch": str,
        "commit": str,
        "pr": int,
        "outcome": str,
        "started_at": "time",
        "counts": COUNTS,
        "reported": REPORTED,
        "duration_s": NUMBER,
        "wall_s": NUMBER,
        "shards": [
            {
                "index": int,
                "count": int,
                "tests": int,
                "duration_s": NUMBER,
                "state": str,
            }
        ],
        "completeness": {
            "expected_shards": int,
            "received": int,
            "missing": [int],
            "duplicated_tests": [str],
        },
        "order": str,
    },
    "/runs/{run}/results": {
        "items": [
            {
                "test": int,
                "nodeid": str,
                "outcome": str,
                "attempts": int,
                "duration_s": "number?",
                "worker": "str?",
                "position": "int?",
                "message": "str?",
                "failure_group": "str?",
                "cause": "str?",
            }
        ],
        "next": "str?",
    },
    "/tests/{test}": {
        "nodeid": str,
        "file": "str?",
        "line": "int?",
        "suite": "str?",
        "name": str,
        "params": "str?",
        "owner": "str?",
        "state": str,
        "first_seen": "time",
        "last_seen": "time",
        "stats": {
            "runs": int,
            "fail_rate": "number?",
            "flake_rate": {"mean": NUMBER, "low": NUMBER, "high": NUMBER},
            "p50_s": "number?",
            "p95_s": "number?",
        },
    },
    "/projects/{p}/status": {
        "pending": int,
        "stages": dict,
        "last_processed_at": "time",
    },
    "/projects/{p}/trends?metric=pass_rate&window=30d&by=day": {
        "points": [{"value": "number?"}]
    },
}


def check(value: Any, shape: Any, place: str) -> None:
    """Fail where a value is not what was promised; more fields are fine."""
    if isinstance(shape, dict):
        assert isinstance(value, dict), place
        for name, inner in shape.items():
            assert name in value, f"{place}.{name}"
            check(value[name], inner, f"{place}.{name}")
    elif isinstance(shape, list):
        assert isinstance(value, list), place
        for at, each in enumerate(value):
            check(each, shape[0], f"{place}[{at}]")
    elif shape == "null":
        assert value is None, place
    elif shape == "time":
        assert datetime.fromisoformat(value).utcoffset() == timedelta(0), place
        assert value.endswith("Z"), place
    elif isinstance(shape, str):
        kinds = {"int?": int, "str?": str, "number?": NUMBER}
        assert value is None or isinstance(value, kinds[shape]), (place, value)
    else:
        assert isinstance(value, shape), (place, value)
        assert not isinstance(value, bool), place


@pytest.fixture(scope="module")
def project(running: Outside) -> Project:
    return running.project()


@pytest.fixture(scope="module")
def ids(project: Project) -> dict[str, Any]:
    """One run with everything in it; a bad upload; and a test of it."""
    said = {"run": "whole", "branch": "b", "commit": "c1", "pr": 4}
    said |= {"environment": {"os": "linux"}, "shard": {"index": 1, "count": 2}}
    file = report("a", f"b: {FAILED}", f"c: {SKIPPED}", time="3.5")
    whole = project.give(said, ("junit", "r.xml", file))
    again = said | {"attempt": 2}
    project.give(again, junit("b"))
    bad = project.give({"run": "bad"}, ("junit", "bad.xml", b"<testsuite>"))
    run = project.run_of(whole)
    test = project.results(run, q="tea::b")[0]["test"]
    slug = project.slug
    return {"upload": whole, "bad": bad, "run": run["id"], "test": test, "p": slug}


@pytest.mark.parametrize("path", PROMISED)
def test_every_promised_field_is_there(project: Project, ids, path: str):
    check(project.get("/api/v1" + path.format(**ids)), PROMISED[path], path)


def test_a_slug_may_be_encoded_or_not(project: Project, ids):
    for slug in (
        project.slug,
        quote(project.slug, safe=""),
        "acme%2f" + project.slug[5:],
    ):
        for rest in ("runs", "tests", "status", "trends?metric=pass_rate"):
            assert project.ask("GET", f"/api/v1/projects/{slug}/{rest}").status == 200


LISTS = ["/projects/{p}/runs", "/projects/{p}/tests", "/runs/{run}/results"]
LISTS += ["/tests/{test}/history"]


@pytest.mark.parametrize("path", sorted({*LISTS, *PROMISED}))
def test_an_unknown_parameter_is_named(project: Project, ids, path: str):
    address = "/api/v1" + path.format(**ids)
    asked = f"{address}{'&' if '?' in address else '?'}colour=red"
    answer = project.ask("GET", asked)
    assert answer.status == 422, asked
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert [error["field"] for error in answer.json["errors"]] == ["colour"]


WRONG = [("limit", "0"), ("limit", "501"), ("limit", "x"), ("limit", "")]
WRONG += [("cursor", "x"), ("cursor", ""), ("cursor", "MQ=="), ("cursor", "é")]


@pytest.mark.parametrize("path", LISTS)
def test_a_wrong_parameter_is_named(project: Project, ids, path: str):
    for name, value in WRONG:
        address = f"/api/v1{path.format(**ids)}?{name}={quote(value)}"
        answer = project.ask("GET", address)
        assert answer.status == 422, address
        assert [error["field"] for error in answer.json["errors"]] == [name]


def test_every_list_is_walked_once_in_steps_of_any_size(running: Outside):
    project = running.project()
    now = datetime.now(UTC)
    names = [f"t{number}" for number in range(11)]
    stamps = [now - timedelta(minutes=number // 3) for number in range(9)]
    for number, stamp in enumerate(stamps):
        said = {"run": f"r{number}", "started_at": stamp.isoformat()}
        project.give(said, junit(*names, name=f"{number}.xml"))
    project.settle()
    run = project.items(f"{project.path}/runs")[0]["id"]
    test = project.items(f"{project.path}/tests")[0]["id"]
    lengths = {"runs": 9, "tests": 11, "results": 11, "history": 9}
    for path in LISTS:
        address = "/api/v1" + path.format(run=run, test=test, p=project.slug)
        whole = [json.dumps(each) for each in project.items(address, limit=500)]
        assert len(whole) == len(set(whole)) == lengths[path.rpartition("/")[2]]
        for limit in (1, 2, 3, 4, 10):
            walked = [json.dumps(each) for each in project.items(address, limit=limit)]
            assert walked == whole, (path, limit)


def test_a_test_is_found_by_its_id_and_by_any_suffix_that_is_unique(running: Outside):
    project = running.project()
    names = [
        "adds",
        "a/b",
        "ü 😀",
        "100%",
        "x?y#z",
        "[1-2]",
        "history",
        "a::b",
        "\u202er",
    ]
    cases = "".join(f'<testcase classname="c" name="{name}"/>' for name in names)
    raw = f'<testsuite name="s">{cases}</testsuite>'.encode()
    project.give({"run": "r"}, ("junit", "r.xml", raw))
    project.settle()
    known = {one["nodeid"]: one["id"] for one in project.items(f"{project.path}/tests")}
    assert len(known) == len(names)
    for nodeid, number in known.items():
        path = f"{project.path}/tests/{quote(nodeid, safe='')}"
        assert project.get(path)["id"] == number
        assert len(project.items(f"{path}/history")) == 1
        [found] = project.items(f"{project.path}/tests", nodeid=nodeid)
        assert found["id"] == number
    by_suffix = project.items(f"{project.path}/tests", nodeid="c::adds")
    assert [one["nodeid"] for one in by_suffix] == ["s::c::adds"]
    assert (
        project.ask("GET", f"{project.path}/tests?nodeid=nothing").json["items"] == []
    )


def test_numbers_are_those_worked_out_by_hand(running: Outside):
    """Ten runs, two a day: `a` fails in three, is skipped in one, flaky in one."""
    project = running.project()
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    noon -= timedelta(days=1)
    said = [FAILED, "", SKIPPED, "", FAILED, "", "", FAILED, "", ""]
    for number, inside in enumerate(said):
        start = noon - timedelta(days=number // 2, hours=number % 2)
        told = {"run": f"r{number}", "branch": "main", "commit": f"c{number}"}
        told["started_at"] = start.isoformat()
        project.give(told, junit(f"a: {inside}" if inside else "a", "b"))
        if number == 0:
            project.give(told | {"attempt": 2}, junit("a"))
    project.settle()
    cases = {one["name"]: one for one in project.items(f"{project.path}/tests")}
    stats = cases["a"]["stats"]
    # Run 0 failed and then passed: passed and flaky. Two failures of nine that ran.
    assert stats["runs"] == 10
    assert stats["fail_rate"] == pytest.approx(2 / 9)
    assert cases["b"]["stats"]["fail_rate"] == 0
    rate = stats["flake_rate"]
    assert 0 < rate["low"] < rate["mean"] < rate["high"] < 1
    history = project.items(f"/api/v1/tests/{cases['a']['id']}/history")
    assert [one["run_name"] for one in history] == [f"r{n}" for n in range(10)]
    failed = [one["run_name"] for one in history if one["outcome"] == "failed"]
    assert failed == ["r4", "r7"]
    assert [one["run_name"] for one in history if one["flaky"]] == ["r0"]
    assert [one["attempts"] for one in history] == [2] + [1] * 9
    trends = project.get(f"{project.path}/trends?metric=pass_rate&window=5d&by=day")
    points = {one["date"]: one for one in trends["points"]}
    # Each day has two runs of two results; a skipped one is no result of the two.
    by_day = [(4, 4), (3, 3), (3, 4), (3, 4), (4, 4)]
    for number, (passed, executed) in enumerate(by_day):
        point = points[f"{noon - timedelta(days=number):%Y-%m-%d}"]
        assert point["value"] == pytest.approx(passed / executed), point


FILTERS = [
    ({"branch": "main"}, {"r0", "r2"}),
    ({"branch": "mai"}, set()),
    ({"commit": "abcdef1"}, {"r0"}),
    ({"pr": 7}, {"r1"}),
    ({"environment": "os=linux"}, {"r0", "r1"}),
    ({"environment": "os=linux,py=3"}, {"r1"}),
    ({"outcome": "failed"}, {"r2"}),
    ({"outcome": "passed", "branch": "main"}, {"r0"}),
    ({"since": "2026-02-02"}, {"r1", "r2"}),
    ({"until": "2026-02-02T00:00:00Z"}, {"r0"}),
    ({"since": "2026-02-02T12:00:00+00:00", "until": "2026-02-03T00:00:00Z"}, {"r1"}),
]


def test_filters_give_what_they_name(running: Outside):
    project = running.project()
    said: list[dict[str, Any]] = [
        {"branch": "main", "commit": "abcdef1234", "environment": {"os": "linux"}},
        {"branch": "b", "pr": 7, "environment": {"os": "linux", "py": "3"}},
        {"branch": "main", "commit": "fedcba9876", "environment": {"os": "mac"}},
    ]
    for number, told in enumerate(said):
        start = {"run": f"r{number}", "started_at": f"2026-02-0{number + 1}T12:00:00Z"}
        case = f"a: {FAILED}" if number == 2 else "a"
        project.give(start | told, junit(case))
    project.settle()
    for asked, expected in FILTERS:
        found = project.items(f"{project.path}/runs", **asked)
        assert {one["run"] for one in found} == expected, asked
