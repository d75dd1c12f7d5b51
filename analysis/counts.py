"""How often, and how far, each test ran before a given one: the sums of evidence.

Guarantees: counts are plain sums over observations in bins of distance that do not
depend on the data, so adding one run is an addition and the order of runs is
irrelevant. Distance d = tests started between the last run of L and V, plus one
(d = 1: directly before).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.history import Floats, History, Ints
from analysis.observations import Observations

_EXACT = 8  # distances up to here have a bin each
_RATIO = 2.0  # then each bin is this much wider than the last
_LONGEST = 1 << 20


def _edges() -> Ints:
    edges = list(range(1, _EXACT + 2))
    while edges[-1] < _LONGEST:
        edges.append(int(np.ceil(edges[-1] * _RATIO)))
    return np.array(edges, dtype=np.int32)


EDGES = _edges()  # bin b holds EDGES[b] <= d < EDGES[b + 1]


def bins_for(longest: int) -> int:
    """How many bins hold every distance up to `longest`."""
    return int(np.searchsorted(EDGES, max(longest, 1), side="right"))


def bin_of(longest: int) -> Ints:
    """(longest + 1,) the bin of each distance; index 0 is unused."""
    distances = np.arange(longest + 1)
    found = np.searchsorted(EDGES, np.maximum(distances, 1), side="right") - 1
    return found.astype(np.int32)


def centre_of(bins: int) -> Floats:
    """(bins,) the distance that stands for each bin: the mean of its integers."""
    return (EDGES[:bins] + EDGES[1 : bins + 1] - 1) / 2.0


type Keys = NDArray[np.intp]
type Floats32 = np.ndarray[tuple[int, int], np.dtype[np.float32]]


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each candidate ran before one test, by distance and outcome.

    failed, passed  (bins, n_tests) float32 observations with the candidate before
    n_failed, n_passed  all observations with a known order
    before   (n,) how many tests ran before the test, per observation
    """

    failed: Floats32
    passed: Floats32
    n_failed: int
    n_passed: int
    before: Ints


def count(
    history: History, observations: Observations, row: int, *, traced: bool = False
) -> Counts:
    """Count every candidate before the test of one row of the observations.

    traced: only runs whose order was recorded, not those where it is assumed.
    """
    columns = ordered_columns(history, observations, row, traced=traced)
    stops, starts = observations.place[row, columns], observations.first[row, columns]
    longest = int((stops - starts).max(initial=0))
    bins = bins_for(longest)
    shelves = bin_of(longest)[::-1].astype(np.intp) * history.n_tests
    keys: tuple[list[Keys], list[Keys]] = ([], [])
    failed = observations.failed[row, columns]
    spans = zip(columns, starts.tolist(), stops.tolist(), failed.tolist(), strict=True)
    for column, start, stop, outcome in spans:
        run = history.runs[column]
        found = run.tests[start:stop] + shelves[longest - stop + start : longest]
        if run.repeats:
            found = found[_last_runs(run.tests[start:stop])]
        keys[outcome].append(found)
    passed, failing = (_sum(part, history.n_tests, bins) for part in keys)
    own = observations.tests[row]
    passed[:, own] = failing[:, own] = 0
    return Counts(
        failed=failing,
        passed=passed,
        n_failed=len(keys[1]),
        n_passed=len(keys[0]),
        before=(stops - starts).astype(np.int32),
    )


def ordered_columns(
    history: History, observations: Observations, row: int, *, traced: bool = False
) -> list[int]:
    """Runs that observed the test and know their order."""
    return [
        column
        for column in observations.seen(row).tolist()
        if history.runs[column].ordered and (history.runs[column].traced or not traced)
    ]


def _last_runs(tests: Ints) -> NDArray[np.intp]:
    """Indices of the last execution of each test, for runs that repeat tests."""
    _, backwards = np.unique(tests[::-1], return_index=True)
    return np.asarray(len(tests) - 1 - backwards, dtype=np.intp)


def _sum(keys: list[Keys], n_tests: int, bins: int) -> Floats32:
    joined = np.concatenate(keys) if keys else np.zeros(0, dtype=np.intp)
    summed = np.bincount(joined, minlength=n_tests * bins)
    return summed.reshape(bins, n_tests).astype(np.float32)
