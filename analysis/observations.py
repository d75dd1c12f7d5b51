"""One observation = one first attempt of a test in one process of one run.

Guarantees: bad days, reruns and hand-made subsets are left out; a run that
stopped before the test holds no observation of it; a run without a known order
gives outcomes and no order evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.history import Bools, Bytes, History, Ints, Run, State

ABSENT = -1


@dataclass(frozen=True, eq=False)
class Observations:
    """Observations of T wanted tests in R runs, aligned with the history's runs.

    tests   (T,) int32    the wanted test numbers
    place   (T, R) int32  index of the first attempt in the run's arrays, -1 = none
    failed  (T, R) int8   1 failed, 0 passed, -1 no observation
    first   (T, R) int32  index of the first execution of the same process
    """

    tests: Ints
    place: Ints
    failed: Bytes
    first: Ints

    def seen(self, row: int) -> NDArray[np.intp]:
        """(n,) indices of the runs in which this row was observed."""
        return np.flatnonzero(self.failed[row] >= 0)


def observe(history: History, tests: Ints) -> Observations:
    """Find every wanted test in every run; one pass over each run for all tests."""
    shape = (len(tests), len(history.runs))
    place = np.full(shape, ABSENT, dtype=np.int32)
    failed = np.full(shape, ABSENT, dtype=np.int8)
    first = np.zeros(shape, dtype=np.int32)
    row_of = np.full(history.n_tests, ABSENT, dtype=np.int32)
    row_of[tests] = np.arange(len(tests), dtype=np.int32)
    wanted = row_of >= 0
    for column, run in enumerate(history.runs):
        if not usable(run):
            continue
        # Backwards, so that the earliest execution of a repeated test stays.
        at = np.flatnonzero(wanted[run.tests])[::-1].astype(np.int32)
        place[row_of[run.tests[at]], column] = at
        rows = np.flatnonzero(place[:, column] >= 0)
        at = place[rows, column]
        states = run.states[at]
        failed[rows, column] = np.where(states == State.UNOBSERVED, ABSENT, states)
        process = np.searchsorted(run.offsets, at, side="right") - 1
        first[rows, column] = run.offsets[process]
    return Observations(tests=tests, place=place, failed=failed, first=first)


def usable(run: Run) -> bool:
    """A whole run on a day that was not bad."""
    return run.whole and not run.bad_day


def mixed(history: History) -> Ints:
    """(k,) the tests with both outcomes among their first attempts.

    Only these can say anything about order, so only these are judged.
    """
    passed = np.zeros(history.n_tests, dtype=bool)
    failed = np.zeros(history.n_tests, dtype=bool)
    for run in history.runs:
        if usable(run):
            first = _firsts(run)
            passed[run.tests[first & (run.states == State.PASSED)]] = True
            failed[run.tests[first & (run.states == State.FAILED)]] = True
    return np.flatnonzero(passed & failed).astype(np.int32)


def _firsts(run: Run) -> Bools:
    if run.attempts is None:
        return np.ones(len(run.tests), dtype=bool)
    return np.asarray(run.attempts == 1, dtype=bool)
