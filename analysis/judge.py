"""The judgement of unstable tests over competing stories, alone or together.

`judge_all` is the one entry: it weighs every candidate of every wanted test, lets
the victims of one leaker support each other, and hands back one `Judgement` a test.

Guarantees: the same history gives the same judgement in any order of tests and under
any numbering; each test's posteriors sum to one; labels, clocks and random numbers
are not read.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analysis.catalogue import Pool
from analysis.classes import ENOUGH, classify, missing_for
from analysis.history import Floats, History, Ints
from analysis.judgement import Class, Judgement
from analysis.naming import Masses, name_candidates
from analysis.observations import Observations, mixed, observe
from analysis.outcomes import Outcomes, circumstances
from analysis.pooling import Pools, pool_rows
from analysis.priors import Beliefs, Story
from analysis.probes import propose
from analysis.sceptic import adjusted
from analysis.shares import FREE
from analysis.stories import stretches
from analysis.weighing import Case, Row, own_parts, weigh_row

SHARED = 0.9  # of the order posterior, for a file to be named instead of a test


def judge(history: History, test: int, *, beliefs: Beliefs | None = None) -> Judgement:
    """Judge one test alone; `judge_all` also lets victims support each other."""
    wanted = np.array([test], dtype=np.int32)
    return judge_all(history, wanted, beliefs=beliefs)[0]


def judge_all(
    history: History,
    tests: Ints | None = None,
    *,
    beliefs: Beliefs | None = None,
    seen: Observations | None = None,
    weigh: Callable[[Case, int], Row] = weigh_row,
) -> tuple[Judgement, ...]:
    """Judge the wanted tests (default: all with both outcomes), in their order.

    seen   what counts of them (`settled`), where not all observations do
    weigh  gives the same as `weigh_row`, perhaps from memory
    tests  (T,) distinct test numbers. Cost: one pass over the executions before
    each test in its process, then a matrix product; memory 40 bytes × T × N.
    """
    wanted = mixed(history) if tests is None else np.asarray(tests, dtype=np.int32)
    case = Case(
        history=history,
        observations=observe(history, wanted) if seen is None else seen,
        around=circumstances(history),
        beliefs=beliefs or Beliefs(),
    )
    rows = [weigh(case, index) for index in range(len(wanted))]
    if not rows:
        return ()
    pooled = pool_rows(case, rows)
    q_values = adjusted([row.p_values for row in rows])
    return tuple(
        _conclude(case, rows[index], index, pooled, q_values[index])
        for index in range(len(rows))
    )


def _conclude(
    case: Case, row: Row, index: int, pooled: Pools, q_values: Floats
) -> Judgement:
    test = int(case.observations.tests[index])
    logs = own_parts(case, test, row.outcomes, row.log_bf.astype(np.float64))
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
    told = np.exp(pooled.told[index] + shift)
    stories = {story: float(mass) for story, mass in zip(FREE, told, strict=True)}
    n_tests = case.history.n_tests
    stories[Story.VICTIM] = float(masses.posterior[:n_tests].sum())
    stories[Story.BRITTLE] = float(masses.posterior[n_tests:].sum())
    return _assembled(case, row, index, stories, masses)


def _spread(logs: Floats, pooled: Pool, index: int) -> Floats:
    """(2 N,) posterior of each candidate: its own part and its catalogue part."""
    shift = np.log(pooled.scale[index]) - pooled.log_z[index]
    posterior: Floats = np.exp(logs + shift)
    for entry, share in zip(pooled.entries, pooled.shares[index], strict=True):
        posterior[entry.column] += share
    return posterior


def _assembled(
    case: Case, row: Row, index: int, stories: dict[Story, float], masses: Masses
) -> Judgement:
    test = int(case.observations.tests[index])
    candidates = name_candidates(case, row, index, masses)
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
        file=_file(case.history, masses.posterior),
        stretch=_stretch(row.outcomes) if cls is Class.REGRESSION else None,
    )


def _file(history: History, posterior: Floats) -> int | None:
    """The file that holds nearly all of the order posterior, split over its tests."""
    total = float(posterior.sum())
    if history.files is None or total < ENOUGH or posterior.max() > total / 2:
        return None
    mass = posterior[: history.n_tests] + posterior[history.n_tests :]
    by_file = np.bincount(history.files, weights=mass)
    best = int(np.argmax(by_file))
    return best if len(by_file) > 1 and by_file[best] > SHARED * total else None


def _stretch(outcomes: Outcomes) -> tuple[int, int] | None:
    pairs, logs = stretches(outcomes)
    if not len(logs):
        return None
    commits = np.unique(outcomes.commit)
    first, last = pairs[int(np.argmax(logs))]
    return int(commits[first]), int(commits[last])
