"""Who undoes the harm: cleaners of one leaker, learnt from all its victims together.

Guarantees: a cleaner enters only when the victims' likelihood grows by more than the
price of choosing it among all tests, so an added bystander does not become one by
chance; the leaker's evidence with its cleaners is never better than paid for.
A cleaner of a state-setter's state is an "unsetter"; the arithmetic is the mirror.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.betas import log_mean
from analysis.counts import bin_of, bins_for
from analysis.decay import WEIGHTS, grid_for
from analysis.history import Bools, Floats, History, Ints
from analysis.observations import Observations

MOST = 8  # cleaners of one leaker
_SHORTLIST = 64
_PRICE = 1.0  # nats above log(2 N) that a cleaner must gain


@dataclass(frozen=True, eq=False)
class Passage:
    """What happened between one leaker and one victim, where the leaker came first.

    harmed   (n,) bool: the outcome that the harm predicts
    gain     (n, G) log-likelihood with the harm minus without it
    without  (G,) log-likelihood of all observations as if the leaker never ran
    between  n arrays of test numbers that ran in between
    """

    harmed: Bools
    gain: Floats
    without: Floats
    between: tuple[Ints, ...]

    def evidence(self, undone: Bools | None = None) -> float:
        """log marginal of the victim's outcomes; `undone` (n,) = a cleaner ran."""
        gain = self.gain if undone is None else self.gain[~undone]
        return float(log_mean(self.without + gain.sum(axis=0), WEIGHTS))


def passage(
    history: History,
    observations: Observations,
    row: int,
    leaker: int,
    *,
    setter: bool,
) -> Passage:
    """Collect the observations of one victim relative to one leaker (or setter)."""
    columns = [c for c in observations.seen(row) if history.runs[c].ordered]
    spans = [_between(history, observations, row, c, leaker) for c in columns]
    failed = observations.failed[row, columns] == (0 if setter else 1)
    before = np.array([span is not None for span in spans], dtype=bool)
    between = tuple(span for span in spans if span is not None)
    lengths = observations.place[row, columns] - observations.first[row, columns]
    depth = max(float(np.median(lengths)), 1.0) if len(columns) else 1.0
    bins = bins_for(int(max((len(b) + 1 for b in between), default=1)))
    grid = grid_for(bins, depth)
    near = bin_of(max((len(b) + 1 for b in between), default=1))
    at = near[[len(b) + 1 for b in between]] if between else np.zeros(0, dtype=int)
    harmed = failed[before]
    gain = np.where(
        harmed[:, None], grid.fail[at] - grid.fail[-1], grid.ok[at] - grid.ok[-1]
    )
    without = failed.sum() * grid.fail[-1] + (~failed).sum() * grid.ok[-1]
    return Passage(harmed=harmed, gain=gain, without=without, between=between)


def _between(
    history: History, observations: Observations, row: int, column: int, leaker: int
) -> Ints | None:
    run = history.runs[column]
    stop = observations.place[row, column]
    ahead = run.tests[observations.first[row, column] : stop]
    found = np.flatnonzero(ahead == leaker)
    return ahead[found[-1] + 1 :] if len(found) else None


def find_cleaners(
    passages: Sequence[Passage],
    weights: Floats,
    *,
    n_tests: int,
    barred: frozenset[int],
) -> tuple[int, ...]:
    """Cleaners of one leaker, best first, by greedy pooled gain.

    passages, weights: one a victim, with the probability that it is a victim at all.
    barred: the leaker and whatever may not be named.
    """
    short = _shortlist(passages, weights, n_tests, barred)
    masks = [_ran(one.between, short) for one in passages]
    undone = [np.zeros(len(one.harmed), dtype=bool) for one in passages]
    found: list[int] = []
    while len(found) < min(MOST, len(short)):
        gains = np.zeros(len(short))
        for one, mask, done, weight in zip(
            passages, masks, undone, weights, strict=True
        ):
            gains += weight * _gains(one, mask, done)
        best = int(np.argmax(gains))
        if gains[best] < np.log(2 * n_tests) + _PRICE:
            break
        found.append(int(short[best]))
        undone = [d | m[:, best] for d, m in zip(undone, masks, strict=True)]
    return tuple(found)


def undone_by(one: Passage, cleaners: Sequence[int]) -> Bools:
    """(n,) whether any of these cleaners ran between leaker and victim."""
    return _ran(one.between, np.array(sorted(cleaners), dtype=np.int32)).any(axis=1)


def _shortlist(
    passages: Sequence[Passage],
    weights: Floats,
    n_tests: int,
    barred: frozenset[int],
) -> Ints:
    """Tests often in between when the harm did not show, seldom when it did."""
    score = np.zeros(n_tests)
    for one, weight in zip(passages, weights, strict=True):
        for tests, harmed in zip(one.between, one.harmed, strict=True):
            score[tests] += -3.0 * weight if harmed else weight
    score[list(barred)] = -np.inf
    order = np.argsort(-score, kind="stable")[:_SHORTLIST]
    return np.sort(order[score[order] > 0]).astype(np.int32)


def _ran(between: tuple[Ints, ...], tests: Ints) -> Bools:
    """(n, C) whether each of these (sorted) tests ran in between."""
    found = np.zeros((len(between), len(tests)), dtype=bool)
    if not len(tests) or not between:
        return found
    longest = max((int(ahead.max(initial=0)) for ahead in between), default=0)
    slot = np.full(max(longest, int(tests.max())) + 1, -1, dtype=np.int32)
    slot[tests] = np.arange(len(tests), dtype=np.int32)
    for index, ahead in enumerate(between):
        slots = slot[ahead]
        found[index, slots[slots >= 0]] = True
    return found


def _gains(one: Passage, mask: Bools, undone: Bools) -> Floats:
    """(C,) growth of log evidence when each candidate also counts as a cleaner."""
    total = one.without + one.gain[~undone].sum(axis=0)
    removed = (mask & ~undone[:, None]).T.astype(np.float64) @ one.gain
    return log_mean(total - removed, WEIGHTS) - float(log_mean(total, WEIGHTS))
