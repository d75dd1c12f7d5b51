"""Decisions on tests: what holds, for how long, and who is told when two decide."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.utils import timezone

from projects.creation import Created, create_project
from projects.models import AuditEntry
from review import owners
from review.deciding import Stale, Undecidable, Wish, decide, decide_all
from review.models import Change, Standing
from review.standings import held_of, quarantined
from tests.asking import told
from tests.builders import make_context, make_run

pytestmark = pytest.mark.django_db

NOW = timezone.now()
WEEK = timedelta(days=7)


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


@pytest.fixture
def test_id(acme) -> int:
    make_run(acme.project)
    return acme.project.tests.get(name="test_a").pk


def held(acme, test_id, *, at=NOW):
    return held_of([test_id], now=at)[test_id]


def test_a_decision_is_stored_with_who_when_and_why(acme, test_id):
    wish = Wish(owner="ana", fix_by=date(2031, 5, 1), ticket="SHOP-1", reason="hers")
    assert decide(acme.project, test_id, wish, by="tri", now=NOW, week="2026-W10") == 1
    row = held(acme, test_id)
    assert (row.owner, row.fix_by, row.ticket) == ("ana", date(2031, 5, 1), "SHOP-1")
    assert row.state is None
    rows = Change.objects.order_by("what").values_list(
        "what", "before", "after", "by", "reason", "week"
    )
    assert list(rows) == [
        ("fix_by", "", "2031-05-01", "tri", "hers", "2026-W10"),
        ("owner", "", "ana", "tri", "hers", "2026-W10"),
        ("ticket", "", "SHOP-1", "tri", "hers", "2026-W10"),
    ]
    entry = AuditEntry.objects.get(action="test.decided")
    assert (entry.actor, entry.subject) == ("tri", f"test:{test_id}")
    assert entry.detail["owner"] == ["", "ana"]


def test_the_same_decision_again_changes_nothing(acme, test_id):
    wish = Wish(owner="ana")
    assert decide(acme.project, test_id, wish, by="tri", now=NOW) == 1
    assert decide(acme.project, test_id, wish, by="tri", now=NOW) == 1
    assert Change.objects.count() == 1


def test_what_was_decided_meanwhile_is_not_overwritten(acme, test_id):
    decide(acme.project, test_id, Wish(owner="ana"), by="ana", now=NOW, version=0)
    with pytest.raises(Stale, match="ana changed this in the meantime") as caught:
        decide(acme.project, test_id, Wish(owner="bob"), by="bob", now=NOW, version=0)
    assert (caught.value.by, caught.value.version) == ("ana", 1)
    assert held(acme, test_id).owner == "ana"
    decide(acme.project, test_id, Wish(owner="bob"), by="bob", now=NOW, version=1)
    assert held(acme, test_id).owner == "bob"


def test_a_mute_ends_at_its_time(acme, test_id):
    decide(acme.project, test_id, Wish(mute_until=NOW + WEEK), by="tri", now=NOW)
    assert held(acme, test_id).state == "muted"
    assert not held(acme, test_id, at=NOW + WEEK).muted


def test_a_mute_ends_when_it_failed_more_than_n_times_since(acme, test_id):
    def fail(n):
        context = make_context(f"ci-f{n}", started_at=NOW + timedelta(hours=n))
        make_run(acme.project, {"test_a": "failed"}, context=context)

    fail(-1)  # before the mute: not counted
    decide(acme.project, test_id, Wish(mute_failures=2), by="tri", now=NOW)
    for n, muted in ((1, True), (2, True), (3, False)):
        fail(n)
        row = held(acme, test_id)
        assert (row.failures, row.muted) == (n, muted)
    decide(acme.project, test_id, Wish(mute_failures=5), by="tri", now=NOW + WEEK)
    assert (held(acme, test_id).failures, held(acme, test_id).muted) == (0, True)


def test_of_two_ends_the_first_one_ends_the_mute(acme, test_id):
    wish = Wish(mute_until=NOW + WEEK, mute_failures=0)
    decide(acme.project, test_id, wish, by="tri", now=NOW)
    assert held(acme, test_id).muted
    context = make_context("ci-f", started_at=NOW + timedelta(hours=1))
    make_run(acme.project, {"test_a": "failed"}, context=context)
    assert not held(acme, test_id).muted


def test_what_holds_can_be_lifted(acme, test_id):
    wish = Wish(
        owner="ana",
        fix_by=date(2031, 5, 1),
        quarantine_until=NOW + WEEK,
        mute_until=NOW + WEEK,
        accept=True,
        ticket="SHOP-1",
        reason="we know",
    )
    decide(acme.project, test_id, wish, by="tri", now=NOW)
    assert quarantined(acme.project.pk, [test_id], now=NOW) == {test_id}
    row = held(acme, test_id)
    assert (row.state, row.quarantine_reason) == ("quarantined", "we know")
    every = frozenset({"quarantine", "mute", "accept", "fix_by", "owner", "ticket"})
    decide(acme.project, test_id, Wish(lift=every), by="tri", now=NOW)
    row = held(acme, test_id)
    assert (row.state, row.owner, row.fix_by, row.ticket) == (None, "", None, "")
    assert quarantined(acme.project.pk, [test_id], now=NOW) == set()


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (Wish(quarantine_until=NOW), "a quarantine ends in the future"),
        (
            Wish(quarantine_until=NOW + timedelta(days=400)),
            "a quarantine lasts a year at most",
        ),
        (Wish(mute_until=NOW - WEEK), "a mute ends in the future"),
        (Wish(mute_failures=-1), "failures are a number from 0 to 1,000,000"),
        (Wish(accept=True, reason=" "), "accepting needs a reason"),
        (Wish(owner="x" * 201), "an owner has at most 200 characters"),
        (Wish(lift=frozenset({"all"})), "all is nothing that is decided"),
    ],
)
def test_what_makes_no_sense_is_refused_whole(acme, test_id, wish, said):
    with pytest.raises(Undecidable, match=said):
        decide(acme.project, test_id, wish, by="tri", now=NOW)
    assert Standing.objects.count() == 0


def test_a_test_of_another_project_is_not_decided_on(acme, test_id):
    other = create_project("acme/other", actor="test").project
    decide(acme.project, test_id, Wish(owner="ana"), by="tri", now=NOW)
    with pytest.raises(Undecidable, match="of another project"):
        decide(other, test_id, Wish(owner="eve"), by="eve", now=NOW)


def test_several_are_decided_together_or_not_at_all(acme, test_id):
    ids = list(acme.project.tests.values_list("pk", flat=True))
    assert decide_all(acme.project, ids, Wish(owner="ana"), by="tri", now=NOW) == 2
    assert set(Standing.objects.values_list("owner", flat=True)) == {"ana"}


def test_the_api_tells_owner_state_and_decisions(acme, test_id):
    owners.save(acme.project, "/tests/ @org/shop\n", by="tri", now=NOW)
    tests = told("/projects/acme/app/tests", acme.token)["items"]
    assert {row["owner"] for row in tests} == {"@org/shop"}
    until = NOW + WEEK
    wish = Wish(owner="ana", quarantine_until=until, reason="known")
    decide(acme.project, test_id, wish, by="tri", now=NOW)
    one = told(f"/tests/{test_id}", acme.token)
    assert (one["owner"], one["state"]) == ("ana", "quarantined")
    assert one["decisions"]["quarantined_until"].startswith(f"{until:%Y-%m-%dT%H:%M}")
    named = told("/projects/acme/app/tests", acme.token, nodeid="::test_b")["items"]
    assert [(row["owner"], row["state"]) for row in named] == [("@org/shop", "active")]
