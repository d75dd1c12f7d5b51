"""Whatever the bytes: a ledger that can be judged, or a rejection with its line."""

from __future__ import annotations

import io
import json
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from formats.effects.findings import findings
from formats.effects.judging import judge
from formats.effects.ledger import read_ledger
from formats.report import Rejected
from tests.effect_generator import generate
from tests.effect_ledgers import DIGEST, Fields, encode
from tests.effect_reference import Reference

SEEDS = st.integers(0, 2**32 - 1)
PIECES = [
    b"\n", b"\r", b"\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]",
    b'"', b"\\", b"\\u0000", b"\\ud800", b",", b":", b"1", b"-", b"1.0", b"NaN",
    b"null", b"true", b" ", b"claim", b"*", b".", b"[" * 5_000,
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 10**30, "", "x", "a\nb", "\ud800", "*", ".",
    DIGEST, [], {}, ["filesystem", "home", "src"], "not_executed", "running", "none",
]  # fmt: skip


def check(raw: bytes, *, run_ended: bool) -> bool:
    """Whether it was taken; fails when it is neither judged nor rejected well."""
    rejected: Rejected | None = None
    try:
        ledger = read_ledger(io.BytesIO(raw), run_ended=run_ended)
    except Rejected as error:
        rejected = error
    if rejected:
        assert rejected.line in range(1, raw.count(b"\n") + 1)
        assert 0 < len(rejected.message.encode()) < 500
        return False
    judged = judge(ledger)
    for finding in findings(judged):
        (finding.title + finding.detail).encode()
    assert len(judged) == len(ledger.claims)
    return True


@settings(max_examples=300)
@given(raw=st.binary(max_size=300), run_ended=st.booleans())
def test_any_bytes(raw: bytes, run_ended: bool):
    check(raw, run_ended=run_ended)
    check(raw + b"\n", run_ended=run_ended)


@settings(max_examples=300)
@given(seed=SEEDS, run_ended=st.booleans())
def test_damaged_bytes(seed: int, run_ended: bool):
    rng = random.Random(seed)
    raw = encode(*generate(rng, 4))
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(raw) + 1)
        taken = rng.choice((0, 0, 1, 2, 50))
        raw = raw[:place] + rng.choice((b"", *PIECES)) + raw[place + taken :]
    check(raw, run_ended=run_ended)


def _nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every container with each of its keys."""
    keys = value if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    for inner, key in list(found):
        if isinstance(inner[key], dict | list):
            found += _nodes(inner[key])
    return found


def _damage(rng: random.Random, lines: list[Fields]) -> None:
    container, key = rng.choice(_nodes(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del container[key]
    elif kind == 1 and isinstance(container, dict):
        container["more"] = rng.choice(VALUES)
    elif kind == 2 and isinstance(container, list):
        container.append(container[key])
    else:
        other, other_key = rng.choice(_nodes(lines))
        container[key] = rng.choice((*VALUES, json.loads(json.dumps(other[other_key]))))


@settings(max_examples=600)
@given(seed=SEEDS, run_ended=st.booleans())
def test_damaged_structure(seed: int, run_ended: bool):
    """What is still taken is well formed, so that the restatement can judge it too."""
    rng = random.Random(seed)
    lines = json.loads(json.dumps(generate(rng, 4)))
    for _ in range(rng.choice((1, 1, 2))):
        if lines:
            _damage(rng, lines)
    raw = encode(*lines)
    if check(raw, run_ended=run_ended):
        reference = Reference(lines, run_ended=run_ended)
        expected = {c["effect_id"]: reference.expect(c) for c in reference.claims}
        judged = judge(read_ledger(io.BytesIO(raw), run_ended=run_ended))
        assert {j.effect_id: j.verdict for j in judged} == {
            effect_id: told.verdict for effect_id, told in expected.items()
        }


@settings(max_examples=100)
@given(seed=SEEDS)
def test_cut_anywhere(seed: int):
    """A prefix of a good ledger is a good ledger."""
    rng = random.Random(seed)
    raw = encode(*generate(rng, 4))
    assert check(raw[: rng.randrange(len(raw) + 1)], run_ended=rng.random() < 0.5)
