"""One test's outcomes with their circumstances: when, where, at which place.

Guarantees: first attempts and later ones are kept apart, and later ones are split by
what the first did, because a victim fails again where a flake passes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.history import Bools, Floats, History, Ints, State
from analysis.observations import Observations


@dataclass(frozen=True)
class Repeats:
    """Executions of a test after its first attempt, in the same process."""

    failed_again: int = 0  # the first attempt had failed
    passed_again: int = 0
    failed_later: int = 0  # the first attempt had passed
    passed_later: int = 0


@dataclass(frozen=True, eq=False)
class Outcomes:
    """All n observations of one test, in order of commits.

    runs    (n,) index of the run in the history
    failed  (n,) bool
    commit, environment, shard  (n,) as in `Run`
    place   (n,) tests before it / the most that ever were, 0 .. 1; nan = unknown
    several (n,) bool: the run had more than one process
    """

    runs: Ints
    failed: Bools
    commit: Ints
    environment: Ints
    shard: Ints
    place: Floats
    several: Bools
    repeats: Repeats

    @property
    def n_failed(self) -> int:
        return int(np.count_nonzero(self.failed))

    @property
    def n_passed(self) -> int:
        return len(self.failed) - self.n_failed

    @property
    def same_commit(self) -> bool:
        """Both outcomes on one commit, or a pass on retry."""
        both = np.intersect1d(self.commit[self.failed], self.commit[~self.failed])
        return len(both) > 0 or self.repeats.passed_again > 0


@dataclass(frozen=True, eq=False)
class Circumstances:
    """(R,) columns of all runs, read once for all tests of a judgement."""

    commit: Ints
    environment: Ints
    shard: Ints
    several: Bools
    ordered: Bools
    repeating: Ints  # indices of the runs in which some test ran more than once
    all_traced: bool  # every known order was recorded


def circumstances(history: History) -> Circumstances:
    """Read the runs' columns."""
    runs = history.runs
    return Circumstances(
        commit=np.array([run.commit for run in runs], dtype=np.int32),
        environment=np.array([run.environment for run in runs], dtype=np.int32),
        shard=np.array([run.shard for run in runs], dtype=np.int32),
        several=np.array([run.processes > 1 for run in runs], dtype=bool),
        ordered=np.array([run.ordered for run in runs], dtype=bool),
        repeating=np.array(
            [i for i, run in enumerate(runs) if run.repeats], dtype=np.int32
        ),
        all_traced=all(run.traced or not run.ordered for run in runs),
    )


def outcomes_of(
    history: History, observations: Observations, row: int, around: Circumstances
) -> Outcomes:
    """Everything the order-free stories need about one row of the observations."""
    seen = observations.seen(row)
    seen = seen[np.argsort(around.commit[seen], kind="stable")]
    before = (observations.place - observations.first)[row, seen].astype(np.float64)
    before[~around.ordered[seen]] = np.nan
    most = np.nanmax(before, initial=1.0)
    return Outcomes(
        runs=seen.astype(np.int32),
        failed=observations.failed[row, seen] == 1,
        commit=around.commit[seen],
        environment=around.environment[seen],
        shard=around.shard[seen],
        place=before / most,
        several=around.several[seen],
        repeats=_repeats(history, observations, row, around),
    )


def _repeats(
    history: History, observations: Observations, row: int, around: Circumstances
) -> Repeats:
    tally = [0, 0, 0, 0]
    for column in around.repeating:
        first = observations.failed[row, column]
        if first < 0:
            continue
        run, place = history.runs[column], int(observations.place[row, column])
        stop = int(run.offsets[np.searchsorted(run.offsets, place, side="right")])
        later = run.states[place + 1 : stop][
            run.tests[place + 1 : stop] == observations.tests[row]
        ]
        base = 0 if first == 1 else 2
        tally[base] += int(np.count_nonzero(later == State.FAILED))
        tally[base + 1] += int(np.count_nonzero(later == State.PASSED))
    return Repeats(*tally)
