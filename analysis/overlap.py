"""Two further spectra: what ran elsewhere at the same time, what was merely imported.

Guarantees: a test in another process is never charged through the order of its own
process, nor the other way round; without times or file lists the evidence is -inf.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from analysis.betas import log_marginal
from analysis.history import Floats, History, Ints, Run
from analysis.observations import Observations

_PASSES = 4  # passing observations looked at, per failing one
_LEAST = 40


def overlapping(history: History, observations: Observations, row: int) -> float:
    """log evidence: fails while one certain test runs in another worker.

    Mean over all tests M of Beta(2, 1) where M overlapped and Beta(1, 99) where not.
    Passes are thinned evenly to four for each failure (at least 40): a case-control
    sample leaves the ratio of the two rates alone; the rest are put to "not".
    """
    columns = [c for c in observations.seen(row) if history.runs[c].starts is not None]
    if not any(history.runs[c].processes > 1 for c in columns):
        return -np.inf
    failed = [c for c in columns if observations.failed[row, c] == 1]
    passed = [c for c in columns if observations.failed[row, c] == 0]
    room = max(_PASSES * len(failed), _LEAST)
    looked = passed[:: max(1, -(-len(passed) // room))]
    hits = _tally(history, observations, row, failed)
    calm = _tally(history, observations, row, looked)
    calm *= len(passed) / max(len(looked), 1)
    inside = log_marginal(hits, calm, a=2.0, b=1.0)
    outside = log_marginal(len(failed) - hits, len(passed) - calm, a=1.0, b=99.0)
    return float(logsumexp(inside + outside) - np.log(history.n_tests))


def _tally(
    history: History, observations: Observations, row: int, columns: list[int]
) -> Floats:
    tally = np.zeros(history.n_tests)
    for column in columns:
        place = int(observations.place[row, column])
        first = int(observations.first[row, column])
        tally[_elsewhere(history.runs[column], place, first)] += 1
    return tally


def _elsewhere(run: Run, place: int, first: int) -> Ints:
    """Tests of other processes that ran while this execution did."""
    if run.starts is None or run.processes < 2:
        return np.zeros(0, dtype=np.int32)
    stops = run.stops if run.stops is not None else run.starts
    begin, end = run.starts[place], stops[place]
    during = (run.starts <= end) & (stops >= begin)
    own = int(np.searchsorted(run.offsets, first, side="right"))
    during[first : run.offsets[own]] = False
    return np.unique(run.tests[during]).astype(np.int32)


def import_time(history: History, observations: Observations, row: int) -> float:
    """log evidence: fails whenever one certain file was collected in its process.

    Mean over files of Beta(9, 1) where collected and Beta(1, 99) where not; a file
    that was always or never there cannot be told and carries no weight.
    """
    columns = [
        c for c in observations.seen(row) if history.runs[c].collected is not None
    ]
    if not columns:
        return -np.inf
    held = [
        _collected(history.runs[c], int(observations.place[row, c])) for c in columns
    ]
    failed = observations.failed[row, columns] == 1
    files = np.unique(np.concatenate(held))
    there = np.stack([np.isin(files, one) for one in held])
    varied = there.any(axis=0) & ~there.all(axis=0)
    if not varied.any():
        return -np.inf
    hits, calm = there[failed][:, varied].sum(0), there[~failed][:, varied].sum(0)
    inside = log_marginal(hits, calm, a=9.0, b=1.0)
    outside = log_marginal(
        np.count_nonzero(failed) - hits,
        np.count_nonzero(~failed) - calm,
        a=1.0,
        b=99.0,
    )
    return float(logsumexp(inside + outside) - np.log(len(files)))


def _collected(run: Run, place: int) -> Ints:
    lists = run.collected if run.collected is not None else ()
    process = int(np.searchsorted(run.offsets, place, side="right")) - 1
    return lists[process]
