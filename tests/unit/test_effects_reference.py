"""The judge agrees with a slow restatement of the rules on generated ledgers."""

from __future__ import annotations

import io
import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from formats.effects.findings import findings
from formats.effects.forest import plant
from formats.effects.judging import judge
from formats.effects.ledger import read_ledger
from tests.effect_generator import RESOURCES, generate
from tests.effect_ledgers import (
    Fields,
    encode,
    file,
    ref,
)
from tests.effect_reference import Expected, Reference, overlap

if TYPE_CHECKING:
    from formats.effects.judgement import Judged


def told(effect: Judged, severities: dict[str, str]) -> Expected:
    return Expected(
        effect.execution,
        effect.impact,
        effect.verdict,
        effect.cleanup,
        effect.unresolved_impact,
        effect.disclosure,
        effect.superseded,
        severities.get(effect.effect_id, ""),
        tuple(check.freshness for check in effect.obligations),
    )


def compare(lines: list[Fields], *, run_ended: bool) -> list[Expected]:
    reference = Reference(lines, run_ended=run_ended)
    expected = {c["effect_id"]: reference.expect(c) for c in reference.claims}
    ledger = read_ledger(io.BytesIO(encode(*lines)), run_ended=run_ended)
    judged = judge(ledger)
    severities = {f.effect_id: str(f.severity) for f in findings(judged)}

    assert {j.effect_id: told(j, severities) for j in judged} == expected
    assert [j.sequence for j in judged] == sorted(j.sequence for j in judged)
    return list(expected.values())


@settings(max_examples=600)
@given(
    effects=st.integers(0, 9),
    seed=st.integers(0, 2**32 - 1),
    run_ended=st.booleans(),
)
@example(effects=60, seed=1, run_ended=True)
@example(effects=60, seed=2, run_ended=False)
def test_judge_agrees_with_the_reference(effects: int, seed: int, run_ended: bool):
    compare(generate(random.Random(seed), effects), run_ended=run_ended)


def test_generated_ledgers_reach_every_rule():
    """Else the agreement above would say little."""
    seen: Counter[object] = Counter()
    for seed in range(500):
        lines = generate(random.Random(seed), 6)
        for expected in compare(lines, run_ended=seed % 2 == 0):
            seen[expected.verdict] += 1
            seen[expected.severity] += 1
            seen[expected.disclosure] += 1
            seen[expected.superseded] += 1
            seen[expected.execution] += 1
            seen.update(expected.freshness)
    wanted = ["verified", "contradicted", "failed", "state_observed", "unverified",
              "pending", "not_executed", "stale", "unsettled", "fresh", None, "P1",
              "P2", "P3", "", "unknown outcome", "reported failure", "running",
              "reported success but not independently verified", "attempted",
              "interrupted", True, False]  # fmt: skip
    assert {key: seen[key] for key in wanted if seen[key] < 15} == {}


@pytest.mark.parametrize("one", RESOURCES, ids="/".join)
def test_places_overlap_as_the_references_do(one: tuple[str, ...]):
    forest = plant(RESOURCES)
    place = forest.places[one]
    above = {place}
    while place:
        above.add(place := forest.parents[place])
    for other in RESOURCES:
        there = forest.places[other]
        below = forest.places[one] <= there < forest.ends[forest.places[one]]
        expected = overlap(ref(*one), ref(*other))
        assert (below or (there in above and there != 0)) == expected, other


@given(
    paths=st.lists(
        st.text(alphabet="ab./*\x01\u00e9\U0001f600 ", max_size=8).filter(
            lambda path: not path.startswith("//")
        ),
        min_size=2,
        max_size=12,
    )
)
def test_paths_overlap_as_the_library_says(paths: list[str]):
    locations = [("filesystem", "home", path) for path in paths]
    forest = plant(locations)
    for one in locations:
        start, end = forest.places[one], forest.ends[forest.places[one]]
        for other in locations:
            there = forest.places[other]
            is_above = there <= start < forest.ends[there]
            expected = overlap(file(one[-1]), file(other[-1]))
            assert (start <= there < end or is_above) == expected, (one, other)
