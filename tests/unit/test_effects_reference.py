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
from tests.effect_ledgers import (
    DIGEST,
    OTHER,
    READS,
    Fields,
    claim,
    encode,
    file,
    obligation,
    observation,
    outcome,
    ref,
)
from tests.effect_reference import Expected, Reference, overlap

if TYPE_CHECKING:
    from formats.effects.judgement import Judged

PATHS = ("src", "src2", "src/a", "src/a/b", "./src//a/", ".", "", "..", "../src", "/",
         "/src", "/src/a", "src/../src2", "a b", "src\u00e9")  # fmt: skip
RESOURCES = [
    *((("filesystem", "home", path)) for path in PATHS),
    ("filesystem", "other", "src"),
    ("filesystem", "src"),
    *((("owned", "notes", item)) for item in ("1", "2", "*", "")),
    ("owned", "tasks", "1"),
    ("owned", "*"),
    ("external", "mail", "a"),
    ("external", "mail", "a", "b"),
    ("external", "mail", "*"),
    ("process", "host", "12"),
    ("browser_session", "*"),
]
EXECUTIONS = (*["reported_success"] * 4, "failed", "timed_out", "cancelled", "interrupted",
              "not_executed")  # fmt: skip
MECHANISMS = (*READS.values(), "execution_receipt", "remote_acknowledgement",
              "job_state")  # fmt: skip


_PREDICATES = ("exists", "absent", "content_sha256", "content_changed")


def generate(rng: random.Random, effects: int) -> list[Fields]:
    """A well-formed ledger; the order in the file is another than by sequence."""
    pool = rng.sample(RESOURCES, k=rng.randint(1, 9))
    sizes = rng.choice(((1, 1, 1, 2, 3), (0, 1, 1, 1, 1, 2, 3)))
    chains = [_chain(rng, f"e{n}", pool, sizes) for n in range(effects)]
    chains += [[_look(rng, pool)] for _ in range(rng.randint(0, 2 * effects))]
    step = rng.randint(1, 3)
    for sequence, line in enumerate(_merged(rng, chains)):
        line["record"]["sequence"] = sequence * step
    return _merged(rng, chains)


def _merged(rng: random.Random, chains: list[list[Fields]]) -> list[Fields]:
    """One of the orders in which each chain keeps its own, more or less entangled."""
    spread = rng.choice((0.0, 1.0, 2.0, len(chains)))
    turns = [
        (index + rng.random() * spread, index)
        for index, chain in enumerate(chains)
        for _ in chain
    ]
    rest = [iter(chain) for chain in chains]
    return [next(rest[turn]) for _, turn in sorted(turns)]


def _chain(
    rng: random.Random,
    effect_id: str,
    pool: list[tuple[str, ...]],
    sizes: tuple[int, ...],  # of the scope; 0: not known
) -> list[Fields]:
    scope = [_ref(rng, pool) for _ in range(rng.choice(sizes))]
    fit = [r for r in scope if r["kind"] in READS]
    duties = [_duty(rng, rng.choice(fit)) for _ in range(rng.randint(0, 2)) if fit]
    lines = [
        claim(
            0,
            scope,
            effect_id=effect_id,
            obligations=duties,
            external=rng.random() < 0.5,
        )
    ]
    ends = rng.choice(((), ("running",), *[EXECUTIONS] * 4))
    told = ["running"] * rng.choice((0, 0, 1, 2))
    told += [rng.choice(ends)] if ends else []
    for execution in told:
        fields = {"cleanup": rng.choice(("not_applicable", "failed", "unknown"))}
        if execution != "not_executed":
            fields["impact"] = rng.choice(("possible", "changed"))
        lines.append(outcome(effect_id, 0, execution, **fields))
    if fit and rng.random() < 0.7:
        lines.append(_look(rng, [tuple(rng.choice(fit)["location"])]))
    return lines


def _ref(rng: random.Random, pool: list[tuple[str, ...]]) -> Fields:
    return ref(*rng.choice(pool), incarnation=rng.choice(("first", "first", "second")))


def _duty(rng: random.Random, target: Fields) -> Fields:
    predicate = rng.choice(("exists", *_PREDICATES))
    return obligation(target, predicate, DIGEST if "content" in predicate else "")


def _look(rng: random.Random, pool: list[tuple[str, ...]]) -> Fields:
    resource = _ref(rng, pool)
    if rng.random() < 0.8:
        resource["incarnation"] = "first"
    exists = rng.choice((True, True, True, False, None))
    fields: Fields = {
        "exists": exists,
        "coverage": rng.choice(("complete", "complete", "partial")),
        "content_sha256": rng.choice((DIGEST, OTHER, "")) if exists else "",
    }
    if rng.random() < 0.25:
        fields["mechanism"] = rng.choice(MECHANISMS)
    return observation(resource, 0, **fields)


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
