from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.outcomes import CODE, Outcome
from results import day_columns
from results.blocks import BlockError, Columns, Flag
from results.day_columns import BUCKETS, COUNTS, EDGES, Sums, quantile


def run(results):
    """{number: (outcome, seconds, flaky)}"""
    numbers = sorted(results)
    rows = [results[number] for number in numbers]
    return Columns(
        np.array(numbers, np.int32),
        np.array([CODE[Outcome(outcome)] for outcome, _, _ in rows], np.uint8),
        np.array([Flag.FLAKY if flaky else 0 for *_, flaky in rows], np.uint8),
        np.ones(len(rows), np.uint16),
        np.array([seconds for _, seconds, _ in rows], np.float64),
    )


def summed(runs):
    sums = Sums()
    for one in runs:
        sums.add(run(one))
    return sums.columns()


def same(first, second):
    return (
        np.array_equal(first.tests, second.tests)
        and all(np.array_equal(first.counts[n], second.counts[n]) for n in COUNTS)
        and np.allclose(first.total_s, second.total_s, atol=1e-9)
        and np.allclose(first.max_s, second.max_s, atol=1e-9)
        and np.array_equal(first.cells, second.cells)
        and np.array_equal(first.cell_counts, second.cell_counts)
    )


runs = st.lists(
    st.dictionaries(
        st.integers(0, 30),
        st.tuples(
            st.sampled_from(list(Outcome)),
            st.integers(0, 10**7).map(lambda ticks: ticks / 10_000),
            st.booleans(),
        ),
    ),
    max_size=5,
)


@given(runs)
def test_a_day_comes_back_as_it_was(given_runs):
    day = summed(given_runs)
    assert same(day_columns.decode(day_columns.encode(day)), day)


@given(runs, st.randoms(use_true_random=False))
def test_the_order_of_runs_changes_nothing(given_runs, random):
    shuffled = list(given_runs)
    random.shuffle(shuffled)
    assert same(summed(given_runs), summed(shuffled))


def test_counts_fold_the_outcomes_that_resemble_each_other():
    outcomes = ["passed", "xpassed", "failed", "error", "skipped", "xfailed"]
    day = summed([{0: (outcome, 1.0, outcome == "failed")} for outcome in outcomes])
    assert {name: int(day.counts[name][0]) for name in COUNTS} == {
        "runs": 6,
        "passed": 2,
        "failed": 1,
        "errors": 1,
        "skipped": 2,
        "flaky": 1,
    }
    # What was skipped took no time worth counting.
    assert (day.total_s[0], day.max_s[0]) == (4.0, 1.0)


def test_an_unknown_duration_is_not_zero():
    day = summed([{0: ("passed", float("nan"), False)}])
    assert len(day.cells) == 0
    assert quantile(day.histogram(np.array([0]))[0], 0.5) is None


def test_without_the_histogram_the_counts_are_the_same():
    data = day_columns.encode(summed([{3: ("passed", 1.0, False)}]))
    day = day_columns.decode(data, histogram=False)
    assert day.tests.tolist() == [3]
    assert len(day.cells) == 0


@given(
    st.lists(st.floats(0, 5_000), min_size=1, max_size=40), st.sampled_from([0.5, 0.95])
)
def test_a_quantile_is_in_the_bucket_of_the_true_one(seconds, share):
    histogram = np.bincount(
        np.searchsorted(EDGES, seconds, side="right"), minlength=BUCKETS
    )
    # The smallest value that at least this share of all values does not exceed.
    true = sorted(seconds)[max(int(np.ceil(share * len(seconds))) - 1, 0)]
    bucket = int(np.searchsorted(EDGES, true, side="right"))
    low = EDGES[bucket - 1] if bucket else 0.0
    found = quantile(histogram, share)
    assert found is not None
    assert low <= found <= EDGES[min(bucket, len(EDGES) - 1)]


@pytest.mark.parametrize("data", [b"", b"\x02" + b"\x00" * 30, b"\x01" + b"\x00" * 14])
def test_bytes_that_are_no_day_are_named(data):
    with pytest.raises(BlockError):
        day_columns.decode(data)


# Bytes written by version 1. They must stay readable for as long as data is kept.
DAY_1 = bytes.fromhex(
    "010030000300000003000000250000006360d9c6c0c0c400064c8c8c0c30c0c480041819700046ac4acecd60e0b4c2a2fa0892380063e633658001464646381b00"
)


def test_version_1_stays_readable():
    expected = summed(
        [
            {0: ("passed", 0.001, False), 5: ("failed", 1.5, False)},
            {0: ("passed", 0.25, True), 700: ("skipped", 0.0, False)},
        ]
    )
    assert same(day_columns.decode(DAY_1), expected)
