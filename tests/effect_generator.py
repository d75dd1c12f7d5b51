"""Well-formed effect ledgers by chance, dense enough to reach every rule."""

from __future__ import annotations

import random

from tests.effect_ledgers import (
    DIGEST,
    OTHER,
    READS,
    Fields,
    claim,
    obligation,
    observation,
    outcome,
    ref,
)

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
