"""Generated histories of every kind, judged whole: what is named, what is claimed."""

from __future__ import annotations

from typing import Any  # keyword options of the generator

import numpy as np
import pytest

from analysis.history import History, Run, State, make_run
from analysis.judge import judge, judge_all
from analysis.judgement import Class, Status
from analysis.priors import (
    GATE_FACTOR,
    STORY_PRIORS,
    Beliefs,
    Story,
    candidate_prior,
)
from tests.histories import Leak, Order, World, scattered, simulate

P, F = State.PASSED, State.FAILED
KINDS: dict[str, dict[str, Any]] = {
    "single": {"leaks": 6},
    "many_victims": {"leaks": 3, "victims": 6},
    "alternatives": {"leaks": 5, "leakers": 2},
    "brittle": {"leaks": 5, "setter": True},
    "cleaned": {"leaks": 2, "victims": 8, "cleaners": 4},
    "brittle_cleaned": {"leaks": 2, "victims": 6, "cleaners": 3, "setter": True},
}


def _score(world, judged):
    """Of the order-dependent tests: how many named right, claimed right, wrong."""
    named = right = wrong = total = 0
    for one in judged:
        causes = world.causes(one.test)
        claims = {claim.test for claim in one.claims}
        wrong += bool(claims - causes)
        if causes:
            total += 1
            named += one.candidates[0].test in causes
            right += bool(claims & causes)
    return named, right, wrong, total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
def test_kinds_are_named_and_no_claim_is_wrong(kind, noise):
    rng = np.random.default_rng([9, len(kind)])
    world = scattered(300, rng, **KINDS[kind])
    history = simulate(world, rng, runs=60, processes=2, noise=noise)
    named, right, wrong, total = _score(world, judge_all(history))
    assert total > 0
    assert wrong == 0
    # Unrelated failures in a tenth of the runs blur far leakers, not near ones.
    assert named >= total * (0.6 if noise == 0.1 else 0.8)
    assert right >= total * (0.2 if noise == 0.1 else 0.4)


@pytest.mark.parametrize("processes", [1, 3, 8])
def test_processes_dilute_and_never_mislead(processes):
    rng = np.random.default_rng(21)
    world = scattered(200, rng, leaks=5, victims=3)
    history = simulate(world, rng, runs=60, processes=processes)
    named, _, wrong, total = _score(world, judge_all(history))
    assert wrong == 0
    assert named >= 0.7 * total


def test_two_leakers_of_one_victim_are_both_found():
    world = World(n_tests=60, leaks=(Leak(leakers=(3, 40), victims=(20,)),))
    history = simulate(world, np.random.default_rng(3), runs=120, processes=4)
    found = judge(history, 20)
    assert {one.test for one in found.candidates[:2]} == {3, 40}


def test_a_gate_finding_lifts_the_right_candidate():
    rng = np.random.default_rng(13)
    world = scattered(2000, rng, leaks=10)
    history = simulate(world, rng, runs=14, processes=4)
    flagged = np.where(rng.random(2000) < 0.005, GATE_FACTOR, 1.0)
    for leak in world.leaks:
        flagged[list(leak.leakers)] = GATE_FACTOR
    plain, _, _, total = _score(world, judge_all(history))
    gated, _, _, _ = _score(world, judge_all(history, beliefs=Beliefs(gate=flagged)))
    assert gated > plain
    assert gated >= 0.8 * total


def test_the_priors_are_one_belief():
    assert sum(STORY_PRIORS.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("n_tests", [40, 600])
@pytest.mark.parametrize("story", [Story.VICTIM, Story.BRITTLE])
def test_the_prior_of_candidates_sums_to_one_and_leaves_out_the_victim(n_tests, story):
    world = World(n_tests=n_tests)
    history = History(
        runs=(), n_tests=n_tests, files=world.files, folders=world.folders
    )
    gate = np.ones(n_tests)
    gate[[5, n_tests - 1]] = GATE_FACTOR
    beliefs = Beliefs(gate=gate, refuted={7: frozenset({8})}, named={7: {9: 10.0}})
    prior = candidate_prior(history, 7, story, beliefs)
    assert prior.sum() == pytest.approx(1.0)
    assert prior[7] == prior[8] == 0.0
    # Gates miss leaks, so what they flagged never holds more than six tenths.
    assert prior[[5, 9, n_tests - 1]].sum() <= 0.6 + 1e-9
    if n_tests >= 500:
        assert prior[10] > 50 * prior[300]


def test_an_environment_that_alone_fails_is_named():
    rng = np.random.default_rng(2)
    runs = []
    for index in range(40):
        place = index % 4
        tests = rng.permutation(20)
        rows = [(int(t), F if t == 7 and place == 3 else P) for t in tests]
        runs.append(make_run([rows], environment=place))
    found = judge(History(runs=tuple(runs), n_tests=20), 7)
    assert found.cls is Class.ENVIRONMENT
    assert found.claims == ()


def test_a_test_that_fails_late_whatever_ran_is_a_place():
    rng = np.random.default_rng(4)
    runs = []
    for _ in range(80):
        tests = [int(t) for t in rng.permutation(100)]
        late = tests.index(7) >= 75
        runs.append(make_run([[(t, F if t == 7 and late else P) for t in tests]]))
    found = judge(History(runs=tuple(runs), n_tests=100), 7)
    assert found.cls is Class.PLACE
    assert found.claims == ()


def test_a_regression_says_since_when():
    rng = np.random.default_rng(6)
    world = World(n_tests=50, regressions={7: (12, 30)})
    found = judge(simulate(world, rng, runs=30, commits=30), 7)
    assert found.cls is Class.REGRESSION
    assert found.stretch == (12, 29)


def test_a_flake_needs_both_outcomes_on_one_commit():
    world = World(n_tests=50, flakes={7: 0.3})
    same = simulate(world, np.random.default_rng(7), runs=40)
    assert judge(same, 7).cls is Class.FLAKY
    apart = simulate(world, np.random.default_rng(7), runs=40, commits=40)
    found = judge(apart, 7)
    assert found.cls is Class.UNEXPLAINED
    assert found.missing


@pytest.mark.parametrize("processes", [1, 4])
def test_a_kept_order_confirms_nothing(processes):
    rng = np.random.default_rng(5)
    world = scattered(300, rng, leaks=5, victims=3)
    world = World(
        n_tests=300, leaks=world.leaks, flakes=dict.fromkeys(range(0, 300, 23), 0.1)
    )
    history = simulate(world, rng, runs=50, processes=processes, order=Order.FIXED)
    assert all(one.claims == () for one in judge_all(history))


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5])
def test_independent_flakes_are_never_charged_to_anyone(rate):
    world = World(n_tests=400, flakes=dict.fromkeys(range(0, 400, 10), rate))
    history = simulate(world, np.random.default_rng(12), runs=40, processes=2)
    judged = judge_all(history)
    assert len(judged) >= 30
    assert all(one.claims == () for one in judged)


def test_a_judgement_alone_is_a_judgement():
    history = simulate(
        World(n_tests=30, leaks=(Leak(leakers=(3,), victims=(20,)),)),
        np.random.default_rng(1),
        runs=30,
    )
    found = judge(history, 20)
    best = found.candidates[0]
    assert (found.cls, best.test, best.status) == (Class.VICTIM, 3, Status.CONFIRMED)
    assert best.table.failed_after == found.n_failed
    assert best.table.passed_after == 0
    assert best.q_value >= best.p_value
    assert best.lives_for is None  # nothing undoes it
    assert found.probe is not None
    assert found.probe.tests == (3, 20)


def test_no_unstable_test_is_no_judgement():
    run = Run(
        tests=np.arange(5, dtype=np.int32),
        states=np.zeros(5, dtype=np.int8),
        offsets=np.array([0, 5], dtype=np.int32),
    )
    assert judge_all(History(runs=(run,) * 3, n_tests=5)) == ()
    assert judge_all(History(runs=(), n_tests=5)) == ()
