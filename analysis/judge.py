"""The judgement of unstable tests over competing stories, alone or together.

`judge_all` is the one entry: it weighs every candidate of every wanted test, lets
the victims of one leaker support each other, and hands back one `Judgement` a test.

Guarantees: the same history gives the same judgement in any order of tests and under
any numbering; each test's posteriors sum to one; labels, clocks and random numbers
are not read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from analysis.catalogue import RANKING, Pool, claim_threshold, pool
from analysis.claims import OWN_BF, POSTERIOR, Standing, decide
from analysis.classes import classify, missing_for
from analysis.cleaners import find_cleaners, passage, undone_by
from analysis.counts import Counts, count
from analysis.decay import depth_of, lives_for, weigh
from analysis.groups import before_vectors, drifts, identical
from analysis.history import Floats, History, Ints
from analysis.judgement import Candidate, Class, Judgement, Status
from analysis.observations import Observations, mixed, observe
from analysis.outcomes import Circumstances, Outcomes, circumstances, outcomes_of
from analysis.overlap import import_time, overlapping
from analysis.priors import STORY_PRIORS, Beliefs, Story, candidate_prior
from analysis.probes import propose
from analysis.sceptic import Table, adjusted, fisher
from analysis.stories import flake, order_free, repeats_of_a_cause, stretches

NAMED = 10  # candidates that are looked at closely
SUSPECTS = 3  # listed beside the claims
_TIERS = {Status.PROVEN: 0, Status.CONFIRMED: 1}
LOOK = 0.3  # posterior from which a second candidate is compared run by run
_ORDER = (Story.VICTIM, Story.BRITTLE)


@dataclass(frozen=True, eq=False)
class Row:
    """Everything weighed about one test before the tests are looked at together.

    log_bf   (2 N,) float32, leakers then setters, against the flake
    hazard   (2 N,) float32, h of the decay
    failed, passed  (N,) observations with the candidate before
    free     log evidence × prior of the order-free stories, against the flake
    own      log evidence of all candidates under their priors
    """

    outcomes: Outcomes
    log_bf: np.ndarray[tuple[int], np.dtype[np.float32]]
    hazard: np.ndarray[tuple[int], np.dtype[np.float32]]
    failed: np.ndarray[tuple[int], np.dtype[np.float32]]
    passed: np.ndarray[tuple[int], np.dtype[np.float32]]
    p_values: np.ndarray[tuple[int], np.dtype[np.float32]]
    n_failed: int
    n_passed: int
    depth: float
    free: dict[Story, float]
    log_z: float


@dataclass(frozen=True, eq=False)
class Case:
    """The history with what was read from it once, and the beliefs."""

    history: History
    observations: Observations
    around: Circumstances
    beliefs: Beliefs


def judge(history: History, test: int, *, beliefs: Beliefs | None = None) -> Judgement:
    """Judge one test alone; `judge_all` also lets victims support each other."""
    wanted = np.array([test], dtype=np.int32)
    return judge_all(history, wanted, beliefs=beliefs)[0]


def judge_all(
    history: History, tests: Ints | None = None, *, beliefs: Beliefs | None = None
) -> tuple[Judgement, ...]:
    """Judge the wanted tests (default: all with both outcomes), in their order.

    tests  (T,) distinct test numbers. Cost: one pass over the executions before
    each test in its process, then a matrix product; memory 40 bytes × T × N.
    """
    wanted = mixed(history) if tests is None else np.asarray(tests, dtype=np.int32)
    case = Case(
        history=history,
        observations=observe(history, wanted),
        around=circumstances(history),
        beliefs=beliefs or Beliefs(),
    )
    rows = [_weigh(case, index) for index in range(len(wanted))]
    if not rows:
        return ()
    pooled = _pool(case, rows)
    q_values = adjusted([row.p_values for row in rows])
    return tuple(
        _conclude(case, rows[index], index, pooled, q_values[index])
        for index in range(len(rows))
    )


def _weigh(case: Case, index: int) -> Row:
    counts = count(case.history, case.observations, index)
    outcomes = outcomes_of(case.history, case.observations, index, case.around)
    ordered = flake(counts.n_failed, counts.n_passed)
    leaker, setter = weigh(counts), weigh(counts, setter=True)
    log_bf = np.concatenate((leaker.evidence, setter.evidence)) - ordered
    p_values = np.concatenate((fisher(counts), fisher(counts, setter=True)))
    test = int(case.observations.tests[index])
    log_bf[[test, test + case.history.n_tests]] = -np.inf
    free = _free(case, outcomes, index)
    return Row(
        outcomes=outcomes,
        log_bf=log_bf.astype(np.float32),
        hazard=np.concatenate((leaker.hazard, setter.hazard)).astype(np.float32),
        failed=counts.failed.sum(axis=0),
        passed=counts.passed.sum(axis=0),
        p_values=p_values.astype(np.float32),
        n_failed=counts.n_failed,
        n_passed=counts.n_passed,
        depth=depth_of(counts),
        free=free,
        log_z=_log_z(case, test, outcomes, free, log_bf),
    )


def _free(case: Case, outcomes: Outcomes, index: int) -> dict[Story, float]:
    """log prior × evidence of each order-free story, against the flake."""
    logs = order_free(outcomes)
    logs[Story.CROSS_WORKER] = np.logaddexp(
        logs[Story.CROSS_WORKER],
        overlapping(case.history, case.observations, index),
    )
    logs[Story.IMPORT] = import_time(case.history, case.observations, index)
    base = logs[Story.FLAKE]
    return {
        story: float(np.log(STORY_PRIORS[story]) + log - base)
        for story, log in logs.items()
    }


def _log_z(
    case: Case,
    test: int,
    outcomes: Outcomes,
    free: dict[Story, float],
    log_bf: Floats,
) -> float:
    """Evidence of all causes together under the victim's own prior."""
    own = _own(case, test, outcomes, log_bf)
    return float(logsumexp([*free.values(), float(logsumexp(own))]))


def _own(case: Case, test: int, outcomes: Outcomes, log_bf: Floats) -> Floats:
    """(2 N,) log prior × evidence of each candidate, against the flake."""
    parts = []
    for story in _ORDER:
        prior = candidate_prior(case.history, test, story, case.beliefs)
        with np.errstate(divide="ignore"):
            parts.append(np.log(prior * STORY_PRIORS[story]))
    return np.concatenate(parts) + log_bf + _steady(outcomes)


def _steady(outcomes: Outcomes) -> float:
    """What repeats in one process say for any lasting cause, against the flake."""
    again = outcomes.repeats
    first = flake(outcomes.n_failed, outcomes.n_passed)
    failed = outcomes.n_failed + again.failed_again + again.failed_later
    passed = outcomes.n_passed + again.passed_again + again.passed_later
    return repeats_of_a_cause(again) + float(first - flake(failed, passed))


@dataclass(frozen=True, eq=False)
class Pools:
    """The same victims pooled twice: strictly for claims, freely for the ranking."""

    claims: Pool
    ranking: Pool


def _pool(case: Case, rows: list[Row]) -> Pools:
    known: dict[int, tuple[Floats, tuple[int, ...]]] = {}

    def enrich(column: int, members: Floats) -> tuple[Floats, tuple[int, ...]]:
        if column not in known:
            known[column] = _enrich(case, rows, column, members)
        return known[column]

    steady = np.array([_steady(row.outcomes) for row in rows], dtype=np.float32)
    log_bf = np.stack([row.log_bf for row in rows]) + steady[:, None]
    log_z = np.array([row.log_z for row in rows])
    strict = claim_threshold(case.history.n_tests)
    return Pools(
        claims=pool(log_bf, log_z, threshold=strict, enrich=enrich),
        ranking=pool(log_bf, log_z, threshold=min(RANKING, strict), enrich=enrich),
    )


def _enrich(
    case: Case, rows: list[Row], column: int, members: Floats
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


def _conclude(
    case: Case, row: Row, index: int, pooled: Pools, q_values: Floats
) -> Judgement:
    test = int(case.observations.tests[index])
    logs = _own(case, test, row.outcomes, row.log_bf.astype(np.float64))
    own_bf = row.log_bf.astype(np.float64)
    cleaners: dict[int, tuple[int, ...]] = {}
    masses = Masses(
        posterior=_spread(logs, pooled.claims, index),
        rank=_spread(logs, pooled.ranking, index),
        own_bf=own_bf,
        q_values=q_values,
        cleaners=cleaners,
    )
    for entry, share in zip(
        pooled.claims.entries, pooled.claims.shares[index], strict=True
    ):
        if share > 0.5:
            own_bf[entry.column] = entry.log_bf[index]
            cleaners[entry.column] = entry.cleaners
    shift = np.log(pooled.claims.scale[index]) - pooled.claims.log_z[index]
    stories = {story: float(np.exp(log + shift)) for story, log in row.free.items()}
    n_tests = case.history.n_tests
    stories[Story.VICTIM] = float(masses.posterior[:n_tests].sum())
    stories[Story.BRITTLE] = float(masses.posterior[n_tests:].sum())
    return _assembled(case, row, index, stories, masses)


def _spread(logs: Floats, pooled: Pool, index: int) -> Floats:
    """(2 N,) posterior of each candidate: its own part and its catalogue part."""
    shift = np.log(pooled.scale[index]) - pooled.log_z[index]
    posterior = np.exp(logs + shift)
    for entry, share in zip(pooled.entries, pooled.shares[index], strict=True):
        posterior[entry.column] += share
    return posterior


def _assembled(
    case: Case, row: Row, index: int, stories: dict[Story, float], masses: Masses
) -> Judgement:
    test = int(case.observations.tests[index])
    candidates = _candidates(case, row, index, masses)
    cls = classify(stories, row.outcomes, candidates)
    return Judgement(
        test=test,
        cls=cls,
        stories=stories,
        candidates=candidates,
        n_failed=row.outcomes.n_failed,
        n_passed=row.outcomes.n_passed,
        same_commit=row.outcomes.same_commit,
        probe=propose(case.history, test, row.outcomes, candidates, masses.rank),
        missing=missing_for(cls, row.outcomes, candidates, ordered=bool(row.n_failed)),
        stretch=_stretch(row.outcomes) if cls is Class.REGRESSION else None,
    )


def _stretch(outcomes: Outcomes) -> tuple[int, int] | None:
    pairs, logs = stretches(outcomes)
    if not len(logs):
        return None
    commits = np.unique(outcomes.commit)
    first, last = pairs[int(np.argmax(logs))]
    return int(commits[first]), int(commits[last])


def _candidates(
    case: Case, row: Row, index: int, masses: Masses
) -> tuple[Candidate, ...]:
    """Proven first, then claims, then the three best of the rest."""
    test = int(case.observations.tests[index])
    n_tests = case.history.n_tests
    proven = {
        leaker + (n_tests if story is Story.BRITTLE else 0)
        for leaker, story in case.beliefs.proven.get(test, {}).items()
    }
    columns = [*sorted(proven), *(c for c in _best(masses) if c not in proven)]
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
    return Candidate(
        test=column % n_tests,
        story=Story.BRITTLE if column >= n_tests else Story.VICTIM,
        posterior=float(masses.posterior[column]),
        rank=float(masses.rank[column]),
        log_bf=float(masses.own_bf[column]),
        table=_table(row, column % n_tests),
        p_value=float(row.p_values[column]),
        q_value=float(masses.q_values[column]),
        lives_for=lives_for(float(row.hazard[column]), row.depth),
        status=status,
        doubts=doubts,
        group=standing.group,
        cleaners=masses.cleaners.get(column, ()),
    )


def _best(masses: Masses) -> list[int]:
    """Columns by rank, ties by own evidence: by nothing but the data."""
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
    drifting = False
    # Only what leads or could be claimed is worth the exact look at every run.
    leads = masses.rank[column] >= masses.rank.max()
    if own > 0 and (masses.posterior[column] > LOOK or leads):
        alike = np.flatnonzero(
            (row.failed == row.failed[test]) & (row.passed == row.passed[test])
        ).astype(np.int32)
        group = identical(case.history, case.observations, index, test, alike)
        group = _open(case, index, test, group)
        drifting = _drifting(case, row, index, test)
    return Standing(
        posterior=float(masses.posterior[column]),
        own=own,
        best=float(np.max(masses.own_bf)),
        traced=_traced(case, row, index, column, own),
        n_failed=row.n_failed,
        n_passed=row.n_passed,
        group=group,
        drifting=drifting,
        regressed=row.free[Story.REGRESSION] > row.free[Story.FLAKE],
    )


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
    counts: Counts = count(case.history, case.observations, index, traced=True)
    setter = column >= case.history.n_tests
    evidence = weigh(counts, setter=setter).evidence[column % case.history.n_tests]
    return float(evidence - flake(counts.n_failed, counts.n_passed))
