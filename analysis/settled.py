"""Up to where a test's observations count, so that most runs change no judgement.

Guarantees: a function of the observations alone, so judging run by run and judging
once at the end agree. Every failure counts, and the pass right after the last one;
of the passes since, those that make the number of observations a quarter larger.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.observations import ABSENT, Observations

GROWTH = 1.25


def settled(observations: Observations) -> Observations:
    """Leave out the passes that came since a test was last worth judging."""
    place, failed = observations.place.copy(), observations.failed.copy()
    for row in range(len(observations.tests)):
        seen = observations.seen(row)
        late = seen[counted(observations.failed[row, seen] == 1) :]
        failed[row, late] = ABSENT
        place[row, late] = ABSENT
    return replace(observations, place=place, failed=failed)


def counted(outcomes: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    """How many of a test's outcomes (True = failed), in order, count."""
    failures = np.flatnonzero(outcomes)
    last = int(failures[-1]) + 2 if len(failures) else 0
    return max(min(last, len(outcomes)), _step(len(outcomes)))


def _step(count: int) -> int:
    """The largest step of 1, 2 … 8, 10, 12, 15 … that is not above `count`."""
    step = 0
    while (following := max(step + 1, int(step * GROWTH))) <= count:
        step = following
    return step
