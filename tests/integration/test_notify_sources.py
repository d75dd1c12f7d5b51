"""What uploads make true, and what of it is told: real bytes in, real requests out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from healthboard.pipeline import drain_all
from ingest import routes
from ingest.models import RouteKind, Upload
from notify import endpoints
from notify.endpoints import Wanted
from notify.models import Delivery, Event, Watch
from projects.creation import create_project
from tests.delivering import FIRST, GREEN, send
from tests.receiving import LOOPBACK, receiving
from tests.reviewing import finding, review, send_review

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme(settings):
    settings.HEALTHBOARD_WEBHOOK_ALLOW = LOOPBACK
    return create_project("acme/app", actor="test")


def told(kind=None):
    found = Event.objects.order_by("pk")
    return list(found.filter(type=kind) if kind else found)


def many_failures():
    cases = "".join(
        f'<testcase classname="tests.test_a" name="t{n}">'
        f'<failure message="connection refused">tests/test_a.py:{n}: Boom</failure>'
        "</testcase>"
        for n in range(30)
    )
    return f'<testsuite name="pytest">{cases}</testsuite>'.encode()


def test_a_failed_run_of_the_default_branch_is_told_once(acme):
    with receiving() as receiver:
        wanted = Wanted(receiver.url, events=["run.failed"])
        endpoints.create(acme.project, wanted, actor="test")
        upload = send(acme, FIRST, run="1", branch="main", commit="abc")
        send(acme, FIRST, run="2", branch="feature")
        send(acme, FIRST, run="3", branch="main", pr=5)
        Upload.objects.filter(pk=upload).update(
            state="admitted", due_at=timezone.now(), attempts=0
        )
        drain_all()
    (body,) = receiver.bodies
    assert body["type"] == "run.failed"
    data = body["data"]
    assert (data["branch"], data["commit"], data["failing"]) == ("main", "abc", 1)
    assert data["causes"][0]["message"] == "assert 401 == 200"
    assert body["url"].endswith(f"/p/acme/app/runs/{data['run']}")


def test_failures_with_one_message_are_one_cause(acme):
    send(acme, many_failures(), run="1", branch="main")
    (event,) = told("run.failed")
    (cause,) = event.data["causes"]
    assert (cause["message"], cause["count"]) == ("connection refused", 30)
    assert len(cause["tests"]) == 10


def test_a_branch_recovers_once_and_only_after_it_failed(acme):
    send(acme, GREEN, run="0", branch="main", started_at="2026-03-01T10:00:00Z")
    send(acme, FIRST, run="1", branch="main", started_at="2026-03-02T10:00:00Z")
    send(acme, GREEN, run="2", branch="main", started_at="2026-03-03T10:00:00Z")
    send(acme, GREEN, run="3", branch="main", started_at="2026-03-04T10:00:00Z")
    assert [event.type for event in told()] == ["run.failed", "run.recovered"]
    assert told()[1].data["name"] == "2"


def test_an_older_run_does_not_recover_a_branch(acme):
    send(acme, FIRST, run="1", branch="main", started_at="2026-03-02T10:00:00Z")
    send(acme, GREEN, run="0", branch="main", started_at="2026-03-01T10:00:00Z")
    assert [event.type for event in told()] == ["run.failed"]


def test_environments_recover_by_themselves(acme):
    lane = {"branch": "main", "started_at": "2026-03-02T10:00:00Z"}
    send(acme, FIRST, run="1", environment={"os": "linux"}, **lane)
    send(acme, GREEN, run="1", environment={"os": "windows"}, **lane)
    assert [event.type for event in told()] == ["run.failed"]


def test_a_run_in_parts_is_told_of_when_it_is_whole(acme):
    for n in (1, 2, 3):
        part = {"shard": {"index": n, "count": 3}}
        send(acme, FIRST if n == 1 else GREEN, run="1", branch="main", **part)
        assert len(told("run.failed")) == (1 if n == 3 else 0)
    assert told("run.incomplete") == []
    assert not Watch.objects.exists()


def test_a_run_that_stays_incomplete_is_told_of_at_its_deadline(acme):
    part = {"shard": {"index": 1, "count": 3}}
    send(acme, FIRST, run="1", branch="main", **part)
    watch = Watch.objects.get()
    assert timedelta(hours=5, minutes=55) < watch.due_at - timezone.now()
    assert told() == []
    Watch.objects.update(due_at=timezone.now())
    drain_all()
    assert [event.type for event in told()] == ["run.incomplete", "run.failed"]
    assert told()[0].data["missing"] == [2, 3]
    part = {"shard": {"index": 2, "count": 3}}
    send(acme, GREEN, run="1", branch="main", **part)
    assert not Watch.objects.exists()
    assert len(told()) == 2


def test_another_part_moves_the_deadline(acme):
    send(acme, GREEN, run="1", branch="main", shard={"index": 1, "count": 3})
    Watch.objects.update(due_at=timezone.now() + timedelta(minutes=1))
    send(acme, GREEN, run="1", branch="main", shard={"index": 2, "count": 3})
    assert Watch.objects.get().due_at > timezone.now() + timedelta(hours=5)


def test_a_new_p0_is_told_once_with_its_place(acme):
    pressing = finding("The token is logged", severity="P0")
    mild = finding("A typo", severity="P3")
    send_review(acme, review(pressing, mild), pr=7)
    send_review(acme, review(pressing, mild), pr=7, commit="c2")
    (event,) = told("finding.p0")
    assert (event.data["title"], event.data["pr"]) == ("The token is logged", 7)
    assert event.about["severity"] == "P0"


def test_one_board_feeds_another(acme, transactional_db, live_server):
    """The receiving board checks the signature and knows a repeated delivery."""
    other = create_project("acme/other", actor="test").project
    made = routes.create(other, RouteKind.GATE, actor="test", now=timezone.now())
    url = f"{live_server.url}{made.route.address}"
    url = url.replace("localhost", "127.0.0.1")
    wanted = Wanted(url, events=["run.failed"], secret=made.secret)
    endpoints.create(acme.project, wanted, actor="test")
    send(acme, FIRST, run="1", branch="main")
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.status) == ("delivered", 202)
    upload = Upload.objects.get(project=other)
    assert upload.delivery_id == delivery.event.public_id
    Delivery.objects.update(state="waiting", due_at=timezone.now())
    drain_all()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.status) == ("delivered", 200)
    assert Upload.objects.filter(project=other).count() == 1
