"""The order trace: what it gives, and every line it refuses."""

from __future__ import annotations

import gzip
import io
import json
from datetime import UTC, datetime

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from formats.limits import Limits
from formats.order import read_order
from formats.outcomes import Outcome
from formats.report import OrderQuality, Reading, Rejected, Reported

LINE = {
    "v": 1,
    "test": "tests/a.py::test_a",
    "worker": "gw0",
    "pid": 4711,
    "position": 0,
    "start": 1764520000.5,
    "duration": 0.25,
    "outcome": "passed",
    "phase": "call",
}


def line(**fields: object) -> dict[str, object]:
    return {**LINE, **fields}


def encode(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(*records: object) -> Reading:
    return read_order(io.BytesIO(encode(*records)))


def refuse(raw: bytes, **limits: int) -> Rejected:
    with pytest.raises(Rejected) as caught:
        read_order(io.BytesIO(raw), limits=Limits(**limits))
    return caught.value


def test_trace_gives_results_and_order():
    reading = read(
        line(test="a.py::test_1", position=0, start=1764520000.5, duration=0.25),
        line(test="a.py::test_2", position=1, start=1764520001.0, duration=2.0,
             outcome="failed"),
        line(test="a.py::test_3", worker="gw1", pid=9, position=0, start=1764520000.0,
             outcome="xfailed", duration=0.5),
    )  # fmt: skip

    told = [(e.nodeid, e.outcome, e.process, e.position) for e in reading.elements]
    assert told == [
        ("a.py::test_1", Outcome.PASSED, "gw0:4711", 0),
        ("a.py::test_2", Outcome.FAILED, "gw0:4711", 1),
        ("a.py::test_3", Outcome.XFAILED, "gw1:9", 0),
    ]
    assert reading.order is OrderQuality.TRACED
    assert reading.reported == Reported(tests=3, passed=1, failed=1, skipped=1)
    assert reading.started_at == datetime.fromtimestamp(1764520000, UTC)
    assert reading.wall_s == 3.0
    assert reading.total_time_s == 2.75
    assert reading.notes == []


def test_repeated_lines_are_attempts():
    reading = read(
        line(outcome="rerun", position=0, duration=1.0),
        line(test="b.py::test_b", position=1),
        line(outcome="passed", position=2, duration=2.0),
    )

    first = reading.elements[0]
    assert (first.outcome, first.position, first.duration) == (Outcome.PASSED, 2, 2.0)
    told = [(attempt.outcome, attempt.duration) for attempt in first.attempts]
    assert told == [(Outcome.FAILED, 1.0)]
    assert reading.reported.tests == 2


def test_attempts_are_in_order_of_start_not_of_lines():
    reading = read(
        line(outcome="passed", start=20.0, worker="gw1", pid=2),
        line(outcome="failed", start=10.0),
    )

    assert reading.elements[0].outcome is Outcome.PASSED
    assert reading.elements[0].attempts[0].outcome is Outcome.FAILED


def test_restarted_worker_is_another_process():
    reading = read(line(pid=1), line(test="b.py::test_b", pid=2))

    assert {e.process for e in reading.elements} == {"gw0:1", "gw0:2"}


def test_position_follows_from_start_where_it_is_missing():
    late, early = line(test="a::late", start=2.0), line(test="a::early", start=1.0)
    del late["position"], early["position"]

    reading = read(late, early)

    assert [e.position for e in reading.elements] == [1, 0]


def test_two_tests_in_one_place_are_less_than_traced():
    reading = read(line(), line(test="b.py::test_b"))

    assert reading.order is OrderQuality.ASSUMED
    assert [note.code for note in reading.notes] == ["same-position"]


@pytest.mark.parametrize("phase", ["setup", "teardown"])
def test_failure_outside_the_call_is_an_error(phase):
    reading = read(line(outcome="failed", phase=phase))

    assert reading.elements[0].outcome is Outcome.ERROR


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_is_read(outcome):
    assert read(line(outcome=outcome)).elements[0].outcome is outcome


def test_unknown_keys_and_blank_lines_are_ignored():
    raw = encode(line(future={"x": 1})) + b"\n  \n" + encode(line(position=1))

    assert len(read_order(io.BytesIO(raw)).elements) == 1


BAD = {
    "no-json": b"nonsense\n",
    "list": b"[]\n",
    "number": b"1\n",
    "not-utf8": b'{"v": 1, "test": "\xff"}\n',
    "deep": b"[" * 100_000 + b"\n",
    **{
        f"without-{key}": encode({k: v for k, v in LINE.items() if k != key})
        for key in ("v", "test", "worker", "pid", "outcome")
    },
    "no-place": encode({k: v for k, v in LINE.items() if k not in ("position", "start")}),
    **{
        f"{key}={json.dumps(value)}": encode(line(**{key: value}))
        for key, value in [
            ("v", 2), ("v", "1"), ("v", True), ("v", 1.0), ("v", None),
            ("test", ""), ("test", 7), ("worker", 0), ("pid", "4711"), ("pid", -1),
            ("pid", True), ("pid", 1.5), ("position", -1), ("position", "0"),
            ("position", 2**31), ("start", "now"), ("start", True), ("start", -1),
            ("duration", "1"), ("duration", -0.1), ("outcome", "ok"), ("outcome", 1),
            ("phase", "before"), ("phase", 1),
        ]
    },
    "nan": encode(line(duration=float("nan"))),
    "infinite": encode(line(start=float("inf"))),
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_bad_line_rejects_the_file_with_its_number(bad):
    good = encode(line(test="a::1"), line(test="a::2", position=1))

    assert refuse(good + bad + encode(line(test="a::3", position=2))).line == 3
    assert refuse(good + bad).line == 3


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_torn_last_line_is_dropped_with_a_note(cut):
    whole = encode(line(test="a::1"))
    torn = encode(line(test="a::2", position=1))[: -1 - cut]

    reading = read_order(io.BytesIO(whole + torn))

    assert [e.nodeid for e in reading.elements] == ["a::1"]
    assert [(note.code, note.line) for note in reading.notes] == [("torn-line", 2)]


def test_torn_letter_is_a_torn_line():
    torn = json.dumps(line(test="\u65e5"), ensure_ascii=False).encode()[:20]

    reading = read_order(io.BytesIO(encode(line()) + torn))

    assert [note.code for note in reading.notes] == ["torn-line"]


def test_last_line_without_its_end_but_whole_counts():
    reading = read_order(io.BytesIO(encode(line())[:-1]))

    assert (len(reading.elements), reading.notes) == (1, [])


@pytest.mark.parametrize("raw", [b"", b"\n\n", b'{"v": 1, "te'])
def test_file_without_a_whole_line_is_rejected(raw):
    assert refuse(raw).message


@pytest.mark.parametrize(
    "pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gzip", "zstd"]
)
def test_compressed_trace_is_the_same(pack):
    raw = encode(line(), line(test="b.py::test_b", position=1))

    packed = read_order(io.BytesIO(pack(raw)))

    assert packed == read_order(io.BytesIO(raw))


@pytest.mark.parametrize(
    "pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"]
)
def test_cut_file_gives_what_is_whole_and_says_so(pack):
    records = [line(test=f"a::{i}-{i * 7919 % 1000}", position=i) for i in range(5_000)]
    packed = pack(encode(*records))

    reading = read_order(io.BytesIO(packed[: 2 * len(packed) // 3]))

    assert 0 < len(reading.elements) < 5_000
    assert [note.code for note in reading.notes] == ["torn-line"]


@pytest.mark.parametrize("head", [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"])
def test_damaged_compression_is_rejected(head):
    assert "damaged" in refuse(head + b"\x00garbage" * 20).message


def test_bomb_is_rejected():
    packed = gzip.compress(encode(line()) + b" " * 10_000_000)

    assert "unpacks to more" in refuse(packed, unpacked=1_000_000).message


def test_too_many_lines_are_rejected():
    assert refuse(encode(*[line(position=i) for i in range(4)]), cases=3).line == 4


def test_text_that_no_database_stores_is_replaced():
    raw = (
        encode(line(test="a::b\x00c"))
        + b'{"v":1,"test":"\\ud800","worker":"",'
        + (b'"pid":1,"position":0,"outcome":"passed"}\n')
    )

    names = [e.nodeid for e in read_order(io.BytesIO(raw)).elements]

    assert names == ["a::b\ufffdc", "\ufffd"]


RECORDS = st.lists(
    st.builds(
        line,
        test=st.sampled_from(["a.py::x", "a.py::y[1]", "b.py::T::z"]),
        worker=st.sampled_from(["", "gw0", "gw1"]),
        pid=st.integers(0, 2),
        outcome=st.sampled_from([*map(str, Outcome), "rerun"]),
        duration=st.none() | st.floats(0, 1e6),
        start=st.floats(0, 4e9),
    ),
    min_size=1,
    max_size=12,
)


@given(RECORDS)
def test_every_line_comes_out_as_one_attempt(records):
    for position, record in enumerate(records):
        record["position"] = position

    reading = read(*records)

    attempts = sum(1 + len(e.attempts) for e in reading.elements)
    assert attempts == len(records)
    assert {e.nodeid for e in reading.elements} == {r["test"] for r in records}
    for element in reading.elements:
        own = [r for r in records if r["test"] == element.nodeid]
        last = max(own, key=lambda r: (r["start"], r["position"]))
        assert element.position == last["position"]
        assert element.process == f"{last['worker']}:{last['pid']}"


def judge(raw: bytes) -> Reading | Rejected:
    try:
        return read_order(io.BytesIO(raw))
    except Rejected as verdict:
        return verdict


@given(RECORDS, st.data())
def test_mutated_bytes_are_read_or_rejected(records, data):
    raw = bytearray(encode(*records))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place] = data.draw(st.integers(0, 255))

    verdict = judge(bytes(raw))

    assert verdict.elements if isinstance(verdict, Reading) else verdict.message
