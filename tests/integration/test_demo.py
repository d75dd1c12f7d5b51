"""The demo of a first start: seeded over HTTP, interrupted, continued, told once."""

from __future__ import annotations

import os
import signal

import pytest

from healthboard.demo.suite import SLUG
from tests.services.serving import Client, manage, prepared, start, wait_for_end
from tests.waiting import until

pytestmark = [pytest.mark.kill, pytest.mark.slow, pytest.mark.timeout(600)]

SEEDING_S = 480
TOKEN = f"""
from projects import tokens
from projects.models import Project
project = Project.objects.get(owner="{SLUG.split("/")[0]}")
assert project.demo
print(tokens.issue(project, name="reader", scopes=["read", "upload"])[1])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A first start whose demo was killed midway, and the next start."""
    data = prepared(tmp_path_factory.mktemp("demo") / "data")
    first = start(data, "--port", "0")
    try:
        (demo,) = until(lambda: first.started("demo"), what="the demo is begun")
        until(lambda: list((data / "inbox").rglob("*")), what="something was sent")
        os.kill(demo, signal.SIGKILL)
    finally:
        first.stop()
        wait_for_end(first)
    second = start(data, "--port", "0")
    try:
        until(
            lambda: "part=demo ended code=0" in second.text,
            what=lambda: f"the demo is there: {second.text}",
            seconds=SEEDING_S,
        )
        yield second
    finally:
        second.stop()
        wait_for_end(second)


@pytest.fixture(scope="module")
def client(server):
    token = manage(server.data, "shell", "--no-imports", "-c", TOKEN).strip()
    return Client(server.address, token)


@pytest.fixture(scope="module")
def runs(client):
    """All runs, the newest first."""
    found, cursor = [], ""
    while cursor is not None:
        path = f"/api/v1/projects/{SLUG}/runs?limit=500"
        page = client.get(path + (f"&cursor={cursor}" if cursor else ""))
        found += page["items"]
        cursor = page["next"]
    return found


def test_demo_says_how_much_was_new(server):
    """What the killed one had sent was not sent twice."""
    (line,) = (one for one in server.text.splitlines() if one.startswith("Demo: "))
    uploads, new, _ = (int(word) for word in line.split() if word.isdigit())
    assert 0 < new < uploads


def test_pages_are_up_to_date_when_it_ends(client):
    assert client.get(f"/api/v1/projects/{SLUG}/status")["pending"] == 0


def test_runs_are_as_the_story_tells(runs):
    outcomes = {run["outcome"] for run in runs}
    assert outcomes == {"passed", "failed", "incomplete", "damaged"}
    main = [run for run in runs if run["branch"] == "main"]
    assert main[0]["outcome"] == "passed"
    assert {run["environment"]["python"] for run in main} == {"3.12", "3.13"}
    assert {run["pr"] for run in runs} - {None} == {
        *(535, 536, 538, 539, 540, 541, 542, 543)
    }
    damaged = [run["branch"] for run in runs if run["outcome"] == "damaged"]
    assert sorted(damaged) == ["main", "websocket-groups"]


def test_failures_of_the_default_branch_end_with_the_fix(runs):
    main = [run for run in reversed(runs) if run["branch"] == "main"]
    red = [n for n, run in enumerate(main) if run["counts"]["failed"]]
    assert len(red) > 15
    assert red[-1] < len(main) - 15  # green for a week
    assert sum(run["counts"]["flaky"] for run in main) > 10


def test_one_run_lacks_its_third_shard(client, runs):
    (row,) = (run for run in runs if run["outcome"] == "incomplete")
    run = client.get(f"/api/v1/runs/{row['id']}")
    assert run["completeness"]["missing"] == [3]


def test_order_is_traced_in_most_runs(runs):
    traced = [run for run in runs if run["order"] == "traced"]
    assert len(traced) > 0.8 * len(runs)


def test_one_upload_is_rejected_with_its_reason(client, runs):
    (run,) = (
        run
        for run in runs
        if run["outcome"] == "damaged" and run["branch"] == "websocket-groups"
    )
    (upload,) = client.get(f"/api/v1/runs/{run['id']}")["uploads"]
    assert client.get(f"/api/v1/uploads/{upload}")["state"] == "rejected"


def test_second_seeding_adds_nothing(server):
    answer = manage(server.data, "demo", "--url", server.address)
    assert ", 0 new," in answer


def test_no_token_of_the_demo_stays_valid(server):
    question = (
        "from projects.models import Token;"
        "kept = Token.objects.filter(revoked_at=None).exclude(name='reader');"
        "print(kept.exclude(project__name='own').count())"  # somebody's, not the demo's
    )
    answer = manage(server.data, "shell", "--no-imports", "-c", question)
    assert answer.strip() == "0"


def test_project_of_somebody_is_not_touched(server):
    manage(server.data, "project", "create", "acme/own", "--json")
    with pytest.raises(AssertionError, match="acme/own is a project already"):
        manage(server.data, "demo", "--url", server.address, "--project", "acme/own")


def test_wrong_address_is_one_sentence(server):
    with pytest.raises(AssertionError, match="no http or https address"):
        manage(server.data, "demo", "--url", "ftp://localhost")
