from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from results import blocks

NAN = float("nan")


def columns(tests, *, outcome=None, flags=None, attempts=None, duration=None):
    n = len(tests)
    return blocks.Columns(
        np.array(tests, np.int32),
        np.array(outcome if outcome is not None else [0] * n, np.uint8),
        np.array(flags if flags is not None else [0] * n, np.uint8),
        np.array(attempts if attempts is not None else [1] * n, np.uint16),
        np.array(duration if duration is not None else [NAN] * n, np.float64),
    )


def same(first, second):
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in ("tests", "outcome", "flags", "attempts")
    ) and np.allclose(first.duration, second.duration, atol=1e-12, equal_nan=True)


def round_trip(given_columns):
    return blocks.decode(blocks.encode(given_columns), given_columns.tests)


@given(st.data())
def test_a_block_comes_back_as_it_was(data):
    n = data.draw(st.integers(0, 60))
    unit = data.draw(st.sampled_from([1e-3, 1e-4]))
    ticks = data.draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 4_000_000)))
    given_columns = blocks.Columns(
        np.arange(n, dtype=np.int32),
        data.draw(hnp.arrays(np.uint8, n)),
        data.draw(hnp.arrays(np.uint8, n)),
        data.draw(hnp.arrays(np.uint16, n)),
        np.where(ticks < 0, np.nan, ticks * unit),
    )
    assert same(round_trip(given_columns), given_columns)


@given(st.sets(st.integers(0, 2**31 - 1), max_size=200))
def test_a_roster_comes_back_as_it_was(numbers):
    tests = np.array(sorted(numbers), np.int32)
    assert np.array_equal(blocks.decode_roster(blocks.encode_roster(tests)), tests)


@given(st.sets(st.integers(0, 20_000), max_size=300))
def test_slices_cover_every_number_once(numbers):
    tests = np.array(sorted(numbers), np.int32)
    seen = []
    for chunk, part in blocks.slices(tests):
        assert set(tests[part].tolist()) == {n for n in numbers if n // 1024 == chunk}
        assert blocks.chunk_slice(tests, chunk) == part
        seen += tests[part].tolist()
    assert seen == sorted(numbers)


@pytest.mark.parametrize(
    ("seconds", "stored"),
    [
        pytest.param([0.001, 1.25], [0.001, 1.25], id="whole milliseconds"),
        pytest.param([0.00049], [0.0005], id="tenths of a millisecond"),
        pytest.param([0.00004], [0.0], id="less than half a tenth"),
        pytest.param([0.0012, 3_000_000.0], [0.001, 3_000_000.0], id="a month long"),
        pytest.param([1e12], [4_294_967.294], id="longer than can be said"),
        pytest.param([-1.0], [0.0], id="negative"),
        pytest.param([float("inf")], [4_294_967.294], id="endless"),
        pytest.param([NAN, 0.0], [NAN, 0.0], id="unknown is not zero"),
    ],
)
def test_durations_are_rounded_to_the_unit(seconds, stored):
    got = round_trip(columns(range(len(seconds)), duration=seconds)).duration
    assert np.allclose(got, stored, atol=1e-9, equal_nan=True)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5),
            st.integers(0, 63),
            st.integers(0, 65_535),
            st.one_of(st.none(), st.integers(0, 10**6)),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_one_result_is_read_as_from_the_whole(rows):
    given_columns = columns(
        range(len(rows)),
        outcome=[row[0] for row in rows],
        flags=[row[1] for row in rows],
        attempts=[row[2] for row in rows],
        duration=[NAN if row[3] is None else row[3] / 1_000 for row in rows],
    )
    data = blocks.encode(given_columns)
    whole = blocks.decode(data, given_columns.tests)
    for at in range(len(rows)):
        *exact, duration = blocks.decode_one(data, at)
        assert exact == [whole.outcome[at], whole.flags[at], whole.attempts[at]]
        assert np.isclose(duration, whole.duration[at], equal_nan=True)
    with pytest.raises(blocks.BlockError):
        blocks.decode_one(data, len(rows))


def test_a_full_dense_roster_costs_a_few_bytes():
    assert len(blocks.encode_roster(np.arange(12_141, dtype=np.int32))) < 80


def test_outcomes_that_say_passed_as_ever_cost_next_to_nothing():
    assert len(blocks.encode(columns(range(1024)))) < 40


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x01\x00\x00", id="cut in the header"),
        pytest.param(b"\x02\x00\x00\x01\x00" + b"\x03\x00", id="from the future"),
        pytest.param(b"\x01\x09\x00\x01\x00" + b"\x03\x00", id="unknown unit"),
        pytest.param(b"\x01\x00\x00\x01\x00" + b"\xff\xff", id="not deflated"),
        pytest.param(b"\x01\x00\x00\x01\x00" + b"\x03\x00", id="too little"),
        pytest.param(blocks.encode(columns([3, 4])), id="another count"),
    ],
)
def test_bytes_that_are_no_block_are_named(data):
    with pytest.raises(blocks.BlockError):
        blocks.decode(data, np.array([3], np.int32))


def test_a_torn_roster_is_named():
    whole = blocks.encode_roster(np.array([1, 5, 9], np.int32))
    for torn in (b"", whole[:3], whole[:-2], b"\x07" + whole[1:]):
        with pytest.raises(blocks.BlockError):
            blocks.decode_roster(torn)


# Bytes written by version 1. They must stay readable for as long as data is kept.
ROSTER_1 = bytes.fromhex("0105000000636060d8e9c4c0c0c0c4c8000700")
IN_MS_1 = bytes.fromhex(
    "01000005006360646266656064613060646664d461000246c63bff197e31b0fe0771600400"
)
IN_TENTHS_1 = bytes.fromhex(
    "01010005006360646266656064613060646664d4610002469e19ff198e3058fd67e06460f80f12011200"
)


@pytest.mark.parametrize(
    ("data", "first"), [(IN_MS_1, 0.001), (IN_TENTHS_1, 0.0012)], ids=["ms", "tenths"]
)
def test_version_1_stays_readable(data, first):
    tests = blocks.decode_roster(ROSTER_1)
    assert tests.tolist() == [0, 1, 2, 700, 1023]
    expected = columns(
        [0, 1, 2, 700, 1023],
        outcome=[0, 1, 2, 3, 5],
        flags=[0, 1, 4, 0, 48],
        attempts=[1, 3, 1, 1, 300],
        duration=[first, 1.5, NAN, 0.0, 0.25],
    )
    assert same(blocks.decode(data, tests), expected)
