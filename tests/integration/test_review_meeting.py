"""Deciding together: two people at once, closing, minutes, and the stage that keeps."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta

import pytest

from findings.models import Finding
from leaks.models import Leaker
from notify.models import Event
from projects.creation import create_project
from projects.models import AuditEntry
from review import keeping
from review.agenda import review_of
from review.choices import Closed, Decision, Pick, choose
from review.closing import close
from review.deciding import Stale, Undecidable
from review.minutes import as_csv, as_markdown
from review.models import Change, Choice, Epoch, Standing, Week
from review.standings import held_of
from tests.builders import make_context, make_run
from tests.meeting import (
    FRIDAY,
    MONDAY,
    NEXT_TUESDAY,
    WEEK,
    make_case,
    make_leaker,
    make_old,
    make_verdict,
)
from tests.reviewing import make_finding

pytestmark = pytest.mark.django_db

SOON = date(2026, 3, 20)


@pytest.fixture
def project():
    made = create_project("acme/app", actor="test").project
    make_old(made)
    return made


def pick(project, subject, *, version=0, by="tri", now=FRIDAY, **fields):
    return choose(
        project, WEEK, subject, Pick(**fields), version=version, by=by, now=now
    )


def test_a_choice_holds_at_once_for_the_test(project):
    test = make_verdict(project, "test_a").test
    subject = f"test:{test.pk}"
    fields = {"until": SOON, "owner": "ana", "reason": "known"}
    choice = pick(project, subject, decision=Decision.QUARANTINE, **fields)
    assert (choice.version, choice.by, choice.decision) == (1, "tri", "quarantine")
    held = held_of([test.pk], now=FRIDAY)[test.pk]
    assert held.quarantined_until == datetime(2026, 3, 20, 23, 59, 59, tzinfo=UTC)
    assert (held.owner, held.quarantine_reason) == ("ana", "known")
    assert {row.week for row in Change.objects.all()} == {"2026-W10"}
    assert AuditEntry.objects.filter(action="review.decided").count() == 1


def test_choosing_again_takes_back_what_was_chosen_before(project):
    leaker = make_leaker(project, "test_a")
    subject = f"test:{leaker.test_id}"
    pick(project, subject, decision=Decision.MUTE, failures=3, note="noisy")
    leaker.refresh_from_db()
    assert leaker.state == "muted"
    pick(project, subject, version=1, decision=Decision.ASSIGN, owner="ana")
    leaker.refresh_from_db()
    held = held_of([leaker.test_id], now=FRIDAY)[leaker.test_id]
    assert (leaker.state, leaker.owner, held.muted, held.owner) == (
        "open",
        "ana",
        False,
        "ana",
    )


def test_findings_follow_what_is_chosen(project):
    finding = make_finding(project, severity="P0")
    subject = f"finding:{finding.pk}"
    pick(project, subject, decision=Decision.ACCEPT, reason="by design", fix_by=SOON)
    finding.refresh_from_db()
    assert (finding.state, finding.reason) == ("accepted", "by design")
    assert finding.due.date() == SOON
    with pytest.raises(Undecidable, match="a finding is accepted or fixed"):
        pick(project, subject, version=1, decision=Decision.MUTE, failures=1)
    assert Choice.objects.get().version == 1


def test_two_people_never_overwrite_each_other_silently(project):
    test = make_verdict(project, "test_a").test
    subject = f"test:{test.pk}"
    pick(project, subject, by="ana", owner="ana")
    with pytest.raises(Stale) as caught:
        pick(project, subject, by="bob", owner="bob")
    assert (caught.value.by, caught.value.version) == ("ana", 1)
    assert Choice.objects.get().owner == "ana"
    assert Standing.objects.get().owner == "ana"
    pick(project, subject, by="bob", version=1, owner="bob")
    assert Choice.objects.get().owner == "bob"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"decision": Decision.ASSIGN}, "say who fixes it, or by when"),
        ({"decision": Decision.QUARANTINE}, "needs the day on which it ends"),
        ({"decision": Decision.MUTE}, "its last day, or a number of failures"),
        ({"decision": Decision.ACCEPT}, "accepting needs a reason"),
        ({"decision": Decision.MUTE, "until": date(2026, 3, 1)}, "ends in the future"),
        ({"note": "x" * 2_001}, "a note has at most 2,000 characters"),
    ],
)
def test_what_makes_no_sense_leaves_nothing(project, fields, said):
    test = make_case(project, "test_a")
    with pytest.raises(Undecidable, match=said):
        pick(project, f"test:{test.pk}", **fields)
    rows = (Choice, Week, Standing, Epoch, Change)
    assert [kind.objects.count() for kind in rows] == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("subject", ["test:0", "finding:0", "x:1", "test:", "test:1:2"])
def test_what_is_not_there_is_not_decided_on(project, subject):
    with pytest.raises(Undecidable):
        pick(project, subject, owner="ana")
    assert Choice.objects.count() == 0


def test_closing_ends_the_review_once_and_tells_it(project):
    make_leaker(project, "test_a")
    test = make_verdict(project, "test_b").test
    pick(project, f"test:{test.pk}", owner="ana")
    review = close(project, WEEK, by="tri", now=FRIDAY)
    assert (review.state, review.decided, len(review.undecided)) == ("closed", 1, 1)
    with pytest.raises(Closed):
        close(project, WEEK, by="bob", now=FRIDAY)
    with pytest.raises(Closed):
        pick(project, f"test:{test.pk}", version=1, owner="bob")
    assert Choice.objects.get().owner == "ana"
    event = Event.objects.get(type="review.ready")
    assert (event.path, event.data["week"]) == ("review/2026-W10", "2026-W10")
    assert event.data["sentence"] == (
        "1 of 2 subjects decided. Closed by tri on 2026-03-06."
    )
    assert event.data["minutes"] == as_markdown(review, project)
    assert event.about["owners"] == ["ana"]


def test_the_minutes_are_exact(project):
    leaker = make_leaker(project, "test_a[*x*|`y`]", victims=1)
    finding = make_finding(
        project,
        severity="P0",
        title="<b>Odd</b> [link](x)",
        opened_at=FRIDAY - timedelta(hours=1),
        due=datetime(2026, 3, 7, tzinfo=UTC),
    )
    pick(
        project,
        f"test:{leaker.test_id}",
        decision=Decision.MUTE,
        until=SOON,
        failures=3,
        owner="ana",
        note="=noisy",
    )
    review = review_of(project, WEEK, now=FRIDAY)
    lines = as_markdown(review, project).splitlines()
    assert lines[:3] == [
        "# Weekly review 2026-W10: acme/app",
        "",
        "2026-03-02 to 2026-03-08 (UTC). 1 of 2 subjects decided.",
    ]
    assert (
        "- [x] ``tests/test_shop.py::test_a[*x*|`y`]`` – Leaks env.set, says a gate; "
        "1 victim; first seen on \\#538. **mute until 2026-03-20 or until it fails more "
        "than 3 times; owner ana** – =noisy (tri)"
    ) in lines
    assert (
        "- [ ] \\<b\\>Odd\\</b\\> \\[link\\](x) – P0, on \\#7, due 2026-03-07. "
        "**Undecided.**"
    ) in lines
    rows = list(csv.DictReader(io.StringIO(as_csv(review))))
    assert [row["section"] for row in rows] == ["new_leakers", "new_findings"]
    assert {
        name: rows[0][name]
        for name in ("subject", "decision", "owner", "until", "failures", "note")
    } == {
        "subject": f"test:{leaker.test_id}",
        "decision": "mute",
        "owner": "ana",
        "until": "2026-03-20",
        "failures": "3",
        "note": "'=noisy",
    }
    assert rows[1]["subject"] == f"finding:{finding.pk}"
    assert rows[1]["decision"] == rows[1]["decided_by"] == ""


def test_the_stage_keeps_each_week_that_ended(project):
    make_run(project, context=make_context(started_at=MONDAY))
    make_leaker(project, "test_a")
    kept = []
    while (item := keeping.claim(NEXT_TUESDAY)) is not None:
        keeping.work(item)
        kept.append(item.name)
    assert kept == ["2026-W07", "2026-W08", "2026-W09", "2026-W10"]
    assert set(Week.objects.values_list("name", flat=True)) == set(kept)
    assert not Week.objects.filter(frozen_at=None).exists()


def test_a_project_has_no_week_from_before_it_was_here(project):
    make_run(project, context=make_context(started_at=MONDAY))
    type(project).objects.update(created_at=FRIDAY)
    item = keeping.claim(NEXT_TUESDAY)
    assert item.name == "2026-W10"
    keeping.work(item)
    assert keeping.claim(NEXT_TUESDAY) is None


def test_a_lost_worker_is_followed_by_another(project):
    make_run(project, context=make_context(started_at=MONDAY))
    type(project).objects.update(created_at=FRIDAY)
    assert keeping.claim(NEXT_TUESDAY).name == "2026-W10"
    assert keeping.claim(NEXT_TUESDAY) is None
    item = keeping.claim(NEXT_TUESDAY + timedelta(minutes=6))
    assert item.name == "2026-W10"
    keeping.give_back(item, "OSError: full")
    assert Week.objects.get().error == "OSError: full"
    assert keeping.claim(NEXT_TUESDAY + timedelta(minutes=7)) is None


def test_a_mute_that_ran_out_opens_its_leaker(project):
    leaker = make_leaker(project, "test_a")
    pick(
        project, f"test:{leaker.test_id}", decision=Decision.MUTE, until=SOON, note="x"
    )
    type(project).objects.update(created_at=datetime(2031, 1, 1, tzinfo=UTC))
    assert keeping.claim(NEXT_TUESDAY) is None
    assert Leaker.objects.get().state == "muted"
    item = keeping.claim(datetime(2026, 3, 21, 1, tzinfo=UTC))
    keeping.work(item)
    assert Leaker.objects.get().state == "open"
    assert keeping.claim(datetime(2026, 3, 21, 1, tzinfo=UTC)) is None
    assert Finding.objects.count() == 0
