"""The page of the weekly review: read by all, decided on by triagers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from notify.models import Event
from projects.creation import create_project
from projects.models import Role
from review.models import Choice, Week
from review.standings import held_of
from tests.meeting import make_leaker, make_verdict
from tests.visiting import base, read, visit, visitor

pytestmark = pytest.mark.django_db

NOW = timezone.now()
THIS = f"{NOW:%G-W%V}"
LATER = (NOW + timedelta(days=9)).date()


@pytest.fixture
def acme():
    return create_project("acme/app", actor="test").project


@pytest.fixture
def tri(acme):
    return visitor(acme, Role.TRIAGER, name="tri")


def here(acme, below=""):
    return f"{base(acme)}/review/{THIS}{below}"


def decide(client, acme, subject, *, version=0, **fields):
    values = {"subject": subject, "version": version, "at": "new_leakers-1"}
    answer = client.post(here(acme, "/decide"), values | fields)
    assert answer.status_code == 302
    assert answer["Location"].endswith(f"/review/{THIS}#new_leakers-1")
    return read(client.get(here(acme)))


def test_a_newcomer_is_told_how_to_fill_it(acme, tri):
    text = visit(tri, f"{base(acme)}/review")
    assert "Nothing is to be decided." in text
    assert 'context={"project": "acme/app", "branch": "main"}' in text
    assert "No test began to leak." in text
    assert "no runs" in text
    assert Week.objects.count() == 0


def test_a_row_is_decided_in_place(acme, tri):
    leaker = make_leaker(acme, "test_a", opened_at=NOW)
    subject = f"test:{leaker.test_id}"
    assert "1 of 1 subject is still to be decided." in visit(tri, here(acme))
    text = decide(tri, acme, subject, decision="mute", failures=3, note="noisy")
    assert "Stored." in text
    assert "mute until it fails more than 3 times – noisy by tri, just now" in text
    assert "All of the 1 subject is decided: the review can be closed." in text
    assert held_of([leaker.test_id], now=NOW)[leaker.test_id].muted


def test_who_is_second_is_told_and_overwrites_nothing(acme, tri):
    leaker = make_leaker(acme, "test_a", opened_at=NOW)
    subject = f"test:{leaker.test_id}"
    ana = visitor(acme, Role.TRIAGER, name="ana")
    decide(ana, acme, subject, owner="ana")
    text = decide(tri, acme, subject, owner="tri")
    assert "Ana changed this in the meantime. Nothing was stored." in text
    assert "assign; owner ana by ana" in text
    assert Choice.objects.get().owner == "ana"
    assert "assign; owner tri" in decide(tri, acme, subject, version=1, owner="tri")


def test_people_see_what_others_decided_meanwhile(acme, tri):
    leaker = make_leaker(acme, "test_a", opened_at=NOW)
    ana = visitor(acme, Role.TRIAGER, name="ana")
    decide(ana, acme, f"test:{leaker.test_id}", owner="ana")
    told = read(tri.get(here(acme, "/news"), query_params={"seen": "0"}))
    assert f"ana: assign for test:{leaker.test_id}" in told
    assert "Decided" not in read(
        ana.get(here(acme, "/news"), query_params={"seen": "0"})
    )
    ana.post(here(acme, "/close"))
    assert "ana closed this review." in read(tri.get(here(acme, "/news")))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"decision": "quarantine"}, "A quarantine needs the day on which it ends."),
        ({"decision": "burn"}, "A value makes no sense: decision."),
        ({"fix_by": "soon"}, "A value makes no sense: fix by."),
        ({"decision": "accept"}, "Accepting needs a reason."),
    ],
)
def test_what_makes_no_sense_is_said_and_not_stored(acme, tri, fields, said):
    leaker = make_leaker(acme, "test_a", opened_at=NOW)
    text = decide(tri, acme, f"test:{leaker.test_id}", **fields)
    assert f"{said} Nothing was stored." in text
    assert Choice.objects.count() == 0


def test_a_subject_of_two_sections_is_decided_where_it_is_first(acme, tri):
    leaker = make_leaker(acme, "test_a", opened_at=NOW, lost_s=60.0)
    text = visit(tri, here(acme))
    assert text.count(leaker.test.nodeid.rpartition("::")[2]) >= 2
    assert text.count("Decide on") == 1
    assert "To be decided further up" in text


def test_closing_freezes_the_page(acme, tri):
    make_verdict(acme, "test_a", since=NOW)
    tri.post(here(acme, "/close"))
    text = visit(tri, here(acme))
    assert "Closed by tri: 0 of 1 subject decided." in text
    assert "Decide on" not in text
    assert "Close 20" not in text
    assert Event.objects.filter(type="review.ready").count() == 1
    tri.post(here(acme, "/close"))
    assert "is closed already." in visit(tri, here(acme))
    assert Event.objects.filter(type="review.ready").count() == 1
    acme.tests.all().delete()
    assert "test_a" in visit(tri, here(acme))


def test_minutes_are_files(acme, tri):
    make_verdict(acme, "test_a", since=NOW)
    answer = tri.get(here(acme, "/minutes"), query_params={"format": "csv"})
    name = f'attachment; filename="acme-app-{THIS}.csv"'
    assert answer["Content-Disposition"] == name
    assert (
        answer.content.decode().splitlines()[1].startswith(f"{THIS},newly_flaky,test:")
    )
    answer = tri.get(here(acme, "/minutes"))
    assert answer.content.decode().startswith(f"# Weekly review {THIS}: acme/app\n")


def test_a_viewer_reads_and_does_not_decide(acme):
    leaker = make_leaker(acme, "test_a", opened_at=NOW)
    viewer = visitor(acme, Role.VIEWER)
    assert "Decide on" not in visit(viewer, here(acme))
    values = {"subject": f"test:{leaker.test_id}", "version": 0, "owner": "eve"}
    assert viewer.post(here(acme, "/decide"), values).status_code == 403
    assert viewer.post(here(acme, "/close")).status_code == 403
    stranger = visitor(name="eve")
    for below in ("", "/minutes", "/news"):
        assert stranger.get(here(acme, below)).status_code == 404
    assert Choice.objects.count() == 0


def test_weeks_that_are_none_are_not_found(acme, tri):
    for week in ("2026-W60", "9000-W10", "x"):
        visit(tri, f"{base(acme)}/review/{week}", status=404)
