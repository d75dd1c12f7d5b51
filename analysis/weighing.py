"""Everything that one test's own observations say, before tests are compared.

Guarantees: one row depends on its own observations and the beliefs alone, so rows
can be weighed in any order, or only some of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from analysis.counts import count
from analysis.decay import depth_of, weigh
from analysis.history import Floats, History
from analysis.observations import Observations
from analysis.outcomes import Circumstances, Outcomes, outcomes_of
from analysis.overlap import import_time, overlapping
from analysis.priors import STORY_PRIORS, Beliefs, Story, candidate_prior
from analysis.sceptic import fisher
from analysis.stories import flake, order_free, repeats_of_a_cause

_ORDER = (Story.VICTIM, Story.BRITTLE)


@dataclass(frozen=True, eq=False)
class Row:
    """Everything weighed about one test before the tests are looked at together.

    log_bf   (2 N,) float32, leakers then setters, against the flake
    hazard   (2 N,) float32, h of the decay
    failed, passed  (N,) observations with the candidate before
    free     log evidence of the order-free stories, against the flake
    own      log evidence of all candidates under their priors, against the flake
    """

    outcomes: Outcomes
    log_bf: np.ndarray[tuple[int], np.dtype[np.float32]]
    hazard: np.ndarray[tuple[int], np.dtype[np.float32]]
    failed: np.ndarray[tuple[int], np.dtype[np.float32]]
    passed: np.ndarray[tuple[int], np.dtype[np.float32]]
    p_values: np.ndarray[tuple[int], np.dtype[np.float32]]
    n_failed: int
    n_passed: int
    depth: float
    free: dict[Story, float]
    own: float


@dataclass(frozen=True, eq=False)
class Case:
    """The history with what was read from it once, and the beliefs."""

    history: History
    observations: Observations
    around: Circumstances
    beliefs: Beliefs


def weigh_row(case: Case, index: int) -> Row:
    """Weigh every candidate and every story of one test."""
    counts = count(case.history, case.observations, index)
    outcomes = outcomes_of(case.history, case.observations, index, case.around)
    ordered = flake(counts.n_failed, counts.n_passed)
    leaker, setter = weigh(counts), weigh(counts, setter=True)
    log_bf = np.concatenate((leaker.evidence, setter.evidence)) - ordered
    p_values = np.concatenate((fisher(counts), fisher(counts, setter=True)))
    test = int(case.observations.tests[index])
    barred = [test, *case.beliefs.refuted.get(test, frozenset())]
    log_bf[barred] = log_bf[np.array(barred) + case.history.n_tests] = -np.inf
    free = _free(case, outcomes, index)
    return Row(
        outcomes=outcomes,
        log_bf=log_bf.astype(np.float32),
        hazard=np.concatenate((leaker.hazard, setter.hazard)).astype(np.float32),
        failed=counts.failed.sum(axis=0),
        passed=counts.passed.sum(axis=0),
        p_values=p_values.astype(np.float32),
        n_failed=counts.n_failed,
        n_passed=counts.n_passed,
        depth=depth_of(counts),
        free=free,
        own=float(logsumexp(own_parts(case, test, outcomes, log_bf))),
    )


def _free(case: Case, outcomes: Outcomes, index: int) -> dict[Story, float]:
    """log evidence of each order-free story, against the flake."""
    logs = order_free(outcomes)
    logs[Story.CROSS_WORKER] = np.logaddexp(
        logs[Story.CROSS_WORKER],
        overlapping(case.history, case.observations, index),
    )
    logs[Story.IMPORT] = import_time(case.history, case.observations, index)
    base = logs[Story.FLAKE]
    return {story: float(log - base) for story, log in logs.items()}


def own_parts(case: Case, test: int, outcomes: Outcomes, log_bf: Floats) -> Floats:
    """(2 N,) log prior × evidence of each candidate, against the flake."""
    parts = []
    for story in _ORDER:
        prior = candidate_prior(case.history, test, story, case.beliefs)
        with np.errstate(divide="ignore"):
            parts.append(np.log(prior * STORY_PRIORS[story]))
    return np.concatenate(parts) + log_bf + steady(outcomes)


def steady(outcomes: Outcomes) -> float:
    """What repeats in one process say for any lasting cause, against the flake."""
    again = outcomes.repeats
    first = flake(outcomes.n_failed, outcomes.n_passed)
    failed = outcomes.n_failed + again.failed_again + again.failed_later
    passed = outcomes.n_passed + again.passed_again + again.passed_later
    return repeats_of_a_cause(again) + float(first - flake(failed, passed))
