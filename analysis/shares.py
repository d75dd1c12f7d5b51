"""How common each order-free cause is in *this* suite, learnt from all its tests.

Where half a suite fails only with two workers, the next such test is likely another.
Guarantees: only the order-free stories trade belief among themselves; what the
stories of order hold together is untouched, so no leaker gains by being popular.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from analysis.history import Floats
from analysis.priors import STORY_PRIORS, Story

FREE = (
    Story.FLAKE,
    Story.REGRESSION,
    Story.PLACE,
    Story.ENVIRONMENT,
    Story.CROSS_WORKER,
    Story.IMPORT,
    Story.SELF,
)
STRENGTH = 10.0  # tests' worth of belief in the table of priors
FLOOR = 0.5
_ROUNDS = 20


def learn(evidence: Floats, own: Floats) -> Floats:
    """(S,) log priors of `FREE`, summing to what the table gives them together.

    evidence (T, S) log evidence of each story; own (T,) of all candidates. Fixed
    point of the Dirichlet mean (empirical Bayes, Carlin & Louis): (STRENGTH × table +
    summed posteriors) / (STRENGTH + their total), then half of the table is kept.
    """
    table = np.array([STORY_PRIORS[story] for story in FREE])
    shares = table / table.sum()
    for _ in range(_ROUNDS):
        logs = evidence + np.log(shares * table.sum())
        log_z = np.logaddexp(logsumexp(logs, axis=1), own)
        held = np.exp(logs - log_z[:, None]).sum(axis=0)
        mixed = STRENGTH * table / table.sum() + held
        # No story falls below half of the table: a lone flake stays possible.
        shares = FLOOR * table / table.sum() + (1 - FLOOR) * mixed / mixed.sum()
    return np.asarray(np.log(shares * table.sum()))
