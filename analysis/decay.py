"""The harm of a leaker fades with the tests in between: the likelihood of one pair.

    P(V fails | L ran d tests earlier) = e + (1 - e) · q · exp(-h · d / D)
    P(V fails | L not before)          = e

D is the median number of tests before V. h = 0 is a leaker that nothing undoes, a
large h one that most tests undo; a large e leaves room for other leakers (or other
setters). A state-setter is the mirror image: passes and failures change places.

Guarantees: closed sums over a fixed grid, no fitting; the evidence is a sum over
observations and knows candidates only by their counts, so a permutation of test
numbers permutes the answer and an added bystander changes no other row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.counts import Counts, Floats32, centre_of
from analysis.history import Floats

Q = 0.97
HAZARDS = np.array([0.0, 0.3, 1.0, 3.0, 10.0])
# The two widest base rates serve tests with many alternative leakers or setters.
BASES = np.array([0.005, 0.05, 0.3, 0.6, 0.85])
BASE_WEIGHTS = np.array([0.35, 0.25, 0.2, 0.1, 0.1])
WEIGHTS = np.tile(BASE_WEIGHTS, len(HAZARDS)) / len(HAZARDS)  # (G,) sums to one
_READOUT = np.stack([WEIGHTS, WEIGHTS * np.repeat(HAZARDS, len(BASES))]).astype(
    np.float32
)


@dataclass(frozen=True, eq=False)
class Grid:
    """Log-likelihoods of one observation at every grid point, for one victim.

    fail, ok  (bins + 1, G) of an observation with the harm expected ("fail") or
    not, by bin of distance; the last row is "the candidate did not run before".
    """

    fail: Floats
    ok: Floats


def grid_for(bins: int, depth: float) -> Grid:
    """The grid of a victim with a median of `depth` tests before it."""
    survival = np.exp(-HAZARDS[:, None] * centre_of(bins) / max(depth, 1.0))
    bases = BASES[None, :, None]
    harmed = bases + (1 - bases) * Q * survival[:, None, :]
    chance = harmed.reshape(len(WEIGHTS), bins).T
    chance = np.vstack([chance, np.tile(BASES, len(HAZARDS))])
    return Grid(fail=np.log(chance), ok=np.log1p(-chance))


def depth_of(counts: Counts) -> float:
    """D: the median number of tests before the victim, at least 1."""
    return max(float(np.median(counts.before)), 1.0) if len(counts.before) else 1.0


@dataclass(frozen=True, eq=False)
class Weighed:
    """Every candidate of one victim in one direction.

    evidence  (n_tests,) log P(outcomes | this candidate is the cause)
    hazard    (n_tests,) posterior mean of h over the grid
    """

    evidence: Floats
    hazard: Floats


def weigh(counts: Counts, *, setter: bool = False) -> Weighed:
    """Sum the likelihood over the grid for every candidate at once.

    Shapes as in `Counts`. Method: research section "decay likelihood". The cost is
    one matrix product and one exponential per candidate and grid point.
    """
    harmed, spared = counts.failed, counts.passed
    n_harmed, n_spared = counts.n_failed, counts.n_passed
    if setter:
        harmed, spared, n_harmed, n_spared = spared, harmed, n_spared, n_harmed
    grid = grid_for(harmed.shape[0], depth_of(counts))
    logs = _sums(harmed, grid.fail)
    logs += _sums(spared, grid.ok)
    never = n_harmed * grid.fail[-1] + n_spared * grid.ok[-1]
    logs += never.astype(np.float32)[:, None]
    top = logs.max(axis=0)
    np.exp(np.subtract(logs, top, out=logs), out=logs)
    sums = _READOUT @ logs
    return Weighed(
        evidence=(np.log(sums[0]) + top).astype(np.float64),
        hazard=(sums[1] / sums[0]).astype(np.float64),
    )


def _sums(counts: Floats32, logs: Floats) -> Floats32:
    """(G, n_tests) log-likelihood beyond "the candidate did not run before"."""
    relative = (logs[:-1] - logs[-1]).T.astype(np.float32)
    return np.asarray(relative @ counts, dtype=np.float32)


def lives_for(hazard: float, depth: float) -> float | None:
    """How many tests the harm survives on average, D / h; None = it outlives all."""
    return depth / hazard if hazard > 1.0 else None
