"""What the records of a ledger must say together, and what the end of a run adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from formats.effects.records import Cleanup, Execution, Impact
from tests.effect_ledgers import (
    claim,
    encode,
    file,
    obligation,
    observation,
    outcome,
    read,
    refuse,
)

if TYPE_CHECKING:
    from collections.abc import Callable

A = file("a.txt")
CLAIM = claim(1, [A], obligations=[obligation(A)], dependencies=[file("b.txt")])
OUTCOME = outcome("e1", 2)
LOOK = observation(A, 3)


INCONSISTENT: dict[str, tuple[Callable[[], bytes], int]] = {
    "sequence of two claims": (lambda: encode(claim(1), claim(1, effect_id="x")), 2),
    "sequence of claim and look": (lambda: encode(claim(1), observation(A, 1)), 2),
    "sequence of claim and outcome": (lambda: encode(CLAIM, outcome("e1", 1)), 2),
    "effect claimed twice": (lambda: encode(claim(1), claim(2, effect_id="e1")), 2),
    "outcome of nothing": (lambda: encode(CLAIM, outcome("e2", 2)), 2),
    "outcome before its claim in the file": (lambda: encode(OUTCOME, CLAIM), 1),
    "outcome before its claim by sequence": (
        lambda: encode(claim(5, effect_id="e1"), outcome("e1", 4)),
        2,
    ),
    "outcomes fall": (
        lambda: encode(CLAIM, outcome("e1", 5, "running"), outcome("e1", 4)),
        3,
    ),
    "outcome after the settled one": (
        lambda: encode(CLAIM, outcome("e1", 2), LOOK, outcome("e1", 4, "running")),
        4,
    ),
    "settled twice": (
        lambda: encode(CLAIM, outcome("e1", 2, "not_executed"), outcome("e1", 4)),
        3,
    ),
}


@pytest.mark.parametrize(("make", "line"), INCONSISTENT.values(), ids=INCONSISTENT)
def test_inconsistency_is_charged_to_the_line_that_completes_it(
    make: Callable[[], bytes], line: int
):
    assert refuse(make()).line == line
    assert refuse(make() + b"\n").line == line


def test_observation_ids_may_repeat_and_runs_may_differ():
    ledger = read(
        encode(
            claim(1, run_id="one"),
            claim(2, run_id="two"),
            observation(A, 3, observation_id="o"),
            observation(A, 4, observation_id="o", mechanism="remote_readback"),
        )
    )
    assert [c.run_id for c in ledger.claims] == ["one", "two"]
    assert [o.observation_id for o in ledger.observations] == ["o", "o"]


def test_end_of_the_run_interrupts_what_has_no_outcome():
    raw = encode(
        claim(50), claim(40), claim(3), outcome("e3", 4, "running"), claim(5),
        outcome("e5", 6), observation(A, 70),
    )  # fmt: skip
    assert len(read(raw).outcomes) == 2
    added = read(raw, run_ended=True).outcomes[2:]
    assert [(o.effect_id, o.sequence) for o in added] == [("e40", 71), ("e50", 72)]
    for ended in added:
        assert ended.replayed
        assert ended.execution is Execution.INTERRUPTED
        assert ended.impact is Impact.POSSIBLE
        assert ended.cleanup is Cleanup.NOT_APPLICABLE
        assert ended.line == 0
