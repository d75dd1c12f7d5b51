"""How flaky is a test, and is it called flaky at all.

Guarantees: a rate never makes a label; a disagreement on one commit, or a pass on
retry, does. The thresholds to enter and to leave differ, so a label does not
flicker. Intervals hold their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.stats import beta

from analysis.history import Bools, Ints

ENTER = 0.01  # mean rate from which a disagreement makes the label
LEAVE = 0.005  # upper bound of the rate below which the label goes
LEAVE_RUNS = 100  # and at least this many observations


@dataclass(frozen=True)
class Rate:
    """A share with its uncertainty, 0 .. 1."""

    mean: float
    low: float
    high: float
    events: int
    trials: int


def rate_of(events: int, trials: int, *, level: float = 0.95) -> Rate:
    """Posterior of a rate under Jeffreys' prior Beta(1/2, 1/2).

    mean = (events + 1/2) / (trials + 1); the interval cuts equal tails of
    Beta(events + 1/2, trials - events + 1/2) (Brown, Cai, DasGupta 2001), except that
    it reaches 0 when there were no events and 1 when there was nothing else.
    """
    if not 0 <= events <= trials:
        raise ValueError(f"{events} events in {trials} trials")
    a, b = events + 0.5, trials - events + 0.5
    tail = (1 - level) / 2
    return Rate(
        mean=a / (a + b),
        low=0.0 if events == 0 else float(beta.ppf(tail, a, b)),
        high=1.0 if events == trials else float(beta.ppf(1 - tail, a, b)),
        events=events,
        trials=trials,
    )


class Rule(StrEnum):
    """What showed that a test is flaky."""

    RETRY = "retry"  # failed, then passed, in one run
    SAME_TREE = "same_tree"  # both outcomes on one tree of files
    SAME_COMMIT = "same_commit"  # both outcomes on one commit


@dataclass(frozen=True)
class Label:
    """Why a test is called flaky: rule, numbers, and the runs that fired it."""

    rule: Rule
    rate: Rate
    runs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Sightings:
    """All n observations of one test on which its label may rest.

    run     (n,) identities of the runs
    failed  (n,) bool, first attempts
    retried (n,) bool: a later attempt of the run passed after a failed one
    commit  (n,) equal = the same commit
    tree    (n,) equal = the same tree of files; -1 = unknown
    """

    run: Ints
    failed: Bools
    retried: Bools
    commit: Ints
    tree: Ints


def disagreement(seen: Sightings) -> tuple[Rule, tuple[int, ...]] | None:
    """The strongest rule that fires and the runs that fire it, or None."""
    if seen.retried.any():
        return Rule.RETRY, _ints(seen.run[seen.retried])
    known = seen.tree >= 0
    by_tree = _both(seen.tree, seen.failed, known)
    if by_tree.any():
        return Rule.SAME_TREE, _ints(seen.run[by_tree])
    by_commit = _both(seen.commit, seen.failed, np.ones_like(known))
    if by_commit.any():
        return Rule.SAME_COMMIT, _ints(seen.run[by_commit])
    return None


def label(seen: Sightings, *, was_flaky: bool, regressed: bool) -> Label | None:
    """The label now, given whether the test bore it before.

    Enters on a disagreement with a mean rate of at least 1 %. Leaves when the rate's
    upper bound is below 0.5 % over at least 100 observations. A failing newest
    stretch that the regression story explains (`regressed`) is never called flaky.
    """
    if regressed:
        return None
    fired = disagreement(seen)
    if fired is None:
        return None
    events = int(np.count_nonzero(seen.failed))
    rate = rate_of(events, len(seen.failed))
    gone = rate.high < LEAVE and rate.trials >= LEAVE_RUNS
    if gone or (not was_flaky and rate.mean < ENTER):
        return None
    return Label(rule=fired[0], rate=rate, runs=fired[1])


def _both(keys: Ints, failed: Bools, usable: Bools) -> Bools:
    """Observations whose key was seen with both outcomes."""
    bad = np.unique(keys[failed & usable])
    good = np.unique(keys[~failed & usable])
    return np.isin(keys, np.intersect1d(bad, good)) & usable


def _ints(values: Ints | Sequence[int]) -> tuple[int, ...]:
    return tuple(int(value) for value in values)
