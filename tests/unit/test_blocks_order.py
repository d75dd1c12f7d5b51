from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from results import blocks, order_blocks
from results.order_blocks import Order


@st.composite
def orders(draw, *, timed: bool):
    n = draw(st.integers(0, 50))
    rows = draw(st.permutations(range(n)))
    kept = draw(st.integers(0, n))  # the place of some results may not be known
    rows = rows[:kept]
    cuts = sorted(draw(st.lists(st.integers(0, kept), max_size=4)))
    lengths = np.diff([0, *cuts, kept])
    duration = np.array(
        draw(st.lists(st.integers(0, 99_999), min_size=n, max_size=n)), float
    )
    starts: Any = None
    if timed:
        ticks = draw(
            st.lists(st.integers(-(10**6), 10**9), min_size=kept, max_size=kept)
        )
        starts = 1_764_520_000.0 + np.array(ticks, float) * 1e-4
    order = Order(lengths.astype(np.int32), np.array(rows, np.int32), starts)
    return order, duration * 1e-3


def same_places(first, second):
    return np.array_equal(first.lengths, second.lengths) and np.array_equal(
        first.rows, second.rows
    )


@given(orders(timed=False))
def test_places_come_back_as_they_were(case):
    order, duration = case
    back = order_blocks.decode(order_blocks.encode(order, duration), duration)
    assert same_places(back, order)
    assert back.starts is None


@given(orders(timed=True))
def test_starts_come_back_to_a_tenth_of_a_millisecond(case):
    order, duration = case
    back = order_blocks.decode(order_blocks.encode(order, duration), duration)
    assert same_places(back, order)
    assert back.starts is not None
    assert np.allclose(back.starts, order.starts, rtol=0, atol=6e-5)


def test_starts_do_not_drift_over_many_tests():
    n = 10_000
    duration = np.full(n, 0.001)
    starts = (
        np.float64(1_764_520_000.0) + np.arange(n, dtype=np.float64) * 0.00123
    )  # never a whole tenth
    order = Order(np.array([n], np.int32), np.arange(n, dtype=np.int32), starts)
    back = order_blocks.decode(order_blocks.encode(order, duration), duration)
    assert back.starts is not None
    assert abs(back.starts[-1] - starts[-1]) < 6e-5


def test_process_and_position_are_counted_from_the_lengths():
    order = Order(np.array([2, 0, 1], np.int32), np.array([7, 3, 5], np.int32))
    assert order.process().tolist() == [0, 0, 2]
    assert order.position().tolist() == [0, 1, 0]


def test_one_process_in_file_order_costs_next_to_nothing():
    n = 12_141
    order = Order(np.array([n], np.int32), np.arange(n, dtype=np.int32))
    assert len(order_blocks.encode(order, np.zeros(n))) < 100


@pytest.mark.parametrize("data", [b"", b"\x01\x00", b"\x02" + b"\x00" * 20])
def test_bytes_that_are_no_order_are_named(data):
    with pytest.raises(blocks.BlockError):
        order_blocks.decode(data, np.zeros(0))


# Bytes written by version 1. They must stay readable for as long as data is kept.
UNTIMED_1 = bytes.fromhex("01000300050000000f000000636680002620e6e064626662400500")
TIMED_1 = bytes.fromhex(
    "01010300050000000f000000636680002620e6e064626662400500000000101c4bda410000000000000000000060101c4bda416360dac4d0c10004c20c780100"
)


@pytest.mark.parametrize("data", [UNTIMED_1, TIMED_1], ids=["untimed", "timed"])
def test_version_1_stays_readable(data):
    duration = np.array([0.001, 1.5, np.nan, 0.0, 0.25])
    order = order_blocks.decode(data, duration)
    assert order.lengths.tolist() == [3, 0, 2]
    assert order.rows.tolist() == [4, 0, 2, 1, 3]
    if data == TIMED_1:
        assert order.starts is not None
        since = order.starts - 1_764_520_000
        assert np.allclose(since, [0, 0.2501, 0.26, 1.5, 3.25], rtol=0, atol=6e-5)
