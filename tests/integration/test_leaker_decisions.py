"""What people decide of leakers: all of it or nothing, with who, when and why."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leaks import decisions
from leaks.decisions import Overtaken, Undecidable, Wish, decide
from leaks.models import Leaker, LeakerDecision, LeakerState
from leaks.totals import decisions_of
from projects.models import AuditEntry
from results import recounts
from tests.builders import make_project, make_run

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
OPEN, MUTED, FIXED = LeakerState.OPEN, LeakerState.MUTED, LeakerState.FIXED


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def leaker(project):
    make_run(project, ["test_a"])
    recounts_done(project)
    return Leaker.objects.create(
        project=project,
        test=project.tests.get(),
        state=OPEN,
        source="gate",
        method_version=1,
        updated_at=NOW,
    )


def recounts_done(project):
    while (recount := recounts.claim(datetime.now(UTC), lease="x")) is not None:
        recounts.finish(recount, cost=0.0)


def say(project, leaker, *, seen="open", **wish):
    return decide(project, leaker.pk, Wish(**wish), seen=seen, by="ana", now=NOW)


def test_a_mute_keeps_who_when_and_why(project, leaker):
    assert say(project, leaker, state=MUTED, note="known, see the plan")
    leaker.refresh_from_db()
    assert leaker.state == "muted"
    [row] = decisions_of(leaker.pk)
    assert (row.at, row.by, row.what) == (NOW, "ana", "state")
    assert (row.before, row.after) == ("open", "muted")
    assert row.note == "known, see the plan"
    entry = AuditEntry.objects.get(action="leaker.decided")
    assert (entry.actor, entry.subject) == ("ana", leaker.test.nodeid)
    assert entry.detail["state"] == ["open", "muted"]


def test_a_fix_names_its_commit(project, leaker):
    assert say(project, leaker, state=FIXED, commit="c" * 40, note="by #540")
    leaker.refresh_from_db()
    assert (leaker.state, leaker.fixed_at, leaker.fixed_commit) == (
        "fixed",
        NOW,
        "c" * 40,
    )
    assert [row.what for row in decisions_of(leaker.pk)] == ["fix", "state"]


def test_opening_again_forgets_the_fix_and_asks_the_runs(project, leaker):
    say(project, leaker, state=FIXED, commit="c1")
    assert recounts.waiting(project.pk) == 0
    assert say(project, leaker, seen="fixed", state=OPEN)
    leaker.refresh_from_db()
    assert (leaker.state, leaker.fixed_at, leaker.fixed_commit) == ("open", None, "")
    assert leaker.reopened_at == NOW
    assert recounts.waiting(project.pk) == 1


def test_unmuting_is_no_reopening(project, leaker):
    say(project, leaker, state=MUTED, note="later")
    say(project, leaker, seen="muted", state=OPEN)
    leaker.refresh_from_db()
    assert (leaker.state, leaker.reopened_at) == ("open", None)


def test_ticket_owner_and_note_need_no_state(project, leaker):
    assert say(project, leaker, ticket="https://example.org/7", owner="ana")
    assert say(project, leaker, note="looked at it")
    assert not say(project, leaker, ticket="https://example.org/7", owner="ana")
    assert say(project, leaker, owner="")
    leaker.refresh_from_db()
    assert (leaker.ticket, leaker.owner) == ("https://example.org/7", "")
    told = [(row.what, row.after, row.note) for row in decisions_of(leaker.pk)]
    assert told == [
        ("owner", "", ""),
        ("note", "", "looked at it"),
        ("owner", "ana", ""),
        ("ticket", "https://example.org/7", ""),
    ]


def test_what_somebody_else_decided_is_not_overwritten(project, leaker):
    say(project, leaker, state=MUTED, note="first")
    with pytest.raises(Overtaken, match="muted"):
        say(project, leaker, state=FIXED, commit="c1")
    leaker.refresh_from_db()
    assert leaker.state == "muted"
    assert LeakerDecision.objects.count() == 1


@pytest.mark.parametrize(
    ("state", "wish", "says"),
    [
        ("open", {"state": MUTED}, "say why"),
        ("open", {"state": LeakerState.DISMISSED, "note": "  "}, "say why"),
        ("open", {"state": FIXED}, "name the commit"),
        ("open", {"state": FIXED, "commit": "c" * 65}, "name the commit"),
        ("open", {"state": LeakerState.VERIFIED_FIXED}, "for the runs to say"),
        ("suspected", {"state": OPEN}, "opened by evidence"),
        ("open", {"owner": "o" * 201}, "at most 200"),
        ("open", {"note": "why", "ticket": "t" * 2_001}, "at most 2,000"),
    ],
)
def test_what_makes_no_sense_changes_nothing(project, leaker, state, wish, says):
    Leaker.objects.update(state=state)
    with pytest.raises(Undecidable, match=says):
        say(project, leaker, seen=state, **wish)
    leaker.refresh_from_db()
    assert (leaker.state, leaker.owner, leaker.ticket) == (state, "", "")
    assert not LeakerDecision.objects.exists()
    assert not AuditEntry.objects.filter(action="leaker.decided").exists()


def test_a_leaker_of_another_project_is_not_there(project, leaker):
    other = make_project("acme/other")
    with pytest.raises(Undecidable, match="no such leaker"):
        say(other, leaker, note="hello")


def test_what_no_database_takes_is_replaced(project, leaker):
    say(project, leaker, note="a\x00b")
    [row] = decisions_of(leaker.pk)
    assert "\x00" not in row.note
    assert len(row.note) == 3


def test_only_what_people_may_say_is_offered():
    assert set(LeakerState) - set(decisions.BY_HAND) == {
        LeakerState.SUSPECTED,
        LeakerState.VERIFIED_FIXED,
    }
