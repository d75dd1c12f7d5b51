"""Pages under hostile names, bad query values and broken requests."""

from __future__ import annotations

import re

import pytest
from django.test import Client, override_settings

from dashboard.views.errors import server_error
from projects.models import Role
from tests.builders import make_context, make_project, make_result, make_run
from tests.leaking import make_decision, make_leaker, make_pair, make_verdict
from tests.visiting import base, read, visit, visitor

pytestmark = pytest.mark.django_db

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7 }}</script>"
PAGES = [
    "/",
    "/runs",
    "/tests",
    "/uploads",
    "/flaky",
    "/leakers",
    "/leak-map",
    "/findings",
    "/effects",
    "/search",
    "/settings/audit",
]
NONSENSE = [
    "",
    "0",
    "-1",
    "1e9",
    "99999999999999999999999999",
    "٣",
    "²",
    "abc",
    "\x00",
    "a\x00b",
    "%",
    "_",
    "'; drop table --",
    "💥" * 200,
    "2026-13-45",
    "0001-01-01",
    "9999-12-31",
    "2026-W01-1",
    "=",
    "=,=",
    ",",
    "\\",
    "[",
    "a/b",
]
NAMES = [
    "q",
    "cursor",
    "page",
    "window",
    "sort",
    "state",
    "outcome",
    "severity",
    "owner",
    "path",
    "overdue",
    "source",
    "verdict",
    "external",
    "effect",
    "run",
    "branch",
    "commit",
    "pr",
    "environment",
    "since",
    "until",
    "with",
    "file",
    "kind",
    "class",
    "leaker",
    "victim",
]


@pytest.fixture
def project():
    return make_project("acme/shop")


@pytest.fixture
def run(project):
    return make_run(project, {"test_a": "failed", "test_b": "passed"})


@pytest.mark.parametrize("value", NONSENSE, ids=ascii)
def test_a_bad_value_is_handled_kindly_everywhere(project, run, value):
    admin = visitor(project, Role.ADMIN)
    test = project.tests.first().pk
    numbered = [f"/runs/{run}", f"/runs/{run}/results", f"/runs/{run}/compare"]
    for page in [*PAGES, *numbered, f"/tests/{test}"]:
        answer = admin.get(
            base(project) + page, query_params=dict.fromkeys(NAMES, value)
        )
        assert answer.status_code == 200, page


@pytest.mark.parametrize(
    ("name", "value"),
    [("commit", "not a commit!"), ("pr", "many"), ("since", "yesterday")],
)
def test_a_filter_that_makes_no_sense_is_said(project, run, name, value):
    reader = visitor(project, Role.VIEWER)
    text = visit(reader, base(project) + "/runs", **{name: value})
    assert f"Left out, as it makes no sense: {name} “{value}”." in text
    assert "ci-1" in text


def test_hostile_names_are_only_text(project):
    evil = make_result(f"tests/test_x.py::test_[{EVIL}]", "failed")
    result = evil._replace(message=EVIL, text=EVIL, file=EVIL, suite=EVIL)
    context = make_context(EVIL, branch=EVIL, environment={"os": EVIL}, pr=7)
    run = make_run(project, [result], context=context, notes=[EVIL])
    admin = visitor(project, Role.ADMIN)
    test = project.tests.get().pk
    failure = project.runs.get().failures.get().pk
    pages = ["/", "/runs", f"/runs/{run}", f"/runs/{run}/results", "/tests"]
    pages += [f"/tests/{test}", f"/failures/{failure}", f"/runs/{run}/compare"]
    case = project.tests.get()
    leaker = make_leaker(
        project, case, kinds=[EVIL], recipe=EVIL, ticket=EVIL, owner=EVIL
    )
    make_pair(project, case, case)
    make_verdict(project, case, missing=EVIL, probe={"why": EVIL, "command": EVIL})
    make_decision(leaker, note=EVIL, by=EVIL)
    pages += [f"/leakers/{leaker.pk}", "/leakers", "/leak-map", "/flaky"]
    for page in pages:
        content = admin.get(base(project) + page).content.decode()
        assert "<script>alert" not in content, page
        assert "<img src=x" not in content, page
        assert "alert(1)" in content, page


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil"])
def test_only_a_web_address_of_a_ticket_becomes_a_link(project, run, url):
    leaker = make_leaker(project, project.tests.first(), ticket=url)
    page = f"{base(project)}/leakers/{leaker.pk}"
    text = visitor(project, Role.VIEWER).get(page).content.decode()
    assert url in text
    assert f'href="{url}' not in text


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil"])
def test_only_a_web_address_becomes_a_link(project, url):
    run = make_run(project, context=make_context(ci_url=url))
    page = f"{base(project)}/runs/{run}"
    assert (
        f'href="{url}' not in visitor(project, Role.VIEWER).get(page).content.decode()
    )


def test_every_page_has_the_strict_policy(project, run):
    admin = visitor(project, Role.ADMIN, is_staff=True)
    paths = ["/", "/sign-in", "/new", "/nothing/here", "/search"]
    paths += [base(project) + page for page in [*PAGES, f"/runs/{run}"]]
    for where in paths:
        answer = (Client() if where == "/sign-in" else admin).get(where)
        policy = dict(
            part.split(" ", 1) for part in answer["Content-Security-Policy"].split("; ")
        )
        assert policy["script-src"] == "'self'", where
        assert policy["default-src"] == "'self'", where
        assert policy["object-src"] == "'none'", where
        assert "unsafe-eval" not in str(policy), where
        plots = where in (base(project) + "/", base(project) + "/leak-map")
        assert ("'unsafe-inline'" in policy["style-src"]) == plots, where


def test_no_page_has_inline_script_style_or_an_outside_address(project, run):
    admin = visitor(project, Role.ADMIN, is_staff=True)
    test = project.tests.first().pk
    paths = [base(project) + page for page in PAGES]
    paths += [f"{base(project)}/runs/{run}", f"{base(project)}/tests/{test}"]
    for where in ["/", "/new", *paths]:
        content = admin.get(where).content.decode()
        scripts = re.findall(r"<script(?![^>]*(?:src=|application/json))", content)
        assert scripts == [], where
        assert re.findall(r"\s(?:style|on\w+)=\"", content) == [], where
        outside = re.findall(r"(?:src|href|action)=\"(?:https?:)?//[^\"]*", content)
        assert outside == [], where


def test_pages_of_errors_say_what_is_safe(project):
    assert "There is no such page" in visit(Client(), "/nothing", status=404)
    assert "Sign in" in visit(Client(), "/nothing", status=404)
    bo = visitor(name="bo")
    assert "you may not see it" in visit(bo, "/nothing", status=404)
    assert "Only staff can make projects" in visit(bo, "/new", status=403)


def test_an_error_of_ours_needs_no_database(django_db_blocker):
    with django_db_blocker.block():
        answer = server_error(None)
    assert answer.status_code == 500
    assert "Something broke on our side" in read(answer)
    assert "Uploads that were accepted are safe" in read(answer)


@override_settings(ALLOWED_HOSTS=["board.example"])
def test_a_request_for_another_host_is_refused_plainly():
    answer = Client().get("/")
    assert answer.status_code == 400
    assert "Traceback" not in answer.content.decode()
