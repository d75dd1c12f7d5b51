"""Which candidates the runs cannot tell apart, and which merely drift with time.

Guarantees: exact comparison of before-vectors, never of summaries alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from analysis.counts import ordered_columns
from analysis.history import Bools, Floats, History, Ints
from analysis.observations import Observations

_WIDEST = 4096  # members of a group that are looked at one by one
_SAMPLE = 60
_SWAPPED = 0.05  # share of the tests seen on both sides in any kind of shuffle
_DRIFT = 0.02  # chance below which so few alternations are not a shuffle


def before_vectors(
    history: History, observations: Observations, row: int, tests: Ints
) -> Bools:
    """(n, K) whether each of K tests ran before the test, per ordered observation.

    Rows are in order of commit.
    """
    columns = ordered_columns(history, observations, row)
    columns.sort(key=lambda column: history.runs[column].commit)
    found = np.zeros((len(columns), len(tests)), dtype=bool)
    ran = np.zeros(history.n_tests, dtype=bool)
    for index, column in enumerate(columns):
        start, stop = observations.first[row, column], observations.place[row, column]
        ahead = history.runs[column].tests[start:stop]
        ran[ahead] = True
        found[index] = ran[tests]
        ran[ahead] = False
    return found


def identical(
    history: History, observations: Observations, row: int, test: int, alike: Ints
) -> tuple[int, ...]:
    """The group of `test` among `alike` (tests with the same 2×2 table), or ()."""
    if len(alike) < 2:
        return ()
    tests = np.unique(np.append(alike[:_WIDEST], test)).astype(np.int32)
    vectors = before_vectors(history, observations, row, tests)
    own = vectors[:, int(np.searchsorted(tests, test))]
    same = tests[np.all(vectors == own[:, None], axis=0)]
    return tuple(int(one) for one in same) if len(same) > 1 else ()


def shuffled(history: History, observations: Observations, row: int) -> bool:
    """Other tests are seen now before, now after the test, in its own process.

    Looks at 60 observations, evenly spread. Under a kept order (of definition, in
    chunks of `load`) no test changes sides, whatever the runs contrast.
    """
    columns = ordered_columns(history, observations, row)
    ahead = np.zeros(history.n_tests, dtype=bool)
    behind = np.zeros(history.n_tests, dtype=bool)
    for column in columns[:: max(1, -(-len(columns) // _SAMPLE))]:
        run, place = history.runs[column], int(observations.place[row, column])
        stop = run.offsets[np.searchsorted(run.offsets, place, side="right")]
        ahead[run.tests[observations.first[row, column] : place]] = True
        behind[run.tests[place + 1 : stop]] = True
    sides = np.count_nonzero(ahead | behind)
    return bool(np.count_nonzero(ahead & behind) > _SWAPPED * sides)


def drifts(before: Bools) -> bool:
    """The before-vector (n,), in order of commits, alternates too seldom.

    Wald and Wolfowitz's runs test, exact and one-sided: under shuffled orders the
    chance of so few alternations is below 2 %.
    """
    ones = int(np.count_nonzero(before))
    zeros = len(before) - ones
    if not ones or not zeros:
        return True
    runs = 1 + int(np.count_nonzero(before[1:] != before[:-1]))
    lengths = np.arange(2, runs + 1)
    half = lengths // 2
    even = np.log(2.0) + _choose(ones - 1, half - 1) + _choose(zeros - 1, half - 1)
    odd = np.logaddexp(
        _choose(ones - 1, half) + _choose(zeros - 1, half - 1),
        _choose(ones - 1, half - 1) + _choose(zeros - 1, half),
    )
    logs = np.where(lengths % 2 == 0, even, odd)
    chance = np.exp(logs - _choose(ones + zeros, np.array([ones])))
    return float(chance.sum()) < _DRIFT


def _choose(n: int, k: NDArray[np.integer]) -> Floats:
    """log of n over k; -inf outside."""
    inside = (k >= 0) & (k <= n)
    safe = np.where(inside, k, 0)
    logs = gammaln(n + 1) - gammaln(safe + 1) - gammaln(n - safe + 1)
    return np.asarray(np.where(inside, logs, -np.inf), dtype=np.float64)
