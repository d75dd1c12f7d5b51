"""The recorded ledgers beside the contract, each with its judgement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from formats.effects.judging import judge
from formats.effects.ledger import read_ledger
from formats.report import Rejected
from tests.effect_reference import Reference

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples" / "effects"
FIELDS = ("execution", "impact", "verdict", "cleanup", "unresolved_impact")


@pytest.fixture(scope="module")
def samples() -> list[Path]:
    found = sorted(SAMPLES.glob("*.jsonl"))
    if not found:
        pytest.skip("no shared samples beside this clone")
    return found


def expectation(sample: Path) -> dict[str, object]:
    told: dict[str, object] = json.loads(
        sample.with_suffix(".expected.json").read_text()
    )
    return told


def tell(sample: Path) -> dict[str, object]:
    """What we make of a sample, in the words of its expectation."""
    ended = bool(expectation(sample)["ended"])
    told: dict[str, object] = {"ended": ended, "rejected": False}
    try:
        with sample.open("rb") as stream:
            ledger = read_ledger(stream, run_ended=ended)
    except Rejected as rejected:
        return {**told, "rejected": True, "line": rejected.line}
    effects = {
        effect.effect_id: {name: getattr(effect, name) for name in FIELDS}
        for effect in judge(ledger)
    }
    return {**told, "torn": bool(ledger.notes), "effects": effects}


def test_every_sample_is_judged_as_recorded(samples: list[Path]):
    expected = {sample.name: expectation(sample) for sample in samples}
    for told in expected.values():
        told.pop("why", None)  # informative
    assert {sample.name: tell(sample) for sample in samples} == expected


def test_restatement_judges_the_samples_as_recorded(samples: list[Path]):
    """What the judge is compared with on generated ledgers is right on these."""
    for sample in samples:
        expected = expectation(sample)
        if expected["rejected"]:
            continue
        whole = sample.read_bytes().rpartition(b"\n")[0]
        lines = [json.loads(line) for line in whole.splitlines()]
        reference = Reference(lines, run_ended=bool(expected["ended"]))
        told = {}
        for claim in reference.claims:
            judged = reference.expect(claim)
            told[claim["effect_id"]] = {name: getattr(judged, name) for name in FIELDS}
        assert told == expected["effects"], sample.name
