"""Beta-binomial marginal likelihoods, the closed forms behind every story.

Guarantees: finite for any non-negative counts; logarithms throughout.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from analysis.history import Floats


def log_marginal(
    failed: Floats | float, passed: Floats | float, *, a: float, b: float
) -> Floats:
    """log of the chance of one sequence with these counts, rate ~ Beta(a, b).

    failed, passed: any shape, counts. Formula: B(a + f, b + p) / B(a, b), the
    beta-binomial without its binomial coefficient (Gelman et al., BDA3, 2.4).
    """
    return np.asarray(betaln(a + np.asarray(failed), b + np.asarray(passed))) - betaln(
        a, b
    )


def log_mean(logs: Floats, weights: Floats, *, axis: int = -1) -> Floats:
    """log Σ w exp(l) along one axis; weights sum to one and lie on the last axis."""
    top = np.max(logs, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.sum(np.exp(logs - top) * weights, axis=axis)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total) + np.squeeze(top, axis=axis))
