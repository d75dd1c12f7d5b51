"""Whatever goes wrong below /api/ is a problem document that says what."""

from __future__ import annotations

import base64
import json

import pytest
from django.test import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from api.document import openapi
from projects.creation import Created, create_project
from tests.asking import ask, reads, refused, wrong_fields
from tests.delivering import FIRST, send
from tests.sending import bearer

pytestmark = pytest.mark.django_db

READS = [
    (
        path,
        [
            each["name"]
            for each in methods["get"]["parameters"]
            if each["in"] == "query"
        ],
    )
    for path, methods in openapi()["paths"].items()
    if "get" in methods and path.startswith("/api/v1/")
]
RUNS = "/api/v1/projects/{p}/runs"
LISTS = [path for path, names in READS if "cursor" in names]


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


@pytest.fixture
def busy(acme) -> tuple[str, dict[str, str]]:
    """The token of a project with a run, and where all of it is read."""
    send(acme, FIRST, run="1", branch="main")
    return acme.token, reads(acme.token)


def filled(path: str) -> str:
    """Return a path below /api/v1 with something in the place of each name."""
    values = {"{p}": "acme/app", "{id}": "1", "{n}": "1", "{test}": "a.py::b"}
    for name, value in values.items():
        path = path.replace(name, value)
    return path.removeprefix("/api/v1")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/nothing",
        "/runs",
        "/runs/abc",
        "/runs/-1",
        "/runs/1.5",
        "/runs/99999999999999999999999",
        "/runs/9223372036854775808",
        "/runs/9223372036854775807",
        "/uploads/0",
        "/uploads/1/files/x",
        "/projects/acme",
        "/projects/acme/app/nothing",
        "/projects/acme/app/tests/a%00b",
        "/projects/a%00b/app/runs",
    ],
)
def test_what_is_not_there_is_404(acme, path):
    refused(ask(path, acme.token), 404)


def test_below_api_there_is_nothing_but_version_1():
    for path in ("/api/", "/api/v2/projects", "/api/v1.json"):
        refused(Client().get(path), 404)


@pytest.mark.parametrize(
    ("path", "method"),
    [
        (path, method)
        for path, _ in READS
        for method in ("post", "put", "patch", "delete")
        if method not in openapi()["paths"][path]
    ],
)
def test_what_is_only_read_takes_no_other_method(acme, path, method):
    answer = getattr(Client(), method)(
        f"/api/v1{filled(path)}", headers=bearer(acme.token)
    )
    refused(answer, 405)
    assert "GET" in answer["Allow"]


@pytest.mark.parametrize("path", [path for path, _ in READS])
def test_an_unknown_parameter_is_named(acme, path):
    query = {"metric": "pass_rate"} if path.endswith("/trends") else {}
    answer = ask(filled(path), acme.token, colour="red", **query)
    assert wrong_fields(answer) == ["colour"]


@pytest.mark.parametrize(("path", "names"), READS)
def test_a_parameter_given_twice_or_with_nul_is_named(acme, path, names):
    for name in names:
        base = "metric=pass_rate&" if "metric" in names and name != "metric" else ""
        value = {"metric": "pass_rate", "by": "day", "window": "30d"}.get(name, "1")
        client = Client(raise_request_exception=False)
        for query in (f"{name}={value}&{name}={value}", f"{name}=a%00b"):
            url = f"/api/v1{filled(path)}?{base}{query}"
            answer = client.get(url, headers=bearer(acme.token))
            assert wrong_fields(answer) == [name]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("limit", ["0", "-1", "501", "1e2", "many", "", "9" * 40])
def test_a_limit_out_of_range_is_named(acme, path, limit):
    assert wrong_fields(ask(filled(path), acme.token, limit=limit)) == ["limit"]


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("/runs", "outcome", "green"),
        ("/runs", "outcome", "error"),
        ("/runs", "pr", "0"),
        ("/runs", "pr", "two"),
        ("/runs", "pr", "2147483648"),
        ("/runs", "since", "yesterday"),
        ("/runs", "since", "1700000000"),
        ("/runs", "since", "2026-02-30"),
        ("/runs", "since", "2026-01-01T00:00:00"),
        ("/runs", "until", "0001-01-01T00:00:00+14:00"),
        ("/runs", "environment", "linux"),
        ("/runs", "environment", "os=linux,,"),
        ("/runs", "branch", ""),
        ("/tests", "state", "flaky"),
        ("/tests", "window", "30"),
        ("/tests", "window", "0d"),
        ("/tests", "window", "401d"),
        ("/tests", "window", "1w"),
        ("/tests", "q", " "),
        ("/trends", "metric", "speed"),
        ("/trends", "by", "week"),
        ("/trends", "window", "-1d"),
        ("/trends", "branch_class", "main"),
    ],
)
def test_a_malformed_filter_is_named(acme, path, name, value):
    query = {"metric": "pass_rate"} if path == "/trends" else {}
    answer = ask(f"/projects/acme/app{path}", acme.token, **(query | {name: value}))
    assert wrong_fields(answer) == [name]


def test_several_wrong_filters_are_all_named(acme):
    answer = ask(
        "/projects/acme/app/runs", acme.token, pr="x", outcome="y", limit="1000"
    )
    assert sorted(wrong_fields(answer)) == ["limit", "outcome", "pr"]


def test_a_trend_without_its_metric_is_422(acme):
    assert wrong_fields(ask("/projects/acme/app/trends", acme.token)) == ["metric"]


@pytest.mark.parametrize(
    "cursor",
    ["x", "", "%%%", "W10", "WyJwcm9qZWN0cyJd", "WyJydW5zIiwxXQ", "é", "a" * 5000],
)
def test_a_cursor_that_we_did_not_give_is_named(acme, cursor):
    for path in ("/projects", "/projects/acme/app/runs", "/projects/acme/app/tests"):
        assert wrong_fields(ask(path, acme.token, cursor=cursor)) == ["cursor"]


def test_a_crash_is_a_problem_too(acme, monkeypatch):
    monkeypatch.setattr("api.waiting.claims.waiting", None)
    answer = ask("/projects/acme/app/status", acme.token)
    problem = refused(answer, 500)
    assert "NoneType" not in problem["detail"]


def test_what_is_not_below_api_keeps_its_own_errors():
    answer = Client().post("/healthz")
    assert answer.status_code == 405
    assert answer["Content-Type"] != "application/problem+json"


NAMES = sorted({name for _, names in READS for name in names} | {"x", "offset"})
VALUES = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["1", "-1", "1d", "30d", "day", "pass_rate", "failing", "a=b", "2026-01-01"]
    ),
    st.integers().map(str),
)


@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    chosen=st.integers(0, len(READS) - 1),
    query=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4),
)
def test_no_query_string_breaks_the_server(busy, chosen, query):
    token, paths = busy
    answer = ask(sorted(paths.values())[chosen], token, **query)
    assert answer.getvalue()
    assert answer.status_code in {200, 422}, answer
    if answer.status_code != 200:
        refused(answer, answer.status_code)


@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(nodeid=st.text(min_size=1, max_size=30))
def test_no_node_id_breaks_the_server(acme, nodeid):
    encoded = "".join(f"%{byte:02X}" for byte in nodeid.encode("utf-8", "replace"))
    for end in ("", "/history"):
        answer = ask(f"/projects/acme/app/tests/{encoded}{end}", acme.token)
        assert answer.status_code in {404, 422}, answer.content


MOMENTS = st.one_of(
    st.datetimes().map(lambda moment: f"{moment.isoformat()}+14:00"),
    st.datetimes().map(lambda moment: f"{moment.isoformat()}-14:00"),
    st.sampled_from(["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]),
)
PLACES = st.lists(
    st.one_of(st.integers(), MOMENTS, st.text(max_size=5), st.none(), st.booleans()),
    max_size=3,
)


@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(path=st.sampled_from(LISTS), place=PLACES)
@example(path=RUNS, place=["0001-01-01T00:00:00+14:00", 1])
@example(path=RUNS, place=["9999-12-31T23:59:59-14:00", 1])
@example(path=RUNS, place=["2026-01-01T00:00:00+00:00", 2**63])
def test_no_cursor_that_looks_right_breaks_the_server(busy, path, place):
    raw = json.dumps(place, separators=(",", ":")).encode()
    cursor = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    token, paths = busy
    answer = ask(paths[path], token, cursor=cursor)
    if answer.status_code == 422:
        assert wrong_fields(answer) == ["cursor"]
    else:
        assert answer.status_code == 200, answer.content
