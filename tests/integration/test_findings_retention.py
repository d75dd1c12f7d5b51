"""Old effects go; findings, decisions and reviews stay."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from findings import actions, retention
from findings.models import Decision, Effect, Finding, Ledger, Review
from formats.reviews.life import State
from healthboard.pipeline import drain_all
from projects.creation import Created, create_project
from tests.reviewing import finding, ledger, review, send, send_review

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme() -> Created:
    created = create_project("acme/app", actor="test")
    created.project.options = {"keep_facts_days": 100}
    created.project.save()
    return created


def send_effects(acme: Created, *, days_ago: int, run: str) -> Ledger:
    send(acme, ("effects", "effects.jsonl", ledger()), run=run)
    made = Ledger.objects.latest("pk")
    made.at = timezone.now() - timedelta(days=days_ago)
    made.save()
    return made


def test_exports_past_their_time_go_with_their_effects(acme: Created):
    old = send_effects(acme, days_ago=0, run="ci-1")
    young = send_effects(acme, days_ago=99, run="ci-2")
    old.at = timezone.now() - timedelta(days=101)
    old.save()
    assert retention.waiting(acme.project.pk) == 1
    drain_all()
    assert retention.waiting() == 0
    assert list(Ledger.objects.all()) == [young]
    assert set(Effect.objects.values_list("ledger", flat=True)) == {young.pk}


def test_findings_outlive_their_effects(acme: Created):
    send_effects(acme, days_ago=101, run="ci-1")
    before = set(Finding.objects.values_list("key", "state"))
    drain_all()
    assert Effect.objects.count() == 0
    assert set(Finding.objects.values_list("key", "state")) == before
    assert len(before) > 1


def test_a_decision_is_for_ever(acme: Created):
    send_effects(acme, days_ago=0, run="ci-1")
    row = Finding.objects.filter(severity="P1").get()
    wish = actions.Wish(state=State.ACCEPTED, reason="known")
    actions.apply(acme.project, [row.pk], wish, by="tri", now=timezone.now())
    Ledger.objects.update(at=timezone.now() - timedelta(days=101))
    drain_all()
    assert Ledger.objects.count() == 1
    # A later export of the same effects finds the decision still standing.
    send(acme, ("effects", "effects.jsonl", ledger()), run="ci-2")
    row.refresh_from_db()
    assert (row.state, row.reason) == ("accepted", "known")
    assert Decision.objects.count() == 1


def test_a_large_export_goes_in_pieces(acme: Created, monkeypatch):
    monkeypatch.setattr(retention, "_ROWS_AT_ONCE", 2)
    send_effects(acme, days_ago=101, run="ci-1")
    assert Effect.objects.count() == 5
    drain_all()
    assert (Effect.objects.count(), Ledger.objects.count()) == (0, 0)


def test_a_draft_and_a_review_are_let_be(acme: Created):
    draft = send_effects(acme, days_ago=101, run="ci-1")
    Ledger.objects.filter(pk=draft.pk).update(current=False)
    send_review(acme, review(finding("Rounding drops a cent")), pr=7)
    Review.objects.update(at=timezone.now() - timedelta(days=900))
    assert retention.claim(timezone.now()) is None
    assert Review.objects.count() == 1
