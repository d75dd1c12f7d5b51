"""Reviews from the upload to the list: clusters, rounds, decisions, replays."""

from __future__ import annotations

import itertools
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from findings import actions
from findings.models import Cluster, Finding, Review
from formats.reviews.life import State, Undecidable
from healthboard.pipeline import drain_all
from ingest import replaying
from ingest.models import Handover
from projects.creation import Created, create_project
from tests.asking import told
from tests.reviewing import FIRST, finding, review, send_review

pytestmark = pytest.mark.django_db

ONE, TWO, THREE = (
    finding("Rounding drops a cent"),
    finding("Session file stays behind", "shop/login.py"),
    finding("Typo in the heading", "docs/cart.md", severity="P3"),
)


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


def listed(acme: Created, **query):
    return told("/projects/acme/app/findings", acme.token, **query)["items"]


def states(acme: Created, **query) -> dict[str, str]:
    return {each["title"]: each["state"] for each in listed(acme, **query)}


def counts(acme: Created) -> list[dict[str, int]]:
    """What each review changed, the oldest first."""
    reviews = told("/projects/acme/app/reviews", acme.token)["items"]
    return [each["counts"] for each in reversed(reviews)]


def sizes(acme: Created) -> list[tuple[str, int]]:
    """Severity and size of each cluster, in the order of the list."""
    items = listed(acme)
    of = Counter(each["cluster"] for each in items)
    first = dict(reversed([(each["cluster"], each["severity"]) for each in items]))
    order = dict.fromkeys(each["cluster"] for each in items)
    return [(first[cluster], of[cluster]) for cluster in order]


def test_the_causes_are_clusters_and_the_worst_is_first(acme: Created):
    send_review(acme, FIRST, pr=7)
    assert sizes(acme) == [("P0", 3), ("P1", 3), ("P2", 1), ("P2", 1), ("P3", 1)]
    assert {each["reviewers"] == [] for each in listed(acme)} == {True}
    (only,) = told("/projects/acme/app/reviews", acme.token)["items"]
    assert only["confidence"] == {"score": 3, "of": 5}
    assert only["provenance"] == {
        "models": {"A": "alpha-1", "B": "beta-2"},
        "cost_usd": 1.5,
        "duration_s": 125,
        "rounds": 1,
        "files_examined": 9,
    }
    assert (only["pr"], only["unparsed"], only["complete"]) == (7, [], True)


def test_the_shared_sample_clusters_as_promised(acme: Created, shared):
    sample = (shared / "samples/fleet-review.md").read_text()
    send_review(acme, sample, pr=538)
    found = sizes(acme)
    assert found[0] == ("P0", 3)
    assert [size for severity, size in found if severity == "P1"] == [3, 1, 1]
    assert [size for severity, size in found if severity == "P2"] == [1] * 4


def test_a_complete_review_resolves_and_a_later_one_reopens(acme: Created):
    send_review(acme, review(ONE, TWO), pr=7)
    send_review(acme, review(ONE, THREE), pr=7)
    assert states(acme) == {
        ONE["title"]: "open",
        TWO["title"]: "resolved",
        THREE["title"]: "open",
    }
    send_review(acme, review(ONE, TWO, THREE), pr=7)
    assert states(acme)[TWO["title"]] == "reopened"
    assert counts(acme) == [
        {"created": 2, "closed": 0, "reopened": 0, "untouched": 0},
        {"created": 1, "closed": 1, "reopened": 0, "untouched": 1},
        {"created": 0, "closed": 0, "reopened": 1, "untouched": 2},
    ]
    assert {each["title"]: each["seen_count"] for each in listed(acme)} == {
        ONE["title"]: 3,
        TWO["title"]: 2,
        THREE["title"]: 2,
    }


@pytest.mark.parametrize(
    "second",
    [
        review(ONE, partial=True),
        "FleetReview\n\nFindings\n\n- P2 shop/cart.py:10 — Rounding drops a cent\n- P9 shop/x.py:1 — what\n",
    ],
    ids=["it says so", "a line was not read"],
)
def test_a_partial_review_resolves_nothing(acme: Created, second):
    send_review(acme, review(ONE, TWO), pr=7)
    send_review(acme, second, pr=7)
    assert states(acme) == {ONE["title"]: "open", TWO["title"]: "open"}


def test_another_pull_request_has_findings_of_its_own(acme: Created):
    send_review(acme, review(ONE), pr=7)
    send_review(acme, review(TWO), pr=8)
    send_review(acme, review(pr=7))
    assert states(acme, pr=7) == {ONE["title"]: "resolved"}
    assert states(acme, pr=8) == {TWO["title"]: "open"}


def decide(acme: Created, title: str, state: State, reason: str = "") -> None:
    row = Finding.objects.get(title=title)
    actions.apply(
        acme.project,
        [row.pk],
        actions.Wish(state=state, reason=reason),
        by="ada",
        now=timezone.now(),
    )


def test_what_a_person_decided_survives_the_next_reviews(acme: Created):
    send_review(acme, review(ONE, TWO), pr=7)
    decide(acme, ONE["title"], State.WONT_FIX, "a cent is fine")
    decide(acme, TWO["title"], State.FALSE_POSITIVE)
    send_review(acme, review(ONE), pr=7)
    send_review(acme, review(ONE, TWO), pr=7)
    assert states(acme) == {ONE["title"]: "won't fix", TWO["title"]: "false positive"}
    assert Finding.objects.get(title=ONE["title"]).reason == "a cent is fine"


def test_owner_and_due_date_survive_too(acme: Created):
    send_review(acme, review(ONE), pr=7)
    due = timezone.now().replace(microsecond=0) + timedelta(days=3)
    row = Finding.objects.get()
    wish = actions.Wish(owner="ada", due=due)
    assert actions.apply(acme.project, [row.pk], wish, by="bob", now=timezone.now())
    send_review(acme, review(ONE, TWO), pr=7)
    row.refresh_from_db()
    assert (row.owner, row.due, row.due_by_hand) == ("ada", due, True)


def test_a_verdict_that_needs_a_reason_is_refused_whole(acme: Created):
    send_review(acme, review(ONE, TWO), pr=7)
    wish = actions.Wish(state=State.WONT_FIX)
    ids = list(Finding.objects.values_list("pk", flat=True))
    with pytest.raises(Undecidable, match="needs a reason"):
        actions.apply(acme.project, ids, wish, by="ada", now=timezone.now())
    assert set(states(acme).values()) == {"open"}


def test_split_and_joined_stay_so(acme: Created):
    send_review(acme, FIRST, pr=7)
    guard = Finding.objects.get(path="tests/test_basket_total.py")
    actions.split(acme.project, [guard.pk], by="ada", now=timezone.now())
    alone = Finding.objects.filter(path__in=["docs/cart.md", "shop/cart.py"])
    ids = [each.pk for each in alone]
    actions.join(acme.project, ids, by="ada", now=timezone.now())
    expected = [("P0", 2), ("P0", 1), ("P1", 3), ("P2", 2), ("P2", 1)]
    assert sorted(sizes(acme)) == sorted(expected)
    send_review(acme, FIRST, pr=7)
    assert sorted(sizes(acme)) == sorted(expected)
    assert Cluster.objects.get(key=min(each.key for each in alone)).by_hand


def test_what_cannot_be_split_or_joined_says_why(acme: Created):
    send_review(acme, review(ONE), pr=7)
    send_review(acme, review(TWO), pr=8)
    ids = list(Finding.objects.values_list("pk", flat=True))
    now = timezone.now()
    with pytest.raises(Undecidable, match="whole of a cluster"):
        actions.split(acme.project, ids[:1], by="ada", now=now)
    with pytest.raises(Undecidable, match="takes two"):
        actions.join(acme.project, ids[:1], by="ada", now=now)
    with pytest.raises(Undecidable, match="two pull requests"):
        actions.join(acme.project, ids, by="ada", now=now)


def snapshot() -> list[dict]:
    """All that is told, but for the rows' own ids."""
    hidden = ("id", "cluster_id", "course_id")
    rows = Finding.objects.order_by("course__pr", "key").values()
    return [{k: v for k, v in row.items() if k not in hidden} for row in rows]


def test_processing_again_changes_nothing(acme: Created):
    send_review(acme, FIRST, pr=7)
    decide(acme, "Exchange Lost", State.ACCEPTED)
    send_review(acme, review(ONE), pr=7)
    before, addresses = snapshot(), set(Finding.objects.values_list("pk", flat=True))
    assert replaying.replay() == 2
    drain_all()
    assert snapshot() == before
    assert set(Finding.objects.values_list("pk", flat=True)) == addresses
    assert Review.objects.count() == 2


def test_the_order_of_processing_does_not_count(acme: Created):
    sent = [review(ONE, TWO), review(ONE), review(ONE, TWO, THREE)]
    uploads = [send_review(acme, each, pr=7, drain=False) for each in sent]
    drain_all()
    expected = snapshot()
    assert [each["state"] for each in expected].count("reopened") == 1
    for order in itertools.permutations(uploads):
        Review.objects.all().delete()
        Finding.objects.all().delete()
        for upload in order:
            Handover.objects.filter(upload=upload).update(due_at=timezone.now())
            drain_all()
        assert snapshot() == expected


def test_a_finding_keeps_its_address_when_its_file_is_renamed(acme: Created):
    send_review(acme, review(finding("Rounding drops a cent", "shop/cart.py")), pr=7)
    before = Finding.objects.get()
    decide(acme, before.title, State.ACCEPTED, "later")
    send_review(acme, review(finding("Rounding drops a cent", "shop/basket.py")), pr=7)
    after = Finding.objects.get()
    assert (after.pk, after.path, after.state) == (
        before.pk,
        "shop/basket.py",
        "accepted",
    )
    assert [event[2] for event in after.history] == ["created", "renamed"]
    assert after.former == [before.key]


def test_a_file_that_is_no_review_is_rejected_with_its_place(acme: Created):
    row = send_review(acme, review(finding("x", line=0)), pr=7)
    assert row.state == "rejected"
    assert row.errors[0]["path"] == "findings[0].line"
    assert Handover.objects.count() == 0
    assert listed(acme) == []
