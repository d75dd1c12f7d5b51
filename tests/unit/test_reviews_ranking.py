"""The order in which findings are read, and its reason in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.reviews.ranking import Facts, rank
from formats.reviews.review import Confidence, Severity

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)
PLAIN = Facts("plain", Severity.P1, due=NOW + 7 * DAY)


@pytest.mark.parametrize(
    ("first", "second", "by"),
    [
        ({"severity": Severity.P0}, {"blocks": (1,), "reviewers": ("B",)}, "severity"),
        (
            {"blocks": (541,)},
            {"reviewers": ("B", "C")},
            "blocking an open pull request",
        ),
        (
            {"reviewers": ("B",)},
            {"confidence": Confidence(5, 5)},
            "reviewers that agree",
        ),
        (
            {"confidence": Confidence(4, 5)},
            {"confidence": Confidence(7, 10), "victims": 9},
            "the review's confidence",
        ),
        (
            {"victims": 2},
            {"victims": 1, "due": NOW - DAY},
            "measured victims of linked leaks",
        ),
        ({"due": NOW - DAY}, {"due": NOW + DAY}, "time left until the due date"),
        ({"due": NOW + 99 * DAY}, {"due": None}, "time left until the due date"),
        ({"path": "a.py"}, {"path": "b.py"}, ""),
        ({"line": 2}, {"line": 10}, ""),
    ],
)
def test_each_criterion_decides_where_those_before_it_are_equal(first, second, by):
    one = replace(PLAIN, key="one", **first)
    two = replace(PLAIN, key="two", **second)
    ranked = rank([two, one], now=NOW)

    assert [(each.key, each.position, each.behind) for each in ranked] == [
        ("one", 1, ""),
        ("two", 2, by),
    ]


def reason(**facts):
    (ranked,) = rank([replace(PLAIN, **facts)], now=NOW)
    return ranked.reason


def test_reason_is_said_in_words():
    assert reason(
        severity=Severity.P0,
        blocks=(541, 540),
        reviewers=("C", "B"),
        confidence=Confidence(2, 5),
        victims=1,
        due=NOW - 3 * DAY,
    ) == (
        "P0; blocks #540, #541; raised by 2 reviewers (B, C); review's confidence "
        "2 of 5; 1 measured victim of leaks linked to it; 3 days over its due date"
    )


def test_reason_says_what_is_not_known():
    assert reason(due=None) == (
        "P1; blocks no open pull request; no reviewer is stated; "
        "the review states no confidence"
    )


@pytest.mark.parametrize(
    ("due", "words"),
    [
        (NOW + 7 * DAY, "due in 7 days"),
        (NOW + DAY, "due in 1 day"),
        (NOW + DAY / 24, "due in 1 hour"),
        (NOW - DAY / 8, "3 hours over its due date"),
        (NOW, "due in 0 hours"),
    ],
)
def test_age_is_told_against_the_due_date(due, words):
    assert reason(due=due).endswith(f"; {words}")


def test_long_lists_are_shortened():
    told = reason(blocks=tuple(range(1, 9)), reviewers=tuple("ABCDEFGHIJ"))

    assert "blocks #1, #2, #3, #4, #5 and 3 more" in told
    assert "raised by 10 reviewers (A, B, C, D, E, F, G, H and 2 more)" in told


FACTS = st.builds(
    Facts,
    key=st.text("abcdef", min_size=1, max_size=6),
    severity=st.sampled_from(Severity),
    blocks=st.sampled_from([(), (1,), (1, 2)]),
    reviewers=st.sampled_from([(), ("B",), ("B", "C")]),
    confidence=st.sampled_from([None, Confidence(1, 5), Confidence(5, 5)]),
    victims=st.integers(0, 2),
    due=st.sampled_from([None, NOW, NOW + DAY]),
    path=st.sampled_from(["a", "b"]),
)


@given(st.lists(FACTS, max_size=12, unique_by=lambda each: each.key), st.randoms())
def test_order_given_changes_nothing(facts, rng):
    ranked = rank(facts, now=NOW)
    severities = {each.key: each.severity for each in facts}

    assert rank(rng.sample(facts, len(facts)), now=NOW) == ranked
    assert [each.position for each in ranked] == list(range(1, len(facts) + 1))
    order = [severities[each.key] for each in ranked]
    assert order == sorted(order)
