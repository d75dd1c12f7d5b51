"""What started in one part of a run, as the analysis wants it.

Guarantees: a function of the stored part alone; a test that was skipped did not start;
a retry stands right behind its first attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.history import State
from formats.outcomes import CODE, Outcome
from results.blocks import Flag

if TYPE_CHECKING:
    from results.queries.executions import PartExecutions, PartKey, RunFacts

_NOT_STARTED = -1
_STATE = np.full(256, _NOT_STARTED, np.int8)
_STATE[CODE[Outcome.PASSED]] = State.PASSED
_STATE[CODE[Outcome.FAILED]] = State.FAILED
_STATE[CODE[Outcome.ERROR]] = State.FAILED
_STATE[CODE[Outcome.XFAILED]] = State.UNOBSERVED
_STATE[CODE[Outcome.XPASSED]] = State.UNOBSERVED


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part's executions, before it is known where its commit stands."""

    key: PartKey
    facts: RunFacts
    job: str
    index: int
    attempt: int
    order: str
    size: int
    columns: dict[str, np.ndarray | None]

    @property
    def size_in_bytes(self) -> int:
        return sum(one.nbytes for one in self.columns.values() if one is not None)


def started(part: PartExecutions) -> Part:
    """Keep what started, and put each retry behind its first attempt."""
    last = _STATE[part.outcome]
    first = np.where(part.flags & Flag.HAD_FAILURE, np.int8(State.FAILED), last)
    kept = np.flatnonzero(first != _NOT_STARTED)
    again = (part.attempts[kept] > 1) & (last[kept] != _NOT_STARTED)
    rows = np.repeat(kept, 1 + again)
    second = np.zeros(len(rows), bool)
    second[1:] = rows[1:] == rows[:-1]
    before = np.zeros(len(part.tests) + 1, np.int64)
    before[1:] = np.cumsum(np.bincount(rows, minlength=len(part.tests)))
    states = np.where(second, last[rows], first[rows]).astype(np.int8)
    columns: dict[str, np.ndarray | None] = {
        "tests": part.tests[rows],
        "states": states,
        "offsets": before[part.offsets].astype(np.int32),
        "attempts": (1 + second).astype(np.int8) if second.any() else None,
        "starts": None if part.starts is None else part.starts[rows],
        "stops": None if part.stops is None else part.stops[rows],
    }
    return Part(
        part.key,
        part.run,
        part.job,
        part.index,
        part.attempt,
        part.order,
        len(part.tests),
        columns,
    )
