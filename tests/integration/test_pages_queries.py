"""Each page asks the database a fixed number of times, whatever the data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ingest.models import Upload
from projects.administration import make_token
from projects.models import Membership, Role, Scope
from pulls import actions
from pulls.models import Pull, Verdict
from pulls.shapes import HeadRun, Item, Told
from tests.builders import make_context, make_project, make_run, rebuild_days
from tests.leaking import make_decision, make_leaker, make_pair, make_verdict
from tests.reviewing import make_finding
from tests.routing import make_route
from tests.visiting import base, make_user, visitor

pytestmark = pytest.mark.django_db

NOW = datetime.now(UTC).replace(microsecond=0)
# Session, person, project and role are four of them.
MOST = {
    "/": 34,
    "/runs": 6,
    "/runs?branch=main&environment=os%3Dlinux&since=2020-01-01": 7,
    "/runs/{run}": 34,
    "/runs/{run}/results": 15,
    "/runs/{run}/results?outcome=failing&q=test": 16,
    "/runs/{run}/compare": 16,
    "/failures/{failure}": 5,
    "/tests": 11,
    "/tests?q=test&state=active": 11,
    "/tests?sort=fail_rate": 11,
    "/tests?sort=fail_rate&q=test&state=active": 12,
    "/tests/{test}": 32,
    "/search?q=test": 9,
    "/flaky": 11,
    "/flaky?class=victim&q=test": 11,
    "/leakers": 11,
    "/leakers?state=any&kind=env.set&source=gate&owner=-&q=test": 11,
    "/leakers/{leaker}": 12,
    "/leakers/{fixed}": 16,
    "/leak-map": 10,
    "/leak-map?leaker={leaker}&victim={test}": 10,
    "/pulls": 8,
    "/pulls?state=open&verdict=yours&q=Change": 8,
    "/pulls/1": 30,
    "/dependencies": 8,
    "/dependencies?show=all": 8,
    "/findings": 11,
    "/findings?state=any&severity=P2&q=o&owner=-&overdue=1": 11,
    "/findings/{finding}": 13,
    "/findings/export?format=csv": 6,
    "/findings/export?format=sarif": 5,
    "/effects": 9,
    "/effects?run={run}": 13,
    "/review": 26,
    "/review/2026-W10": 26,
    "/uploads": 8,
    "/uploads?state=dead": 7,
    "/uploads/health": 7,
    "/uploads/{upload}": 7,
    "/settings": 5,
    "/settings/tokens": 5,
    "/settings/secret": 5,
    "/settings/owners": 8,
    "/settings/rules": 12,
    "/settings/recognisers": 5,
    "/lists/tests.csv": 10,
    "/lists/runs.csv": 6,
    "/settings/routes": 5,
    "/settings/routes/{route}": 8,
    "/settings/members": 5,
    "/settings/audit": 5,
}


def fill(project, *, runs, tests, others):
    """Runs with failures, tokens, members, uploads: as many as asked for."""
    outcomes = {
        f"test_{n}": ("failed", "passed", "skipped")[n % 3] for n in range(tests)
    }
    for n in range(runs):
        context = make_context(
            f"ci-{n}",
            branch="main",
            environment={"os": "linux"},
            commit=f"{n:040x}",
            started_at=NOW - timedelta(hours=n + 1),
        )
        make_run(project, outcomes, context=context, received_at=NOW)
    for n in range(others):
        route = make_route(project).route
        user = make_user(f"user-{project.name}-{n}")
        Membership.objects.create(project=project, user=user, role=Role.VIEWER)
        make_token(project, name=f"token {n}", scopes=[Scope.READ], user=user)
        Upload.objects.create(
            project=project,
            delivery_id=f"u{n}",
            digest="d",
            state="dead" if n % 2 else "processed",
            body="b",
            content_type="c",
            wire_bytes=1,
            unpacked_bytes=1,
            received_at=NOW,
            route=route,
            files=[
                {"n": 1, "kind": "junit", "name": "a.xml", "size": 1, "sha256": "0"}
            ],
        )
        make_finding(project, f"{n:032}", title=f"Look at test_{n} of #{n}")
    rebuild_days()
    fill_leakers(project, others)
    fill_pulls(project, others)


def fill_pulls(project, others):
    """So many pull requests, each waits for the one before; #1 has a verdict."""
    for n in range(1, others + 1):
        pull = Pull.objects.create(
            project=project, number=n, title=f"Change {n}", created_at=NOW
        )
        told = told_for(project, n)
        Verdict.objects.create(
            pull=pull,
            word=told.word,
            sentence=told.sentence,
            red=told.red,
            detail=told.to_json(),
            at=NOW,
            changed_at=NOW,
        )
        actions.add_edge(project, n, n + 1, by="a test")


def told_for(project, n):
    """A verdict with failures, and with runs to compare."""
    run, base = project.runs.order_by("-started_at")[:2]
    item = {"kind": "failed", "share": "introduced", "why": "passed", "reason": "why"}
    failures = [
        Item(test=case.pk, nodeid=case.nodeid, environments=[], **item)
        for case in project.tests.all()[:n]
    ]
    head = HeadRun(run.pk, run.name, "failed", True, run.environment, 3)
    return Told(
        word="yours",
        sentence="So many failures.",
        red=True,
        reasons=["it introduces failures"],
        advice=["Merge first: #2."],
        head="e" * 40,
        untested="",
        base="a" * 40,
        quality="known",
        leaks=[],
        failures=failures,
        findings=[],
        runs=[head],
        base_runs=[base.pk],
        tests=3,
    )


def fill_leakers(project, others):
    """So many leakers, each with two victims, a class for each, and decisions."""
    cases = list(project.tests.order_by("number")[: others + 1])
    for n, case in enumerate(cases[1:]):
        fixed = (
            {"state": "fixed", "fixed_at": NOW - timedelta(days=1)} if n == 1 else {}
        )
        leaker = make_leaker(project, case, kinds=["env.set"], **fixed)
        make_pair(project, case, cases[0])
        make_pair(project, case, case)
        make_verdict(project, case)
        for _ in range(n + 1):
            make_decision(leaker)
    make_verdict(project, cases[0])


@pytest.fixture
def small():
    project = make_project("acme/small")
    fill(project, runs=2, tests=3, others=2)
    return project


@pytest.fixture
def large():
    project = make_project("acme/large")
    fill(project, runs=40, tests=300, others=30)
    return project


def asked(project, pages):
    """Return how many queries each page takes."""
    client = visitor(project, Role.ADMIN, name=f"admin-of-{project.name}")
    numbers = {
        "run": project.runs.order_by("-started_at").first().pk,
        "test": project.tests.get(name="test_0").pk,
        "failure": project.runs.first().failures.first().pk,
        "upload": project.uploads.first().pk,
        "finding": project.findings.first().pk,
        "route": project.routes.first().pk,
        "leaker": project.leakers.get(test__name="test_1").pk,
        "fixed": project.leakers.get(state="fixed").pk,
    }
    client.get("/")  # what is read once and kept is read now
    found = {}
    for page in pages:
        path = base(project) + page.format(**numbers)
        client.get(path)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get(path).status_code == 200, path
        found[page] = len(queries)
    return found


def test_pages_ask_as_often_for_much_as_for_little(small, large):
    little = asked(small, MOST)
    assert asked(large, MOST) == little
    assert {page: n for page, n in little.items() if n > MOST[page]} == {}


def test_the_list_of_projects_asks_a_fixed_number_of_times(small, large):
    root = visitor(name="root", is_superuser=True)
    root.get("/")
    with CaptureQueriesContext(connection) as two:
        root.get("/")
    for n in range(10):
        fill(make_project(f"acme/other-{n}"), runs=2, tests=3, others=0)
    with CaptureQueriesContext(connection) as twelve:
        root.get("/")
    assert len(two) == len(twelve) == 9
