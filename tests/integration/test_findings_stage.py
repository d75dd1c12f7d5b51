"""The stage behind ingest: handed over once, claimed by one, never half stored."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from findings import actions, storing
from findings.models import Course, Finding, Review
from formats.reviews.life import State
from healthboard.pipeline import BY_NAME, drain, drain_all
from ingest import handovers, replaying, retention
from ingest.claims import LeaseLost
from ingest.models import Handover, Upload
from projects.creation import Created, create_project
from tests.asking import told
from tests.reviewing import finding, ledger, review, send, send_review

pytestmark = pytest.mark.django_db

SAID = review(finding("Rounding drops a cent"), finding("Session file stays behind"))


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


@pytest.fixture
def handed(acme: Created) -> Handover:
    """A review that ingest has read, and that waits for the stage."""
    send_review(acme, SAID, drain=False, pr=7)
    drain(BY_NAME["ingest"])
    return Handover.objects.get(stage="findings")


def test_what_is_handed_over_is_pending(acme: Created, handed: Handover):
    status = told("/projects/acme/app/status", acme.token)
    stages = status["stages"]
    assert (status["pending"], stages["findings"], stages["pulls"]) == (2, 1, 1)
    assert Review.objects.count() == 0
    drain_all()
    assert told("/projects/acme/app/status", acme.token)["pending"] == 0
    assert Finding.objects.count() == 2


def test_work_that_was_interrupted_is_taken_over(handed: Handover):
    first = storing.claim(timezone.now())
    assert storing.claim(timezone.now()) is None
    later = timezone.now() + timedelta(seconds=settings.HEALTHBOARD_LEASE_SECONDS + 1)
    second = storing.claim(later)
    assert second.attempts == 2
    with pytest.raises(LeaseLost):
        storing.work(first)
    assert Finding.objects.count() == 0
    storing.work(second)
    assert (Finding.objects.count(), Review.objects.count()) == (2, 1)


def test_five_interruptions_are_the_end_and_are_told(handed: Handover):
    now = timezone.now()
    for _ in range(5):
        assert storing.claim(now) is not None
        now += timedelta(seconds=settings.HEALTHBOARD_LEASE_SECONDS + 1)
    assert storing.claim(now) is None
    (dead,) = handovers.dead(handed.upload)
    assert "interrupted 5 times" in dead.failure


def test_an_unknown_error_is_tried_again_then_given_up_then_retried(
    acme: Created, handed: Handover
):
    body = settings.INBOX_DIR / handed.upload.body
    hidden = body.rename(body.with_suffix(".away"))
    for _ in range(5):
        Handover.objects.update(due_at=timezone.now())
        drain_all()
    (dead,) = handovers.dead(handed.upload)
    assert dead.failure.startswith("BodyGone")
    upload = told(f"/uploads/{handed.upload_id}", acme.token)
    assert upload["error"]["message"].startswith("findings: BodyGone")
    hidden.rename(body)
    assert replaying.retry(handed.upload, by="ada")
    drain_all()
    assert Finding.objects.count() == 2
    assert told(f"/uploads/{handed.upload_id}", acme.token)["error"] is None


def test_what_is_no_longer_the_newest_is_told_again(acme: Created, handed: Handover):
    drain_all()
    send_review(acme, review(), drain=False, pr=7)
    drain(BY_NAME["ingest"])
    late = storing.claim(timezone.now())
    said = storing._read(late)
    tellings = storing._tell(said)
    row = Finding.objects.first()
    wish = actions.Wish(state=State.ACCEPTED)
    actions.apply(acme.project, [row.pk], wish, by="ada", now=timezone.now())
    assert not storing._store(late, said, tellings)
    storing.work(late)
    row.refresh_from_db()
    assert row.state == "accepted"
    assert sorted(Finding.objects.values_list("state", flat=True)) == [
        "accepted",
        "resolved",
    ]


def test_one_upload_can_hold_several_reviews_and_ledgers(acme: Created):
    send(
        acme,
        (
            "review",
            "a.json",
            b'{"schema": "healthboard.review/1", "pr": 7, "findings": []}',
        ),
        ("effects", "e.jsonl", ledger()),
        ("effects", "bad.jsonl", b"{}\n"),
        ("auto", "b.md", b"FleetReview\n\n- P1 a.py:1 \xe2\x80\x94 Odd\n"),
        run="ci-1",
    )
    assert sorted(Course.objects.values_list("source", "pr")) == [
        ("effect", 0),
        ("review", 0),
        ("review", 7),
    ]
    assert Review.objects.count() == 2
    assert Finding.objects.filter(source="effect").count() == 4


def test_a_replay_that_moves_a_review_takes_it_from_its_pull_request(acme: Created):
    row = send_review(acme, SAID, pr=7)
    type(row).objects.filter(pk=row.pk).update(context={"pr": 8})
    replaying.replay()
    drain_all()
    assert set(Finding.objects.values_list("pr", flat=True)) == {8}
    assert Review.objects.get().course.pr == 8


def test_waiting_work_keeps_its_body(handed: Handover):
    long_ago = timezone.now() - timedelta(days=400)
    Upload.objects.update(received_at=long_ago)
    assert retention.delete_expired(timezone.now()) == 0
    drain_all()
    assert retention.delete_expired(timezone.now()) == 1
