"""The health of uploads: hours, reasons, sizes, the slowest; and bad days."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from ingest.health import health, masked
from ingest.models import Upload
from projects.creation import create_project
from projects.models import Role
from results import exclusion
from tests.builders import make_context, make_run
from tests.visiting import base, visit, visitor

pytestmark = pytest.mark.django_db

NOW = timezone.now()
HOUR = timedelta(hours=1)
BAD = {f"test_{n}": "failed" if n < 9 else "passed" for n in range(10)}


@pytest.fixture
def acme():
    return create_project("acme/app", actor="test").project


def receive(project, state="processed", *, at=NOW, seconds=2.0, size=1_000, **fields):
    done = at + timedelta(seconds=seconds) if state == "processed" else None
    values = {
        "delivery_id": f"u{Upload.objects.count()}",
        "digest": "d",
        "body": "b",
        "content_type": "c",
        "unpacked_bytes": size,
    }
    return Upload.objects.create(
        project=project,
        state=state,
        received_at=at,
        processed_at=done,
        wire_bytes=size,
        **values | fields,
    )


def test_uploads_are_counted_by_hour_and_state(acme):
    receive(acme)
    receive(acme, "rejected")
    receive(acme, at=NOW - HOUR)
    receive(acme, at=NOW - 30 * HOUR)
    receive(create_project("acme/other", actor="test").project)
    told = health(acme.pk, now=NOW)
    assert len(told.hours) == 24
    assert [hour.states for hour in told.hours[:3]] == [
        {"processed": 1, "rejected": 1},
        {"processed": 1},
        {},
    ]
    assert (told.total, told.troubled, told.cut) == (3, 1, False)


def test_problems_that_differ_in_names_and_numbers_are_one(acme):
    def error(message):
        return {"errors": [{"file": 1, "message": message}]}

    receive(acme, "rejected", **error("mismatched tag 'a' at line 12"))
    newest = receive(
        acme, "rejected", at=NOW + HOUR / 60, **error("mismatched tag 'b' at line 7")
    )
    receive(acme, "dead", failure="OSError: no space")
    [first, second] = health(acme.pk, now=NOW).reasons
    assert (first.text, first.count, first.newest) == (
        "mismatched tag … at line …",
        2,
        newest.pk,
    )
    assert (second.state, second.text) == ("dead", "OSError: no space")
    assert masked('at 0xff "x"  12,141 times') == "at … … … times"


def test_sizes_and_the_slowest_are_told(acme):
    for n in range(1, 21):
        receive(acme, seconds=float(n), size=n * 100)
    receive(acme, "admitted", size=5_000)
    told = health(acme.pk, now=NOW)
    assert (told.sizes.p50, told.sizes.p95, told.sizes.largest) == (1_100, 2_000, 5_000)
    assert (told.p50_s, told.p95_s) == (10.0, 19.0)
    assert [one.seconds for one in told.slowest] == [
        float(n) for n in range(20, 10, -1)
    ]


def test_the_page_says_what_is_wrong(acme):
    client = visitor(acme, Role.VIEWER)
    path = f"{base(acme)}/uploads/health"
    assert "Nothing was received in the last 24 hours." in visit(client, path)
    receive(acme)
    assert "All of the 1 upload of the last 24 hours are well." in visit(client, path)
    receive(acme, "rejected", errors=[{"file": 1, "message": "no element found"}])
    text = visit(client, path, hours="72")
    assert "1 of 2 uploads of the last 72 hours has a problem." in text
    assert "no element found" in text
    assert visitor(name="eve").get(path).status_code == 404


def test_a_bad_day_is_said_where_its_runs_are_left_out(acme):
    client = visitor(acme, Role.VIEWER)
    for number, outcomes in enumerate((BAD, {"test_0": "passed"})):
        context = make_context(f"ci-{number}", started_at=NOW - HOUR)
        run = make_run(acme, outcomes, context=context)
    said = "1 run of 2 in the last 7 days failed by more than 80 %: it is left out"
    assert said in visit(client, f"{base(acme)}/")
    receive(acme)
    assert "1 run of 2 here failed by more than 80 %" in visit(
        client, f"{base(acme)}/uploads/health"
    )
    bad = acme.runs.get(bad=True)
    assert run != bad.pk
    exclusion.exclude(bad.pk, reason="the disk was full", by="ana")
    assert "more than 80 %" not in visit(client, f"{base(acme)}/")


def test_hours_begin_on_the_hour(acme):
    now = datetime.fromisoformat("2026-03-02T10:30:00+00:00")
    receive(acme, at=now - timedelta(minutes=31))
    told = health(acme.pk, now=now, hours=2)
    assert [hour.total for hour in told.hours] == [0, 1]
