"""Shares with their uncertainty: pure functions of counts."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import betaincinv

_PRIOR = 0.5  # Jeffreys


@dataclass(frozen=True, slots=True)
class Rate:
    """The posterior of a share: its mean and the central 95 % interval."""

    mean: float
    low: float
    high: float
    hits: int
    of: int


def beta_rate(hits: int, of: int) -> Rate | None:
    """Return the share of `hits` among `of`; None when there was no trial."""
    if of <= 0:
        return None
    a, b = hits + _PRIOR, of - hits + _PRIOR
    # The usual convention at the ends: an interval that begins at 0 or ends at 1.
    low = 0.0 if hits == 0 else float(betaincinv(a, b, 0.025))
    high = 1.0 if hits == of else float(betaincinv(a, b, 0.975))
    return Rate(mean=a / (a + b), low=low, high=high, hits=hits, of=of)


def fail_rate(*, failing: int, runs: int, not_executed: int) -> float | None:
    """(failed + errors) / (runs - skipped - xfailed), plain."""
    executed = runs - not_executed
    return failing / executed if executed > 0 else None
