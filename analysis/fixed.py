"""Is it really fixed: what so many passes in a row are worth.

Guarantees: only relevant observations count (for a victim: with its leaker before
it, weighted by the decay); the chance is stated at the *lower* bound of the old
rate, so it is never flattering; one failure with the old fingerprint reopens.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.stats import beta

from analysis.flaky import rate_of
from analysis.history import Floats

ENOUGH = 10
CHANCE = 0.01


class Fix(StrEnum):
    """How sure a fix is."""

    REOPENED = "reopened"
    WAITING = "waiting"
    VERIFIED = "verified"


@dataclass(frozen=True)
class FixProof:
    """What was seen since the epoch.

    relevant   observations that could have failed; for a victim the sum of decay
               weights, so not a whole number
    chance     of that many passes in a row at the old rate's lower bound
    new_high   exact 95 % upper bound of the new rate (one-sided, Clopper–Pearson)
    """

    state: Fix
    relevant: float
    failures: int
    chance: float
    new_high: float


def proof(
    *,
    old_events: int,
    old_trials: int,
    relevant: float,
    failures: int,
) -> FixProof:
    """Judge a fix. old_*: before the epoch; relevant, failures: since.

    chance = (1 - low)^n with low the 95 % Jeffreys lower bound of the old rate;
    new_high = Beta quantile .95 of (failures + 1, n - failures), which is
    1 - .05^(1/n) for no failure (the "rule of three" is its approximation).
    """
    low = rate_of(old_events, old_trials).low
    chance = float(np.exp(relevant * np.log1p(-low))) if low < 1 else 0.0
    if relevant <= 0:
        chance = 1.0
    left = relevant - failures
    high = float(beta.ppf(0.95, failures + 1, left)) if left > 0 else 1.0
    state = Fix.WAITING
    if failures:
        state = Fix.REOPENED
    elif relevant >= ENOUGH and chance < CHANCE:
        state = Fix.VERIFIED
    return FixProof(
        state=state,
        relevant=relevant,
        failures=failures,
        chance=chance,
        new_high=high,
    )


def relevance(distances: Floats, *, hazard: float, depth: float) -> float:
    """Σ exp(-h d / D): what a victim's passes count with its leaker d tests before.

    distances (n,) tests since the leaker's last run; inf = it did not run before.
    """
    return float(np.exp(-hazard * np.asarray(distances) / max(depth, 1.0)).sum())


def in_words(one: FixProof) -> str:
    """The sentence beside the state."""
    count = int(one.relevant)
    if one.state is Fix.REOPENED:
        return f"{one.failures} failures in {count} relevant runs since: not fixed."
    if one.state is Fix.WAITING:
        more = max(ENOUGH - count, 0)
        tail = f"; at least {more} more are needed." if more else "; not yet enough."
        return f"0 failures in {count} relevant runs since{tail}"
    exponent = int(np.floor(-np.log10(max(one.chance, 1e-300))))
    return (
        f"0 failures in {count} relevant runs since; at the old rate that happens "
        f"by chance less than once in 10^{exponent}."
    )
