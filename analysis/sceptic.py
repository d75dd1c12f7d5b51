"""The plain 2×2 table, Fisher's exact test and Benjamini–Hochberg, for the sceptic.

Guarantees: the numbers a reader can check by hand or in any statistics package;
no decay, no prior. They are shown beside a claim and never make one, because orders
that drift with time make them call regressions order-dependent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from analysis.counts import Counts
from analysis.history import Floats

type Longs = NDArray[np.int64]


@dataclass(frozen=True)
class Table:
    """Observations of one victim by "did the candidate run before it"."""

    failed_after: int
    passed_after: int
    failed_without: int
    passed_without: int


def table_of(counts: Counts, test: int) -> Table:
    """The 2×2 table of one candidate."""
    failed = int(counts.failed[:, test].sum())
    passed = int(counts.passed[:, test].sum())
    return Table(
        failed_after=failed,
        passed_after=passed,
        failed_without=counts.n_failed - failed,
        passed_without=counts.n_passed - passed,
    )


def fisher(counts: Counts, *, setter: bool = False) -> Floats:
    """(n_tests,) one-sided p: failures after the candidate are not more than chance.

    For a setter: passes after it are not. Exact below .05; a p-value that is surely
    larger is given as 1 (`exact` has it). Hypergeometric upper tail P(K >= a) with
    n observations, r of them after the candidate and F failures (Fisher 1935).
    """
    failed = counts.failed.sum(axis=0).astype(np.int64)
    passed = counts.passed.sum(axis=0).astype(np.int64)
    hits, total = (passed, counts.n_passed) if setter else (failed, counts.n_failed)
    n = counts.n_failed + counts.n_passed
    rows = failed + passed
    p_values = np.ones(len(rows))
    # Less than a standard deviation above chance: p is above .05, and 1 says enough.
    above = hits * n - rows * total
    spread = rows * total * (n - rows) / max(n - 1, 1) * (n - total)
    excess = np.flatnonzero((above > 0) & (above * above.astype(np.float64) > spread))
    # Many candidates share a table: each distinct one is worked out once.
    pairs, inverse = np.unique(
        hits[excess] * (n + 1) + rows[excess], return_inverse=True
    )
    tails = upper_tail(pairs // (n + 1), pairs % (n + 1), total, n)
    p_values[excess] = tails[inverse.reshape(-1)]
    return p_values


def exact(table: Table, *, setter: bool = False) -> float:
    """One-sided Fisher p of one table, as a statistics package gives it."""
    after = table.failed_after + table.passed_after
    failed = table.failed_after + table.failed_without
    n = after + table.failed_without + table.passed_without
    hits, total = (
        (table.passed_after, n - failed) if setter else (table.failed_after, failed)
    )
    return float(upper_tail(np.array([hits]), np.array([after]), total, n)[0])


def upper_tail(hits: Longs, rows: Longs, total: int, n: int) -> Floats:
    """(k,) hypergeometric P(K >= hits): `rows` drawn of n, of which `total` count.

    Summed in logarithms from one table of factorials (scipy's own `hypergeom.sf`
    loops in Python, which is too slow for millions of tables).
    """
    factorial = gammaln(np.arange(n + 1) + 1.0)
    most = min(total, int(rows.max(initial=0)))
    drawn = np.arange(most + 1)[None, :]
    rows = rows[:, None]
    possible = (drawn >= hits[:, None]) & (drawn <= rows) & (rows - drawn <= n - total)
    k = np.where(possible, drawn, np.maximum(rows - (n - total), 0))
    logs = _choose(factorial, total, k) + _choose(factorial, n - total, rows - k)
    logs = logs - _choose(factorial, n, rows)
    return np.asarray(np.minimum(np.where(possible, np.exp(logs), 0.0).sum(axis=1), 1))


def _choose(factorial: Floats, n: int, k: Longs) -> Floats:
    return np.asarray(factorial[n] - factorial[k] - factorial[n - k])


def benjamini_hochberg(p_values: Floats) -> Floats:
    """(m,) q-values of m p-values, in the same order (Benjamini & Hochberg 1995)."""
    size = len(p_values)
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * size / np.arange(1, size + 1)
    stepped = np.minimum.accumulate(scaled[::-1])[::-1]
    q_values = np.empty(size)
    q_values[order] = np.minimum(stepped, 1.0)
    return q_values


_SMALL = 0.05  # larger p-values have q-values nobody reads: they are bounded


def adjusted(p_values: Sequence[NDArray[np.float32]]) -> list[Floats]:
    """q-values of all tests' candidates in one family, row by row.

    Exact where q < 0.05; above, the bound min(1, p m / rank) of the small ones is
    enough to say "no evidence".
    """
    total = sum(len(row) for row in p_values)
    small = np.sort(np.concatenate([row[row < _SMALL] for row in p_values]))
    if not len(small):
        return [np.ones(len(row)) for row in p_values]
    stepped = small * (total / np.arange(1, len(small) + 1))
    stepped = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0)
    found = []
    for row in p_values:
        q_values = np.ones(len(row))
        low = np.flatnonzero(row < _SMALL)
        q_values[low] = stepped[np.searchsorted(small, row[low], side="right") - 1]
        found.append(q_values)
    return found
