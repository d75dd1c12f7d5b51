"""Victims of one leaker support each other: a catalogue with a significance test.

    Λ(L) = log mean_ρ ∏_V [(1 - ρ) + ρ · π · BF(L, V) / Z_V]  >  log(2 N / α)

Z_V is V's evidence under all its causes; an entry absorbs its victims (Z_V grows) and
the next is sought. Guarantees: at most α false entries if the base model is right
(a likelihood ratio with Bonferroni over N tests and two directions); the posteriors
of one victim sum to one; an independent flake is not dragged to a popular leaker,
because its own BF must speak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from analysis.history import Floats

RATES = np.array([0.02, 0.1, 0.4])  # share of the unstable tests that L harms
DIRECTION = 0.5  # π: leaker or setter
ALPHA = 0.05
# For the order of suspects alone an entry need only be likelier than not: prior odds
# of about one in ninety for a popular leaker, whatever the size of the suite.
RANKING = 4.5
_HOPE = 9.0  # nats below the threshold at which a candidate may still enter later
_MOST = 100
_LARGEST = 600.0  # nats; beyond, a double overflows
_WIDEST = 2048  # columns that are followed from entry to entry


def claim_threshold(n_tests: int) -> float:
    """What Λ must exceed so that a false entry has chance α: log(2 N / α)."""
    return float(np.log(2 * n_tests / ALPHA))


@dataclass(frozen=True, eq=False)
class Entry:
    """A catalogued leaker: its column (test, or N + test for a setter), what it is
    worth to each victim, and who cleans up after it."""

    column: int
    rate: float
    log_bf: Floats  # (T,) evidence against the flake, cleaners known
    cleaners: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Pool:
    """What pooling makes of each victim.

    log_z   (T,) evidence of all causes together, against the flake
    scale   (T,) factor left to the victim's own part
    entries the catalogue, first found first
    shares  (T, E) posterior that this entry is the victim's cause
    """

    log_z: Floats
    scale: Floats
    entries: tuple[Entry, ...]
    shares: Floats


type Enrich = Callable[[int, Floats], tuple[Floats, tuple[int, ...]]]


class _Building:
    """A catalogue while entries come in; the only state of this module."""

    def __init__(self, log_bf: NDArray[np.floating], log_z: Floats) -> None:
        self.log_bf = log_bf
        self.log_z = log_z
        self.scale = np.ones(len(log_z))
        self.entries: list[Entry] = []
        self.shares: list[Floats] = []

    def absorb(self, column: int, enrich: Enrich) -> None:
        """Add one entry and let it take its part of every victim."""
        entry, log_part, log_rest = _entry(column, self.log_bf, self.log_z, enrich)
        self.entries.append(entry)
        self.log_z = np.logaddexp(log_rest, log_part)
        kept = 1.0 - entry.rate
        self.scale *= kept
        self.shares = [share + np.log(kept) for share in self.shares]
        self.shares.append(log_part)

    def pool(self) -> Pool:
        if self.shares:
            shares = np.exp(np.array(self.shares).T - self.log_z[:, None])
        else:
            shares = np.zeros((len(self.log_z), 0))
        return Pool(
            log_z=self.log_z,
            scale=self.scale,
            entries=tuple(self.entries),
            shares=shares,
        )


def pool(
    log_bf: NDArray[np.floating],
    log_z: Floats,
    *,
    threshold: float,
    enrich: Enrich,
    given: Sequence[int] = (),
) -> Pool:
    """Build the catalogue.

    log_bf  (T, 2 N) evidence of every candidate, leakers then setters
    log_z   (T,) each victim's evidence under its own prior
    threshold  what Λ must exceed: `claim_threshold` or `RANKING`
    enrich  (column, responsibilities (T,)) -> (log_bf (T,) with cleaners, cleaners)
    given   columns of leakers that are known already: they enter untested, first
    """
    building = _Building(log_bf, log_z)
    for column in given:
        building.absorb(column, enrich)
    hopeful = _hopeful(log_bf, building.log_z, threshold)
    hopeful = hopeful[~np.isin(hopeful, given)]
    some = np.ascontiguousarray(log_bf[:, hopeful])
    open_ = np.ones(len(hopeful), dtype=bool)
    while open_.any() and len(building.entries) < _MOST:
        terms = _terms(some, building.log_z)
        support = logsumexp(terms, axis=0) - np.log(len(RATES))
        best = int(np.argmax(np.where(open_, support, -np.inf)))
        if support[best] <= threshold:
            break
        open_[best] = False
        building.absorb(int(hopeful[best]), enrich)
    return building.pool()


def _hopeful(
    log_bf: NDArray[np.floating], log_z: Floats, threshold: float
) -> NDArray[np.intp]:
    """Columns that could enter: the rest cannot reach the threshold by far."""
    relative = log_bf - log_z[:, None]
    bound = np.zeros(log_bf.shape[1])
    # Row by row: the whole matrix of exponentials would be the peak of memory.
    for row in relative:
        strong = row > -5.0
        bound[strong] += np.log1p(RATES[-1] * DIRECTION * np.exp(row[strong]))
    order = np.argsort(-bound, kind="stable")[:_WIDEST]
    return np.sort(order[bound[order] > max(threshold - _HOPE, 0.0)])


def _terms(log_bf: NDArray[np.floating], log_z: Floats) -> Floats:
    """(rates, columns) log ∏_V [(1 - ρ) + ρ π BF / Z]."""
    relative = np.asarray(log_bf - log_z[:, None], dtype=np.float64)
    ratio = DIRECTION * np.exp(np.minimum(relative, _LARGEST))
    return np.stack([np.log(1 - rate + rate * ratio).sum(axis=0) for rate in RATES])


def _entry(
    column: int, log_bf: NDArray[np.floating], log_z: Floats, enrich: Enrich
) -> tuple[Entry, Floats, Floats]:
    """Weigh one entry twice: plainly, then with the cleaners its victims show."""
    rate, log_part, log_rest = _weigh(log_bf[:, column], log_z)
    members = np.exp(log_part - np.logaddexp(log_part, log_rest))
    enriched, cleaners = enrich(column, members)
    if cleaners:
        rate, log_part, log_rest = _weigh(enriched, log_z)
    entry = Entry(column=column, rate=rate, log_bf=enriched, cleaners=cleaners)
    return entry, log_part, log_rest


def _weigh(log_bf: NDArray[np.floating], log_z: Floats) -> tuple[float, Floats, Floats]:
    """Posterior mean of ρ, then the two parts of each victim's evidence."""
    terms = _terms(log_bf[:, None], log_z)[:, 0]
    weights = np.exp(terms - terms.max())
    rate = float(weights @ RATES / weights.sum())
    log_part = np.log(rate * DIRECTION) + log_bf
    return rate, log_part, np.log1p(-rate) + log_z
