"""The lines of a ledger: what is taken, dropped, or rejects the whole of it."""

from __future__ import annotations

import io
import json

import pytest

from formats.effects.lines import read_objects
from formats.report import Note, Rejected
from tests.effect_ledgers import (
    changed,
    claim,
    encode,
    file,
    obligation,
    observation,
    outcome,
    read,
    refuse,
)

A = file("a.txt")
CLAIM = claim(1, [A], obligations=[obligation(A)], dependencies=[file("b.txt")])
OUTCOME = outcome("e1", 2)
LOOK = observation(A, 3)
GOOD = encode(CLAIM, OUTCOME, LOOK)


def test_records_are_read_as_written():
    ledger = read(GOOD)

    (told,) = ledger.claims
    assert (told.effect_id, told.sequence, told.line) == ("e1", 1, 1)
    assert told.operation.tool == "editor"
    assert told.impact_scope[0].location == ("filesystem", "home", "a.txt")
    assert told.obligations[0].target is told.impact_scope[0]
    assert told.dependencies[0].location[-1] == "b.txt"
    (ended,) = ledger.outcomes
    assert (ended.execution, ended.impact) == ("reported_success", "changed")
    assert (ended.facts.exit_code, ended.facts.mutation_attempted) == (None, True)
    (look,) = ledger.observations
    assert (look.mechanism, look.exists, look.line) == ("filesystem_read", True, 3)
    assert ledger.notes == ()


@pytest.mark.parametrize("raw", [b"", GOOD, GOOD.replace(b"\n", b"\r\n")])
def test_whole_lines_make_no_note(raw: bytes):
    ledger = read(raw)
    assert ledger.notes == ()
    assert len(ledger.claims) == (1 if raw else 0)


@pytest.mark.parametrize(
    "torn",
    [b"{", b"\xff\xfe", b"   ", encode(claim(9))[:-1], b'{"v": 2}', b"\xef\xbb\xbf"],
)
def test_what_follows_the_last_line_feed_is_dropped(torn: bytes):
    ledger = read(GOOD + torn)
    assert len(ledger.claims) == 1
    ((code, line),) = [(note.code, note.line) for note in ledger.notes]
    assert (code, line) == ("torn-line", 4)


def test_torn_line_alone_leaves_an_empty_ledger():
    ledger = read(GOOD.splitlines()[0], run_ended=True)
    assert (ledger.claims, ledger.outcomes) == ((), ())
    assert ledger.notes[0].line == 1


def test_long_torn_line_is_dropped_too():
    notes: list[Note] = []
    stream = io.BytesIO(GOOD + b"x" * 5_000)
    assert len(list(read_objects(stream, notes=notes, most=2_000))) == 3
    assert [note.line for note in notes] == [4]


def test_overlong_line_is_refused():
    stream = io.BytesIO(GOOD + b" " * 5_000 + b"\n" + GOOD)
    with pytest.raises(Rejected, match="2,000 bytes") as caught:
        list(read_objects(stream, notes=[], most=2_000))
    assert caught.value.line == 4


def test_claims_are_read_in_file_order_whatever_their_sequences():
    ledger = read(encode(claim(7), claim(3), claim(5)))
    assert [c.sequence for c in ledger.claims] == [7, 3, 5]


@pytest.mark.parametrize("sequence", [0, 2**63, 10**30, 10**1000 - 1])
def test_large_sequences_are_integers_too(sequence: int):
    (told,) = read(encode(claim(sequence, effect_id="e"))).claims
    assert told.sequence == sequence


BAD_LINES = {
    "blank": b"\n",
    "blank with CRLF": b"\r\n",
    "only spaces": b"  \t\n",
    "byte order mark": b"\xef\xbb\xbf" + encode(claim(9)),
    "invalid UTF-8": encode(claim(9)).replace(b"editor", b"\xff"),
    "surrogate in UTF-8": encode(claim(9)).replace(b"editor", b"\xed\xa0\x80"),
    "UTF-16": json.dumps(claim(9)).encode("utf-16-le") + b"\n",
    "compressed": b"\x1f\x8b\x08\x00\n",
    "no JSON": b"claim\n",
    "cut off": encode(claim(9))[:-9] + b"\n",
    "two objects": encode(claim(9)).strip() + encode(claim(10)),
    "a list": b"[" + encode(claim(9)).strip() + b"]\n",
    "null": b"null\n",
    "NaN": encode(changed(OUTCOME, "record.facts.exit_code", float("nan"))),
    "Infinity": encode(changed(OUTCOME, "record.facts.exit_code", float("inf"))),
    "minus Infinity": encode(changed(OUTCOME, "record.facts.exit_code", -1e999)),
    "trailing comma": encode(claim(9)).replace(b"}}\n", b"},}\n"),
    "single quotes": encode(claim(9)).replace(b'"', b"'"),
    "raw control character": encode(claim(9)).replace(b"editor", b"ed\titor"),
    "raw NUL": encode(claim(9)).replace(b"editor", b"ed\x00itor"),
    "nested lists": b"[" * 200_000 + b"\n",
    "nested objects": b'{"v":' * 200_000 + b"\n",
    "nested in a record": b'{"v":1,"type":"claim","record":'
    + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    "too many digits": encode(claim(9)).replace(b'"sequence": 9', b'"sequence": '
                                               + b"9" * 5_000),
    "leading zero": encode(claim(9)).replace(b'"sequence": 9', b'"sequence": 09'),
    "v twice": encode(claim(9)).replace(b'{"v": 1', b'{"v": 1, "v": 1'),
    "a key twice inside": encode(claim(9)).replace(b'"tool"', b'"action": "", "tool"'),
    "a key twice, escaped": encode(claim(9)).replace(b'"tool"',
                                                     b'"t\\u006fol": "x", "tool"'),
}  # fmt: skip


@pytest.mark.parametrize("raw", BAD_LINES.values(), ids=BAD_LINES)
def test_malformed_lines_reject_the_ledger(raw: bytes):
    assert refuse(GOOD + raw + encode(claim(20))).line == 4
    assert refuse(raw + GOOD).line == 1


def test_repeated_key_is_named():
    assert "'v' stands twice" in refuse(BAD_LINES["v twice"]).message


def test_first_offending_line_counts():
    assert refuse(GOOD + b"\n" + b"{\n").line == 4
    assert refuse(encode(CLAIM, CLAIM) + b"\n").line == 2
