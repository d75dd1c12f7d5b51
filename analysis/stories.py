"""Explanations of a test's history that need no leaker, each a closed form.

Guarantees: every story is a marginal likelihood of the same first attempts and the
same repeats, so they compare directly; a story that the data cannot speak about (one
commit, one environment, one process) has no evidence at all (-inf).
Formulas: research section "decay likelihood", the list of causes; all are Beta
integrals of `analysis.betas`, averaged over the unknown stretch, value or threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from analysis.betas import log_marginal
from analysis.history import Bools, Floats, Ints
from analysis.outcomes import Outcomes, Repeats
from analysis.priors import Story

_RARE = (1.0, 99.0)  # outside the cause a test fails hardly ever
_SURE = (19.0, 1.0)  # inside a broken stretch it fails always
_OFTEN = (2.0, 1.0)  # inside a bad place or environment it fails mostly
_FLAKY = ((1.0, 9.0, 0.7), (1.0, 1.0, 0.3))  # a flake is mostly rare, but may not be
_AGAIN = (8.0, 2.0)  # rerun in the same process: a deterministic cause is still there
_THRESHOLDS = np.arange(1, 8) / 8


def flake(failed: ArrayLike, passed: ArrayLike) -> Floats:
    """log evidence of a constant failure rate: 0.7 Beta(1, 9) + 0.3 Beta(1, 1)."""
    parts = [
        np.log(weight) + log_marginal(failed, passed, a=a, b=b)
        for a, b, weight in _FLAKY
    ]
    return np.asarray(np.logaddexp(parts[0], parts[1]))


def order_free(outcomes: Outcomes) -> dict[Story, float]:
    """log evidence of each story that reads only circumstances."""
    told: Mapping[Story, Callable[[Outcomes], float]] = {
        Story.REGRESSION: regression,
        Story.PLACE: place,
        Story.ENVIRONMENT: environment,
        Story.CROSS_WORKER: several_workers,
    }
    steady = repeats_of_a_cause(outcomes.repeats)
    logs = {story: tell(outcomes) + steady for story, tell in told.items()}
    logs[Story.FLAKE] = _flake_with_repeats(outcomes)
    logs[Story.SELF] = self_polluter(outcomes)
    return logs


def _flake_with_repeats(outcomes: Outcomes) -> float:
    again = outcomes.repeats
    failed = outcomes.n_failed + again.failed_again + again.failed_later
    passed = outcomes.n_passed + again.passed_again + again.passed_later
    return float(flake(failed, passed))


def repeats_of_a_cause(repeats: Repeats) -> float:
    """log evidence of the repeats under any cause that outlives one attempt."""
    again = log_marginal(
        repeats.failed_again, repeats.passed_again, a=_AGAIN[0], b=_AGAIN[1]
    )
    later = log_marginal(repeats.failed_later, repeats.passed_later, a=1.0, b=9.0)
    return float(again + later)


def self_polluter(outcomes: Outcomes) -> float:
    """Fails on its own second run: rare at first, sure after a first pass."""
    repeats = outcomes.repeats
    if not repeats.failed_later:
        return -np.inf
    first = log_marginal(outcomes.n_failed, outcomes.n_passed, a=1.0, b=9.0)
    later = log_marginal(repeats.failed_later, repeats.passed_later, a=9.0, b=1.0)
    again = log_marginal(
        repeats.failed_again, repeats.passed_again, a=_AGAIN[0], b=_AGAIN[1]
    )
    return float(first + later + again)


def stretches(outcomes: Outcomes) -> tuple[Ints, Floats]:
    """Failing stretches in commit order and their log evidence.

    Returns (k, 2) first and last failing commit (of the distinct ones, by rank) and
    (k,) logs with their prior: half for stretches that last to the end, half for
    closed ones, each uniform. Only stretches that begin and end with a failure are
    listed: the others explain less.
    """
    ranks = np.unique(outcomes.commit, return_inverse=True)[1].reshape(-1)
    size = int(ranks.max(initial=0)) + 1
    if size < 2 or not outcomes.n_failed:
        return np.zeros((0, 2), dtype=np.int32), np.zeros(0)
    fails = np.bincount(ranks[outcomes.failed], minlength=size)
    passes = np.bincount(ranks[~outcomes.failed], minlength=size)
    begin, end = _blocks(fails > 0)
    lower, upper = np.triu_indices(len(begin))
    pairs = np.stack([begin[lower], end[upper]], axis=1)
    still = pairs[:, 1] == size - 1
    prior = np.where(still, 0.5 / size, 1.0 / (size * size))
    inside_f = _between(fails, pairs)
    inside_p = _between(passes, pairs)
    logs = log_marginal(inside_f, inside_p, a=_SURE[0], b=_SURE[1])
    rest = (fails.sum() - inside_f, passes.sum() - inside_p)
    logs = logs + log_marginal(*rest, a=_RARE[0], b=_RARE[1]) + np.log(prior)
    return pairs, logs


def regression(outcomes: Outcomes) -> float:
    """Fails in one stretch of commits whatever the order, and hardly ever outside."""
    return _total(stretches(outcomes)[1])


def _blocks(failing: Bools) -> tuple[Ints, Ints]:
    """First and last index of each block of neighbours that failed."""
    edges = np.diff(np.concatenate(([0], failing.astype(np.int8), [0])))
    begin = np.flatnonzero(edges == 1)
    end = np.flatnonzero(edges == -1) - 1
    return begin.astype(np.int32), end.astype(np.int32)


def _between(values: NDArray[np.integer], pairs: Ints) -> Floats:
    summed = np.concatenate(([0], np.cumsum(values))).astype(np.float64)
    return np.asarray(summed[pairs[:, 1] + 1] - summed[pairs[:, 0]])


def place(outcomes: Outcomes) -> float:
    """Fails early, or late, in its process whatever ran before: 7 thresholds, 2 ways."""
    known = ~np.isnan(outcomes.place)
    if not known.any():
        return -np.inf
    late = outcomes.place[known][:, None] >= _THRESHOLDS
    masks = np.hstack([late, ~late])
    logs = _inside(outcomes.failed[known], masks)
    unknown = flake(
        np.count_nonzero(outcomes.failed[~known]),
        np.count_nonzero(~outcomes.failed[~known]),
    )
    return float(logsumexp(logs) - np.log(masks.shape[1]) + unknown)


def environment(outcomes: Outcomes) -> float:
    """Fails only in one environment, or one shard."""
    masks = [
        column == value
        for column in (outcomes.environment, outcomes.shard)
        for value in _values(column)
    ]
    if not masks:
        return -np.inf
    logs = _inside(outcomes.failed, np.stack(masks, axis=1))
    return float(logsumexp(logs) - np.log(len(masks)))


def _values(column: Ints) -> Ints:
    values = np.unique(column)
    return values if len(values) > 1 else values[:0]


def several_workers(outcomes: Outcomes) -> float:
    """Fails only in runs with more than one process, at some constant rate there."""
    several = outcomes.several
    if several.all() or not several.any():
        return -np.inf
    failed = outcomes.failed
    with_f = np.count_nonzero(failed & several)
    with_p = np.count_nonzero(~failed & several)
    alone_f = outcomes.n_failed - with_f
    alone_p = outcomes.n_passed - with_p
    inside = log_marginal(with_f, with_p, a=1.0, b=1.0)
    return float(inside + log_marginal(alone_f, alone_p, a=_RARE[0], b=_RARE[1]))


def _inside(failed: Bools, masks: Bools) -> Floats:
    """(k,) log evidence of "mostly fails where the mask holds, hardly elsewhere"."""
    hits = masks[failed].sum(axis=0)
    calm = masks[~failed].sum(axis=0)
    n_failed = np.count_nonzero(failed)
    n_passed = len(failed) - n_failed
    inside = log_marginal(hits, calm, a=_OFTEN[0], b=_OFTEN[1])
    outside = log_marginal(n_failed - hits, n_passed - calm, a=_RARE[0], b=_RARE[1])
    return inside + outside


def _total(logs: Floats) -> float:
    return float(logsumexp(logs)) if len(logs) else -np.inf
