"""From posteriors over columns to named candidates with their claims and doubts.

Guarantees: only what could be claimed is compared run by run; a candidate that the
runs cannot tell from another is never named alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.claims import OWN_BF, POSTERIOR, Standing, decide
from analysis.counts import count
from analysis.decay import lives_for, weigh
from analysis.groups import before_vectors, drifts, identical, shuffled
from analysis.history import Floats
from analysis.judgement import Candidate, Status
from analysis.priors import Story
from analysis.sceptic import Table, exact
from analysis.stories import flake
from analysis.weighing import Case, Row

NAMED = 10  # candidates that are looked at closely
SUSPECTS = 3  # listed beside the claims
LOOK = 0.3  # posterior from which a second candidate is compared run by run
_TIERS = {Status.PROVEN: 0, Status.CONFIRMED: 1}


@dataclass(frozen=True, eq=False)
class Masses:
    """(2 N,) columns of one test.

    posterior  under the catalogue for claims
    rank       under the catalogue for ranking
    own_bf     own evidence, with cleaners where an entry knows them
    """

    posterior: Floats
    rank: Floats
    own_bf: Floats
    q_values: Floats
    cleaners: dict[int, tuple[int, ...]]


def name_candidates(
    case: Case, row: Row, index: int, masses: Masses
) -> tuple[Candidate, ...]:
    """Proven first, then claims, then the three best of the rest."""
    test = int(case.observations.tests[index])
    n_tests = case.history.n_tests
    proven = {
        leaker + (n_tests if story is Story.BRITTLE else 0)
        for leaker, story in case.beliefs.proven.get(test, {}).items()
    }
    columns = [*sorted(proven), *(c for c in _best(row, masses) if c not in proven)]
    found = [
        _candidate(case, row, index, column, masses, proven=column in proven)
        for column in columns[: max(NAMED, len(proven))]
    ]
    found.sort(key=lambda one: (_TIERS.get(one.status, 2), -one.rank))
    claims = [one for one in found if one.status in _TIERS]
    others = [one for one in found if one.status not in _TIERS]
    return (*claims, *others[:SUSPECTS])


def _candidate(
    case: Case, row: Row, index: int, column: int, masses: Masses, *, proven: bool
) -> Candidate:
    standing = _standing(case, row, index, column, masses)
    status, doubts = (Status.PROVEN, ()) if proven else decide(standing)
    n_tests = case.history.n_tests
    table = _table(row, column % n_tests)
    return Candidate(
        test=column % n_tests,
        story=Story.BRITTLE if column >= n_tests else Story.VICTIM,
        posterior=float(masses.posterior[column]),
        rank=float(masses.rank[column]),
        log_bf=float(masses.own_bf[column]),
        table=table,
        p_value=exact(table, setter=column >= n_tests),
        q_value=float(masses.q_values[column]),
        lives_for=lives_for(float(row.hazard[column]), row.depth),
        status=status,
        doubts=doubts,
        group=standing.group,
        cleaners=masses.cleaners.get(column, ()),
    )


def _best(row: Row, masses: Masses) -> list[int]:
    """Columns by rank, ties by own evidence: by nothing but the data."""
    if not row.n_failed or not row.n_passed:
        return []  # without a contrast in known orders nobody is suspected
    rank = masses.rank
    top = min(2 * NAMED, len(rank))
    short = np.argpartition(-rank, top - 1)[:top]
    short = np.union1d(short, np.flatnonzero(masses.posterior > POSTERIOR))
    order = sorted(
        short.tolist(), key=lambda one: (-rank[one], -masses.own_bf[one], one)
    )
    return [one for one in order if rank[one] > 0]


def _table(row: Row, test: int) -> Table:
    failed, passed = int(row.failed[test]), int(row.passed[test])
    return Table(
        failed_after=failed,
        passed_after=passed,
        failed_without=row.n_failed - failed,
        passed_without=row.n_passed - passed,
    )


def _standing(
    case: Case,
    row: Row,
    index: int,
    column: int,
    masses: Masses,
) -> Standing:
    n_tests = case.history.n_tests
    test = column % n_tests
    own = float(masses.own_bf[column])
    group: tuple[int, ...] = ()
    drifting, fixed = False, False
    # Only what leads or could be claimed is worth the exact look at every run.
    leads = masses.rank[column] >= masses.rank.max()
    if own > 0 and (masses.posterior[column] > LOOK or leads):
        alike = np.flatnonzero(
            (row.failed == row.failed[test]) & (row.passed == row.passed[test])
        ).astype(np.int32)
        group = identical(case.history, case.observations, index, test, alike)
        group = _open(case, index, test, group)
        drifting = _drifting(case, row, index, test)
        fixed = not shuffled(case.history, case.observations, index)
    return Standing(
        posterior=float(masses.posterior[column]),
        own=own,
        best=float(np.max(masses.own_bf)),
        traced=_traced(case, row, index, column, own),
        n_failed=row.n_failed,
        n_passed=row.n_passed,
        explained=_explained(row, column),
        q_value=float(masses.q_values[column]),
        group=group,
        drifting=drifting,
        fixed=fixed,
        regressed=row.free[Story.REGRESSION] > row.free[Story.FLAKE],
    )


def _explained(row: Row, column: int) -> float:
    """Share of the outcomes to explain that came after the candidate."""
    setter, test = divmod(column, len(row.failed))
    after = row.passed[test] if setter else row.failed[test]
    return float(after) / max(row.n_passed if setter else row.n_failed, 1)


def _open(case: Case, index: int, test: int, group: tuple[int, ...]) -> tuple[int, ...]:
    """The group without the test itself and what a replay cleared."""
    victim = int(case.observations.tests[index])
    out = case.beliefs.refuted.get(victim, frozenset()) | {victim}
    left = tuple(one for one in group if one not in out)
    return left if len(left) > 1 else ()


def _drifting(case: Case, row: Row, index: int, test: int) -> bool:
    if len(np.unique(row.outcomes.commit)) < 2:
        return False
    one = np.array([test], dtype=np.int32)
    return drifts(before_vectors(case.history, case.observations, index, one)[:, 0])


def _traced(case: Case, row: Row, index: int, column: int, own: float) -> float:
    """Own evidence from recorded orders alone; the same when all are recorded."""
    if case.around.all_traced or own <= OWN_BF:
        return own
    counts = count(case.history, case.observations, index, traced=True)
    setter = column >= case.history.n_tests
    evidence = weigh(counts, setter=setter).evidence[column % case.history.n_tests]
    return float(evidence - flake(counts.n_failed, counts.n_passed))
