"""Beta-binomial marginal likelihoods, the closed forms behind every story.

Guarantees: finite for any non-negative counts; logarithms throughout.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln

from analysis.history import Floats


def log_marginal(failed: ArrayLike, passed: ArrayLike, *, a: float, b: float) -> Floats:
    """log of the chance of one sequence with these counts, rate ~ Beta(a, b).

    failed, passed: any shape, counts. Formula: B(a + f, b + p) / B(a, b), the
    beta-binomial without its binomial coefficient (Gelman et al., BDA3, 2.4).
    """
    counts = np.asarray(failed, dtype=np.float64), np.asarray(passed, dtype=np.float64)
    logs = betaln(a + counts[0], b + counts[1]) - betaln(a, b)
    return np.asarray(logs, dtype=np.float64)


def log_mean(logs: Floats, weights: Floats, *, axis: int = -1) -> Floats:
    """log Σ w exp(l) along one axis; weights sum to one and lie on the last axis."""
    top = np.max(logs, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.sum(np.exp(logs - top) * weights, axis=axis)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total) + np.squeeze(top, axis=axis))
