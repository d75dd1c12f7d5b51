"""Every field of the context with every kind of value, against a running server."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from tests.outside import junit

if TYPE_CHECKING:
    from tests.outside import Answer, Outside, Project

pytestmark = [pytest.mark.kill, pytest.mark.timeout(300)]

# A value of each field that is right, and that a reader finds again.
RIGHT: dict[str, Any] = {
    "run": "r-1",
    "attempt": 3,
    "job": "unit",
    "shard": {"index": 1, "count": 1},
    "environment": {"os": "linux", "python": "3.12"},
    "branch": "feature/ü",
    "commit": "0123456789abcdef",
    "head_sha": "abcdef0123",
    "base_sha": "1111111",
    "committed_at": "2026-01-02T03:04:05+02:00",
    "started_at": "2026-01-02T04:04:05.5Z",
    "pr": 538,
    "base_branch": "main",
    "merge_base": "2222222",
    "ancestry": ["3333333", "4444444"],
    "ci_url": "https://ci.example/7211?x=y#z",
    "exit_code": 0,
    "complete": True,
    "test": "tests/test_a.py::test_x",
    "client": "healthboard/1.0",
    "protocol": 1,
}
TEXTS = {"run", "job", "branch", "base_branch", "test", "client"}
COMMITS = {"commit", "head_sha", "base_sha", "merge_base"}
NUMBERS = {"attempt", "pr", "exit_code", "protocol"}
# What no field takes, and for some values the fields that do.
WRONG: list[tuple[Any, set[str]]] = [
    (True, {"complete"}),
    (False, {"complete"}),
    (0, {"exit_code"}),
    (-1, {"exit_code"}),
    (1.5, set()),
    (1.0, set()),
    (10**30, set()),
    (2**63, set()),
    ("", TEXTS),
    ("a\0b", set()),
    ("a\nb", set()),
    ("\x1b[31m", set()),
    ("\ud800", set()),
    ("😀", TEXTS),
    ("x" * 10_000, set()),
    ([], {"ancestry"}),
    ([[]], set()),
    ([None], set()),
    ({}, {"environment"}),
    ({"a": None}, set()),
    ({"a": {}}, set()),
    ({"index": 0, "count": 1}, {"environment"}),
    ({"index": 3, "count": 2}, {"environment"}),
    ({"index": 1}, {"environment"}),
    ({"index": "1", "count": "1"}, {"environment"}),
    ({"index": 1, "count": 10**9}, {"environment"}),
    ("2026-01-02", TEXTS | COMMITS),
    ("2026-01-02T03:04:05", TEXTS),
    ("2026-02-30T00:00:00Z", TEXTS),
    ("0001-01-01T00:00:00+14:00", TEXTS),
    ("javascript:alert(1)", TEXTS),
    ("a/b", TEXTS),
]


@pytest.fixture(scope="module")
def project(running: Outside) -> Project:
    return running.project()


def give(project: Project, field: str, value: Any) -> Answer:
    told = {"run": uuid.uuid4().hex, field: value}
    return project.send(json.dumps(told).encode(), junit("a"))


@pytest.mark.parametrize("field", [*RIGHT, "project"])
def test_a_wrong_value_is_refused_by_the_name_of_its_field(project: Project, field):
    for value, taken in WRONG:
        answer = give(project, field, value)
        if field in taken:
            assert answer.status in (200, 202), (value, answer.body)
            continue
        assert answer.status in (400, 403, 422), (value, answer.status, answer.body)
        assert answer.json["field"].partition(".")[0].partition("[")[0] == field, value
        assert field in answer.json["detail"]


@pytest.mark.parametrize("field", RIGHT)
def test_null_is_as_good_as_nothing(project: Project, field):
    said = {"run": "nothing", "client": field} | {field: None}
    without = {name: value for name, value in said.items() if value is not None}
    first = project.send(json.dumps(without).encode(), junit("a"))
    again = project.send(json.dumps(said).encode(), junit("a"))
    assert first.status in (200, 202)
    assert (again.status, again.json["id"]) == (200, first.json["id"])


def test_what_was_taken_is_all_processed(running: Outside):
    """Nothing that admission takes may stop the worker."""
    fresh = running.project()
    sent = [
        give(fresh, field, value) for value, fields in WRONG for field in sorted(fields)
    ]
    ids = [answer.json["id"] for answer in sent]
    fresh.settle()
    assert {fresh.upload(number)["state"] for number in ids} == {"processed"}
    for page in (f"{fresh.path}/runs", f"{fresh.path}/tests"):
        assert fresh.items(page)


def test_a_reader_finds_what_the_context_said(project: Project):
    number = project.give(RIGHT, junit("a"))
    run = project.run_of(number)
    for name in ("environment", "branch", "commit", "head_sha", "base_sha", "pr"):
        assert run[name] == RIGHT[name], name
    for name in ("base_branch", "merge_base", "ci_url"):
        assert run[name] == RIGHT[name], name
    assert run["run"] == "r-1"
    assert run["committed_at"] == "2026-01-02T01:04:05Z"
    assert run["started_at"] == "2026-01-02T04:04:05.500Z"
    [shard] = run["shards"]
    found = [shard[name] for name in ("job", "index", "count", "attempt", "exit_code")]
    assert found == ["unit", 1, 1, 3, 0]


def test_the_first_upload_names_the_run_and_others_are_said(project: Project):
    number = project.give({"run": "two words", "branch": "a", "pr": 1}, junit("a"))
    project.give({"run": "two words", "branch": "b", "commit": "c1"}, junit("b"))
    run = project.run_of(number)
    assert (run["branch"], run["pr"], run["commit"]) == ("a", 1, "c1")
    [said] = [one for one in run["problems"] if one["kind"] == "context"]
    assert "branch" in said["message"]


def test_a_commit_is_found_by_its_beginning(project: Project):
    sha = "feedfacecafe0123456789feedfacecafe012345"
    number = project.give({"run": "sha", "commit": sha}, junit("a"))
    run = project.run_of(number)
    path = f"{project.path}/runs"
    for asked in (sha, sha[:7], sha[:7].upper(), sha[:20]):
        assert [one["id"] for one in project.items(path, commit=asked)] == [run["id"]]
    for asked in (sha[:6], sha[1:9], sha + "0"):
        assert project.items(path, commit=asked) == []
