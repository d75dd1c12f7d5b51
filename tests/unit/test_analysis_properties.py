"""What must hold for every history, whatever it contains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.counts import count
from analysis.decay import weigh
from analysis.fixed import proof
from analysis.flaky import rate_of
from analysis.history import History, Run, State, make_run
from analysis.judge import judge, judge_all
from analysis.observations import observe
from analysis.stories import flake
from tests.histories import Leak, World, simulate

P, F = State.PASSED, State.FAILED
LEAK = Leak(leakers=(3,), victims=(20, 21, 22), cleaners=(7,))
SETTER = Leak(leakers=(5, 6), victims=(24,), setter=True)
WORLD = World(n_tests=40, leaks=(LEAK, SETTER), flakes={30: 0.3})


def _history(seed, runs=24, processes=1):
    return simulate(
        WORLD, np.random.default_rng(seed), runs=runs, processes=processes, noise=0.02
    )


def _renumbered(history, permutation):
    """Test t is called permutation[t]."""
    back = np.argsort(permutation)
    runs = tuple(
        Run(
            tests=permutation[r.tests].astype(np.int32),
            states=r.states,
            offsets=r.offsets,
        )
        for r in history.runs
    )
    return History(
        runs=runs,
        n_tests=history.n_tests,
        files=history.files[back],
        folders=history.folders[back],
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_permutation_of_test_numbers_changes_nothing(seed):
    history = _history(seed, processes=2)
    permutation = np.random.default_rng(seed + 50).permutation(40).astype(np.int32)
    plain = {one.test: one for one in judge_all(history)}
    renamed = {one.test: one for one in judge_all(_renumbered(history, permutation))}
    assert {int(permutation[test]) for test in plain} == set(renamed)
    for test, one in plain.items():
        other = renamed[int(permutation[test])]
        assert one.cls is other.cls
        for story, mass in one.stories.items():
            assert other.stories[story] == pytest.approx(mass, abs=1e-5)
        ours = {(int(permutation[c.test]), c.status) for c in one.claims}
        assert ours == {(c.test, c.status) for c in other.claims}
        best = [round(c.rank, 4) for c in one.candidates]
        assert best == pytest.approx([c.rank for c in other.candidates], abs=2e-4)


def test_the_order_of_runs_of_one_commit_changes_nothing():
    history = _history(4)
    turned = History(
        runs=history.runs[::-1],
        n_tests=40,
        files=history.files,
        folders=history.folders,
    )
    for one, other in zip(judge_all(history), judge_all(turned), strict=True):
        assert one.cls is other.cls
        assert [c.test for c in one.claims] == [c.test for c in other.claims]
        for story, mass in one.stories.items():
            assert other.stories[story] == pytest.approx(mass, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("processes", [1, 2, 4])
def test_posteriors_sum_to_one(seed, processes):
    judged = judge_all(_history(seed, processes=processes))
    assert judged
    for one in judged:
        assert sum(one.stories.values()) == pytest.approx(1.0, abs=1e-4)
        assert all(0.0 <= mass <= 1.0 + 1e-6 for mass in one.stories.values())
        assert sum(c.posterior for c in one.candidates) <= 1.0 + 1e-4


def _evidence(history, victim, *, setter=False):
    counts = count(history, observe(history, np.array([victim], dtype=np.int32)), 0)
    flat = flake(counts.n_failed, counts.n_passed)
    return weigh(counts, setter=setter).evidence - flat


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("setter", [False, True])
def test_a_bystander_that_runs_last_changes_no_other_row(seed, setter):
    history = _history(seed)
    grown = tuple(
        Run(
            tests=np.append(r.tests, np.int32(40)),
            states=np.append(r.states, np.int8(P)),
            offsets=np.array([0, len(r.tests) + 1], dtype=np.int32),
        )
        for r in history.runs
    )
    wider = History(runs=grown, n_tests=41)
    before = _evidence(history, 20, setter=setter)
    after = _evidence(wider, 20, setter=setter)
    np.testing.assert_allclose(after[:40], before, atol=1e-4)


def _pair_run(ahead, state):
    """L = 1 directly before V = 0, or not at all."""
    others = [(2, P), (3, P)]
    return make_run([[*others, *([(1, P)] if ahead else [(4, P)]), (0, state)]])


@given(
    good=st.integers(1, 12),
    bad=st.integers(1, 12),
    more=st.lists(st.booleans(), min_size=1, max_size=6),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_more_evidence_of_the_same_kind_never_weakens_a_true_pair(good, bad, more):
    runs = [_pair_run(True, F)] * bad + [_pair_run(False, P)] * good
    strength = _evidence(History(runs=tuple(runs), n_tests=5), 0)[1]
    for harmed in more:
        runs.append(_pair_run(harmed, F if harmed else P))
        grown = _evidence(History(runs=tuple(runs), n_tests=5), 0)[1]
        assert grown >= strength - 1e-3
        strength = grown


@pytest.mark.parametrize("setter", [False, True])
def test_a_true_pair_becomes_a_claim_and_stays_one(setter):
    leak = Leak(leakers=(3,), victims=(20,), setter=setter)
    world = World(n_tests=40, leaks=(leak,))
    history = simulate(world, np.random.default_rng(11), runs=80)
    claimed = []
    for size in range(10, 81, 10):
        part = History(runs=history.runs[:size], n_tests=40)
        claimed.append([c.test for c in judge(part, 20).claims])
    assert claimed[-4:] == [[3]] * 4
    assert all(one in ([], [3]) for one in claimed)


@given(events=st.integers(0, 200), extra=st.integers(0, 200))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_an_interval_holds_its_mean_and_narrows(events, extra):
    trials = events + extra
    rate = rate_of(events, trials)
    assert 0.0 <= rate.low <= rate.mean <= rate.high <= 1.0
    if trials:
        wider = rate_of(events, trials, level=0.99)
        assert wider.low <= rate.low
        assert wider.high >= rate.high


@given(
    events=st.integers(1, 30),
    extra=st.integers(0, 100),
    relevant=st.integers(1, 200),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_more_passes_make_a_fix_surer(events, extra, relevant):
    def at(n):
        return proof(
            old_events=events, old_trials=events + extra, relevant=n, failures=0
        )

    assert at(relevant + 1).chance <= at(relevant).chance
    assert at(relevant + 1).new_high <= at(relevant).new_high
