"""All tests together: shares of stories, and victims that support each other.

Guarantees: the same rows give the same pools in any order; the strict pool alone
makes claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from analysis.catalogue import RANKING, Pool, claim_threshold, pool
from analysis.cleaners import find_cleaners, passage, undone_by
from analysis.history import Floats
from analysis.priors import Story
from analysis.shares import FREE, learn
from analysis.weighing import Case, Row, steady


@dataclass(frozen=True, eq=False)
class Pools:
    """The same victims pooled twice: strictly for claims, freely for the ranking.

    told  (T, S) log prior × evidence of each story of `FREE`, against the flake
    """

    told: Floats
    claims: Pool
    ranking: Pool


def pool_rows(case: Case, rows: Sequence[Row]) -> Pools:
    """Learn the shares of stories, then build both catalogues."""
    known: dict[int, tuple[Floats, tuple[int, ...]]] = {}

    def enrich(column: int, members: Floats) -> tuple[Floats, tuple[int, ...]]:
        if column not in known:
            known[column] = _enrich(case, rows, column, members)
        return known[column]

    extra = np.array([steady(row.outcomes) for row in rows], dtype=np.float32)
    log_bf = np.asarray(np.stack([row.log_bf for row in rows]) + extra[:, None])
    own = np.array([row.own for row in rows])
    told = np.array([[row.free[story] for story in FREE] for row in rows])
    told = told + learn(told, own)
    log_z = np.logaddexp(logsumexp(told, axis=1), own)
    n_tests = case.history.n_tests
    given = sorted(
        test + (n_tests if story is Story.BRITTLE else 0)
        for test, story in case.beliefs.leakers.items()
    )
    strict = claim_threshold(n_tests)
    return Pools(
        told=told,
        claims=pool(log_bf, log_z, threshold=strict, enrich=enrich, given=given),
        ranking=pool(
            log_bf,
            log_z,
            threshold=min(RANKING, strict),
            enrich=enrich,
            given=given,
        ),
    )


def _enrich(
    case: Case, rows: Sequence[Row], column: int, members: Floats
) -> tuple[Floats, tuple[int, ...]]:
    """Learn an entry's cleaners from its victims, and weigh them all again."""
    n_tests = case.history.n_tests
    setter, test = column >= n_tests, column % n_tests
    log_bf = np.array([float(row.log_bf[column]) for row in rows])
    chosen = [int(i) for i in np.flatnonzero(members > 0.1)]
    passages = [
        passage(case.history, case.observations, i, test, setter=setter) for i in chosen
    ]
    cleaners = find_cleaners(
        passages, members[chosen], n_tests=n_tests, barred=frozenset((test,))
    )
    if cleaners:
        for i, one in zip(chosen, passages, strict=True):
            plain = one.evidence()
            log_bf[i] += one.evidence(undone_by(one, cleaners)) - plain
    return log_bf, cleaners
