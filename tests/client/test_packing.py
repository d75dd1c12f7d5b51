"""Shards: each file in exactly one, the same everywhere, none much too long."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthboard_client.durations import by_file, from_file
from healthboard_client.exits import Misuse
from healthboard_client.packing import pack

NAMES = st.lists(st.text("abc/_.", min_size=1, max_size=6), max_size=60)
SECONDS = st.floats(0, 1000)
DURATIONS = st.dictionaries(st.text("abc/_.", min_size=1, max_size=6), SECONDS)


@given(NAMES, DURATIONS, st.integers(1, 12))
def test_the_shards_are_the_suite_exactly_once(files, durations, count):
    plan = pack(files, durations, count=count)
    dealt = [name for shard in plan.shards for name in shard]
    assert sorted(dealt) == sorted(set(files))
    assert len(plan.shards) == count


@given(NAMES, DURATIONS, st.integers(1, 12), st.randoms())
def test_the_order_of_the_files_does_not_matter(files, durations, count, random):
    mixed = [*files, *files]
    random.shuffle(mixed)
    assert pack(mixed, durations, count=count) == pack(files, durations, count=count)


def _best(seconds, count):
    """The longest shard of the best of all plans."""
    return min(
        max(
            sum(s for s, at in zip(seconds, places, strict=True) if at == shard)
            for shard in range(count)
        )
        for places in product(range(count), repeat=len(seconds))
    )


@given(st.lists(SECONDS, min_size=1, max_size=6), st.integers(1, 3))
def test_the_longest_is_within_a_third_of_the_best_of_all_plans(seconds, count):
    durations = {f"t{n}": each for n, each in enumerate(seconds)}
    plan = pack(durations, durations, count=count)
    bound = (4 / 3 - 1 / (3 * count)) * _best(seconds, count)
    assert plan.ideal - 1e-6 <= plan.longest <= bound + 1e-6


def test_the_heaviest_are_dealt_first():
    plan = pack("abcdef", {"a": 6, "b": 5, "c": 4, "d": 3, "e": 2, "f": 1}, count=3)
    # 6, 5, 4; then 3 to the third, 2 to the second, 1 to the first: all 7.
    assert plan.shards == (("a", "f"), ("b", "e"), ("c", "d"))
    assert plan.seconds == (7, 7, 7)
    assert (plan.longest, plan.ideal, plan.unknown) == (7, 7, 0)


def test_unknown_files_count_as_the_median():
    plan = pack("abcx", {"a": 1, "b": 10, "c": 4}, count=2)
    # b 10 | c 4, x 4, a 1
    assert plan.shards == (("b",), ("a", "c", "x"))
    assert plan.seconds == (10, 9)
    assert plan.unknown == 1


def test_files_that_take_no_time_are_spread():
    plan = pack("abcd", dict.fromkeys("abcd", 0.0), count=2)
    assert [len(shard) for shard in plan.shards] == [2, 2]


def test_more_shards_than_files_leave_some_empty():
    assert pack(["a"], {}, count=3).shards == (("a",), (), ())


def test_durations_add_up_by_file():
    pairs = [("./t/a.py::x", 1.0), ("t/a.py::y", 2.0), ("t\\b.py", 3.0)]
    bad = [("t/a.py::z", float("nan")), ("t/a.py::z", -5.0), ("n", float("inf"))]
    assert by_file([*pairs, *bad]) == {"t/a.py": 3.0, "t/b.py": 3.0}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"t/a.py": 3, "t/b.py": 1}),
        json.dumps({"t/a.py::x": 1, "t/a.py::y": 2, "t/b.py::z": 1.0}),
        '{"test": "t/a.py::x", "duration": 3}\n\n{"test": "t/b.py::z", "duration": 1}\n',
    ],
)
def test_files_of_durations(tmp_path, text):
    (tmp_path / "d").write_text(text)
    assert from_file(str(tmp_path / "d")) == {"t/a.py": 3.0, "t/b.py": 1.0}


def test_an_order_trace_of_one_line(tmp_path):
    (tmp_path / "d").write_text('{"test": "t/a.py::x", "duration": 3}')
    assert from_file(str(tmp_path / "d")) == {"t/a.py": 3.0}


@pytest.mark.parametrize(
    "text", ["", "[1, 2]", "nonsense", '{"a": "b"}', '{"a": null}']
)
def test_durations_that_cannot_be_read_are_refused(tmp_path, text):
    (tmp_path / "d").write_text(text)
    with pytest.raises(Misuse, match="neither JSON of seconds"):
        from_file(str(tmp_path / "d"))


def test_a_file_of_durations_that_is_not_there(tmp_path):
    with pytest.raises(Misuse, match="No such file"):
        from_file(str(tmp_path / "d"))
