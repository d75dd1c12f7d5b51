from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.outcomes import BY_CODE, CODE, FAILING, PASSING, SEVERITY, Outcome
from results.blocks import Columns, Flag
from results.merging import Part, merge

P, F, E, S, XF, XP = (
    Outcome.PASSED,
    Outcome.FAILED,
    Outcome.ERROR,
    Outcome.SKIPPED,
    Outcome.XFAILED,
    Outcome.XPASSED,
)


def part(results, *, job="unit", index=1, attempt=1, upload=1, duration=1.0):
    """Results are {number: outcome} or {number: (outcome, flags, attempts, seconds)}."""
    rows = {
        number: value if isinstance(value, tuple) else (value, 0, 1, duration)
        for number, value in results.items()
    }
    numbers = sorted(rows)
    outcome, flags, attempts, seconds = (
        [rows[number][field] for number in numbers] for field in range(4)
    )
    columns = Columns(
        np.array(numbers, np.int32),
        np.array([CODE[one] for one in outcome], np.uint8),
        np.array(flags, np.uint8),
        np.array(attempts, np.uint16),
        np.array(seconds, np.float64),
    )
    return Part(job, index, attempt, upload, columns)


def told(parts):
    """{number: (outcome, marks, attempts)}"""
    merged = merge(parts).columns
    return {
        int(number): (BY_CODE[outcome], Flag(int(flags)), int(attempts))
        for number, outcome, flags, attempts in zip(
            merged.tests, merged.outcome, merged.flags, merged.attempts, strict=True
        )
    }


NONE = Flag(0)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param([], {}, id="nothing"),
        pytest.param([part({})], {}, id="a part without results"),
        pytest.param(
            [part({3: P, 5: F})], {3: (P, NONE, 1), 5: (F, NONE, 1)}, id="one"
        ),
        pytest.param(
            [part({1: P}, index=1), part({2: F}, index=2, upload=2)],
            {1: (P, NONE, 1), 2: (F, NONE, 1)},
            id="shards join",
        ),
        pytest.param(
            [part({1: P, 2: P}), part({2: P, 3: S}, upload=2)],
            {1: (P, NONE, 1), 2: (P, NONE, 1), 3: (S, NONE, 1)},
            id="equal in two uploads of one part counts once",
        ),
        pytest.param(
            [part({1: P}), part({1: F}, upload=2)],
            {1: (F, Flag.CONFLICT, 1)},
            id="different in two uploads of one part is a conflict",
        ),
        pytest.param(
            [part({1: P, 2: S}), part({1: XP, 2: XF}, upload=2)],
            {1: (XP, NONE, 1), 2: (XF, NONE, 1)},
            id="two tools name one result differently",
        ),
        pytest.param(
            [part({1: F, 2: P}), part({1: P}, attempt=2, upload=2)],
            {1: (P, Flag.FLAKY, 2), 2: (P, NONE, 1)},
            id="the latest attempt counts, disagreement is flaky",
        ),
        pytest.param(
            [part({1: F}), part({1: E}, attempt=2, upload=2)],
            {1: (E, NONE, 2)},
            id="failed twice is not flaky",
        ),
        pytest.param(
            [part({1: P}), part({1: S}, attempt=2, upload=2)],
            {1: (S, NONE, 2)},
            id="a skip disagrees with nothing",
        ),
        pytest.param(
            [part({1: F}), part({1: S}, attempt=2), part({1: P}, attempt=3)],
            {1: (P, Flag.FLAKY, 3)},
            id="over a skip",
        ),
        pytest.param(
            [part({1: F}, index=1), part({1: P}, index=2, attempt=2, upload=2)],
            {1: (P, Flag.FLAKY, 2)},
            id="a repeated test may run in another shard",
        ),
        pytest.param(
            [part({1: P}, index=1), part({1: F}, index=2, upload=2)],
            {1: (F, Flag.DUPLICATE, 1)},
            id="in two shards the worse counts and it is no flake",
        ),
        pytest.param(
            [part({1: P}), part({1: F}, job="other", upload=2)],
            {1: (F, Flag.DUPLICATE, 1)},
            id="in two jobs likewise",
        ),
        pytest.param(
            [part({1: F}), part({1: P}, job="other", attempt=2, upload=2)],
            {1: (F, Flag.DUPLICATE, 1)},
            id="another job's later attempt hides no failure",
        ),
        pytest.param(
            [part({1: (P, Flag.HAD_FAILURE, 3, 1.0)})],
            {1: (P, Flag.FLAKY, 3)},
            id="attempts inside one upload",
        ),
        pytest.param(
            [
                part({1: (S, Flag.HAD_FAILURE, 2, 1.0)}),
                part({1: P}, attempt=2, upload=2),
            ],
            {1: (P, Flag.FLAKY, 3)},
            id="an earlier failure is not forgotten behind a skip",
        ),
        pytest.param(
            [part({1: (F, Flag.HAD_FAILURE, 2, 1.0)})],
            {1: (F, NONE, 2)},
            id="all attempts inside one upload failed",
        ),
        pytest.param(
            [part({1: F}), part({1: P}, upload=2), part({1: P}, attempt=2, upload=3)],
            {1: (P, Flag.FLAKY, 2)},
            id="a conflict of an earlier attempt is history",
        ),
        pytest.param(
            [part({1: (P, Flag.LEAKING, 1, 1.0)}), part({1: P}, upload=2)],
            {1: (P, Flag.LEAKING, 1)},
            id="leaking is kept",
        ),
    ],
)
def test_the_rules_of_merging(parts, expected):
    assert told(parts) == expected
    assert told(parts[::-1]) == expected


def test_source_names_the_part_that_counts():
    parts = [part({1: P, 2: F}), part({1: F}, upload=2), part({2: P}, attempt=2)]
    merged = merge(parts)
    assert merged.columns.tests.tolist() == [1, 2]
    assert merged.source.tolist() == [1, 2]


def test_duration_counts_each_test_of_a_part_once_and_every_attempt():
    parts = [
        part({1: P, 2: P}, duration=2.0),
        part({1: P, 3: P}, duration=1.5, upload=2),
        part({1: P}, attempt=2, duration=4.0, upload=3),
        part({9: (P, 0, 1, float("nan"))}, upload=4),
    ]
    assert merge(parts).duration_s == 2.0 + 2.0 + 1.5 + 4.0


outcomes = st.sampled_from(list(Outcome))
flags = st.sampled_from([0, 1, 2, 16, 32, 48])
results = st.dictionaries(
    st.integers(0, 4),
    st.tuples(outcomes, flags, st.integers(1, 3), st.sampled_from([0.5, 1.0])),
    max_size=5,
)
uploads: st.SearchStrategy[Any] = st.lists(
    st.builds(
        dict,
        results=results,
        job=st.sampled_from(["a", "b"]),
        index=st.integers(1, 2),
        attempt=st.integers(1, 3),
    ),
    max_size=6,
)


def slowly(given_uploads):
    """The rules again, one test at a time, written to be read."""
    numbers = {number for upload in given_uploads for number in upload["results"]}
    return {number: one_slowly(given_uploads, number) for number in numbers}


def one_slowly(given_uploads, number):
    stands, flaky, counts = [], False, []
    for job in "ab":
        mine = [
            (upload, upload["results"][number])
            for upload in given_uploads
            if upload["job"] == job and number in upload["results"]
        ]
        if mine:
            flaky |= disagrees(mine)
            counts.append(sum(max(r[2] for r in said) for said in by_attempt(mine)))
            last = max(upload["attempt"] for upload, _ in mine)
            stands += [
                (job, upload["index"], result)
                for upload, result in mine
                if upload["attempt"] == last
            ]
    places = {(job, index) for job, index, _ in stands}
    marks = NONE
    marks |= Flag.FLAKY if flaky else NONE
    marks |= Flag.LEAKING if any(r[1] & Flag.LEAKING for *_, r in stands) else NONE
    marks |= Flag.CONFLICT if any(differ(stands, place) for place in places) else NONE
    marks |= Flag.DUPLICATE if len(places) > 1 else NONE
    worst = max((result[0] for *_, result in stands), key=lambda one: SEVERITY[one])
    return worst, marks, max(counts)


def by_attempt(mine):
    """What is said in each attempt."""
    attempts = sorted({upload["attempt"] for upload, _ in mine})
    return [[r for upload, r in mine if upload["attempt"] == one] for one in attempts]


def disagrees(mine):
    """Whether one job's attempts disagree, those inside an upload included."""
    told = {
        max((r[0] for r in said), key=lambda one: SEVERITY[one])
        for said in by_attempt(mine)
    }
    had = 0
    for _, result in mine:
        had |= result[1]
    fails = bool(told & FAILING) or bool(had & Flag.HAD_FAILURE)
    passes = bool(told & PASSING) or bool(had & Flag.HAD_PASS)
    return bool(had & Flag.FLAKY) or (fails and passes)


def differ(stands, place):
    """Whether uploads of one part differ, whatever they call a pass or a skip."""
    like = {XP: P, XF: S}
    return len({like.get(r[0], r[0]) for j, i, r in stands if (j, i) == place}) > 1


def parts_of(given_uploads):
    return [part(**upload, upload=n) for n, upload in enumerate(given_uploads)]


@given(uploads)
def test_merging_says_what_the_rules_say(given_uploads):
    assert told(parts_of(given_uploads)) == slowly(given_uploads)


@given(uploads, st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_of_uploads_matters(given_uploads, random):
    parts = parts_of(given_uploads)
    again = parts + parts[::2]
    random.shuffle(again)
    first, second = merge(parts), merge(again)
    assert told(parts) == told(again)
    assert np.isclose(first.duration_s, second.duration_s)
    assert np.array_equal(first.columns.duration, second.columns.duration)
