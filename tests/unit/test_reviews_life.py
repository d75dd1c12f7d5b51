"""The life of findings from review to review, and where they went."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.reviews.identity import identity
from formats.reviews.life import (
    LIVE,
    VERDICTS,
    Decided,
    Known,
    Reviewed,
    State,
    Undecidable,
    advance,
    decide,
    replay,
)
from formats.reviews.moves import How
from formats.reviews.review import (
    Finding,
    Place,
    Review,
    Severity,
    Suppression,
    UnparsedLine,
)

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)
A = Finding(Severity.P1, "a.py", "Alpha", 10)
B = Finding(Severity.P2, "b.py", "Beta", 20)
C = Finding(Severity.P0, "c.py", "Gamma", 30)
KEY = identity(A)


def told(*reviews, pr=1, known=()):
    """Advance through reviews, a day apart; return the last changes."""
    changes = None
    for day, review in enumerate(reviews):
        changes = advance(known, review, pr=pr, now=NOW + day * DAY)
        known = tuple(changes.known.values())
    return changes


def review(*findings, **values):
    return Review(findings, **values)


def states(changes):
    return {each.finding.title: each.state for each in changes.known.values()}


def test_new_findings_are_created_and_open():
    changes = told(review(A, B))

    assert changes.counts == {"created": 2, "closed": 0, "reopened": 0, "untouched": 0}
    assert changes.known[KEY] == Known(
        KEY,
        1,
        A,
        first_seen=NOW,
        last_seen=NOW,
        opened_at=NOW,
        due=NOW + 7 * DAY,
    )


def test_finding_seen_again_is_the_same_finding():
    changes = told(review(A), review(replace(A, line=14, detail="more")))
    known = changes.known[KEY]

    assert changes.counts == {"created": 0, "closed": 0, "reopened": 0, "untouched": 1}
    assert (known.seen_count, known.first_seen, known.last_seen) == (2, NOW, NOW + DAY)
    assert (known.finding.line, known.finding.detail) == (14, "more")


def test_one_review_counts_once_however_many_raise_it():
    raised = [replace(A, reviewers=(name,)) for name in "CBB"]
    changes = told(review(*raised))

    assert changes.known[KEY].seen_count == 1
    assert changes.known[KEY].finding.reviewers == ("B", "C")


def test_complete_review_resolves_what_it_does_not_raise():
    changes = told(review(A, B), review(B))

    assert states(changes) == {"Alpha": State.RESOLVED, "Beta": State.OPEN}
    assert changes.closed == (KEY,)


@pytest.mark.parametrize(
    "incomplete",
    [
        review(B, partial=True),
        review(B, unparsed=(UnparsedLine(3, "- P1 ?"),)),
    ],
)
def test_incomplete_review_resolves_nothing(incomplete):
    changes = told(review(A, B), incomplete)

    assert states(changes) == {"Alpha": State.OPEN, "Beta": State.OPEN}
    assert changes.unseen == (KEY,)
    assert changes.counts == {"created": 0, "closed": 0, "reopened": 0, "untouched": 1}


def test_review_without_a_pull_request_resolves_nothing():
    assert states(told(review(A), review(B), pr=None))["Alpha"] == State.OPEN


def test_review_of_another_pull_request_touches_nothing():
    known = tuple(told(review(A)).known.values())
    changes = advance(known, review(B), pr=2, now=NOW + DAY)

    assert states(changes) == {"Beta": State.OPEN}


def test_finding_that_returns_is_reopened_with_a_new_due_date():
    changes = told(review(A), review(), review(A))
    known = changes.known[KEY]

    assert changes.counts == {"created": 0, "closed": 0, "reopened": 1, "untouched": 0}
    assert known.state is State.REOPENED
    assert known.due == NOW + 2 * DAY + 7 * DAY
    assert known.first_seen == NOW
    assert told(review(A), review(), review(A), review()).known[KEY].state == "resolved"


@pytest.mark.parametrize("verdict", sorted(VERDICTS))
@pytest.mark.parametrize("later", [review(A), review(), review(A, partial=True)])
def test_verdict_of_a_person_survives_every_review(verdict, later):
    known = decide(told(review(A)).known[KEY], verdict, now=NOW, reason="Because")
    changes = advance([known], later, pr=1, now=NOW + DAY)

    assert changes.known[KEY].state is verdict
    assert changes.known[KEY].reason == "Because"
    assert changes.closed == changes.reopened == changes.created == ()


def test_raised_again_although_said_to_be_fixed_is_counted():
    known = decide(told(review(A)).known[KEY], State.FIXED, now=NOW)
    once = advance([known], review(A), pr=1, now=NOW + DAY).known[KEY]

    assert (once.state, once.raised_since_fixed) == (State.FIXED, 1)
    assert decide(once, State.OPEN, now=NOW).raised_since_fixed == 0


def test_wont_fix_needs_a_reason():
    known = told(review(A)).known[KEY]

    with pytest.raises(Undecidable, match="reason"):
        decide(known, State.WONT_FIX, now=NOW, reason=" ")
    assert decide(known, State.WONT_FIX, now=NOW, reason=" Old ").reason == "Old"


@pytest.mark.parametrize("state", [State.RESOLVED, State.REOPENED])
def test_states_that_reviews_find_are_not_decided(state):
    with pytest.raises(Undecidable):
        decide(told(review(A)).known[KEY], state, now=NOW)


def test_suppressed_result_is_accepted_from_the_start():
    silent = replace(A, suppressions=(Suppression("inSource", reason="By design"),))
    known = told(review(silent)).known[KEY]

    assert (known.state, known.reason) == (State.ACCEPTED, "By design")


@pytest.mark.parametrize(
    ("severity", "days"), [("P0", 1), ("P1", 7), ("P2", 30), ("P3", 90)]
)
def test_due_date_is_by_severity(severity, days):
    raised = replace(A, severity=Severity(severity))

    assert told(review(raised)).known[KEY].due == NOW + days * DAY


@pytest.mark.parametrize(
    ("severity", "due"),
    [
        ("P0", NOW + 2 * DAY),  # a day from now
        ("P1", NOW + 7 * DAY),
        ("P2", NOW + 30 * DAY),  # from when it was opened
    ],
)
def test_due_date_follows_the_severity(severity, due):
    later = replace(A, severity=Severity(severity))

    assert told(review(A), review(later)).known[KEY].due == due


def test_due_date_set_by_hand_stays():
    known = replace(told(review(A)).known[KEY], due=NOW + 99 * DAY, due_by_hand=True)
    later = review(replace(A, severity=Severity.P0))

    assert advance([known], later, pr=1, now=NOW).known[KEY].due == NOW + 99 * DAY


def at(*lines):
    first, *more = lines
    return replace(A, line=first, also_at=tuple(Place(line) for line in more))


@pytest.mark.parametrize(
    ("before", "after", "moves", "ambiguous"),
    [
        ((10,), (10,), [], False),
        ((10,), (14,), [(10, 14)], False),
        ((10, 50), (10, 52), [(50, 52)], False),  # exact first
        ((10, 50), (12, 51), [(10, 12), (50, 51)], False),
        ((10, 50), (50,), [], False),
        ((10, 50), (11,), [(10, 11)], False),
        ((10, 20), (15,), [], True),  # equally near
        ((15,), (10, 20), [], True),
        ((10, 20, 90), (15, 91), [(90, 91)], True),
        ((10, 13), (11, 40), [(10, 11), (13, 40)], False),  # nearest, then the rest
    ],
)
def test_moved_lines_are_followed(before, after, moves, ambiguous):
    changes = told(review(at(*before)), review(at(*after)))

    assert [(m.from_line, m.to_line) for m in changes.moves] == moves
    assert bool(changes.ambiguous) == ambiguous
    assert changes.counts["untouched"] == 1


@pytest.mark.parametrize(
    ("old", "new"), [("app/old.py", "app/new.py"), ("a.py", "pkg/a.py")]
)
def test_sole_renamed_pair_is_the_same_finding(old, new):
    before, after = replace(A, path=old), replace(A, path=new)
    first = told(review(before, B)).known[identity(before)]
    known = [decide(first, State.ACCEPTED, now=NOW)]
    changes = advance(known, review(after), pr=1, now=NOW + DAY)

    assert changes.counts == {"created": 0, "closed": 0, "reopened": 0, "untouched": 1}
    assert changes.known[identity(after)].state is State.ACCEPTED
    assert changes.known[identity(after)].seen_count == 2
    assert [(m.how, m.from_path, m.to_path) for m in changes.moves] == [
        (How.RENAMED, old, new)
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["x/a.py", "x/b.py"], ["x/c.py"]),
        (["x/a.py"], ["x/b.py", "x/c.py"]),
        (["x/a.py"], ["y/b.py"]),  # neither the name nor the folder stayed
    ],
)
def test_ambiguous_rename_is_shown_and_not_guessed(before, after):
    changes = told(
        review(*(replace(A, path=path) for path in before)),
        review(*(replace(A, path=path) for path in after)),
    )

    assert changes.counts == {
        "created": len(after),
        "closed": len(before),
        "reopened": 0,
        "untouched": 0,
    }
    (shown,) = changes.ambiguous
    assert (len(shown.was), len(shown.now)) == (len(before), len(after))
    assert all(path in shown.why for path in (*before, *after))


def test_partial_review_renames_nothing():
    changes = told(
        review(replace(A, path="x/a.py")),
        review(replace(A, path="x/b.py"), partial=True),
    )

    assert changes.moves == ()
    assert len(changes.known) == 2


REVIEWS = st.lists(
    st.tuples(
        st.lists(st.sampled_from([A, B, C, replace(A, line=11)]), max_size=3),
        st.booleans(),
    ),
    max_size=5,
)


@given(REVIEWS, st.data())
def test_replay_is_the_same_in_any_order_and_with_repeats(entries, data):
    events = [
        Reviewed(NOW + day * DAY, f"r{day}", Review(tuple(found), partial=partial))
        for day, (found, partial) in enumerate(entries)
    ]
    events.append(Decided(NOW + DAY / 2, "d", KEY, State.FALSE_POSITIVE))
    shuffled = data.draw(st.permutations(events))
    repeated = [*shuffled, *data.draw(st.lists(st.sampled_from(events)))]

    assert replay(repeated, pr=1) == replay(events, pr=1)


@given(REVIEWS)
def test_counts_and_states_add_up(entries):
    known = {}
    for day, (found, partial) in enumerate(entries):
        before = known
        given_review = Review(tuple(found), partial=partial)
        changes = advance(known.values(), given_review, pr=1, now=NOW + day * DAY)
        known = changes.known
        raised = {identity(each) for each in found}

        assert raised == {*changes.created, *changes.reopened, *changes.untouched}
        assert set(changes.created) == raised - before.keys()
        assert known.keys() == before.keys() | raised
        live = {key for key, each in known.items() if each.state in LIVE}
        assert live >= raised
        assert not (changes.closed and partial)
        assert all(known[key].state is State.RESOLVED for key in changes.closed)
        assert sum(k.seen_count for k in known.values()) == sum(
            k.seen_count for k in before.values()
        ) + len(raised)
