"""Formulas against hand-worked values and against scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from analysis.betas import log_marginal, log_mean
from analysis.counts import EDGES, bin_of, bins_for, centre_of, count
from analysis.decay import (
    BASE_WEIGHTS,
    BASES,
    HAZARDS,
    WEIGHTS,
    Q,
    depth_of,
    lives_for,
    weigh,
)
from analysis.groups import drifts
from analysis.history import History, State, make_run
from analysis.observations import observe
from analysis.sceptic import (
    Table,
    adjusted,
    benjamini_hochberg,
    exact,
    fisher,
    table_of,
    upper_tail,
)
from analysis.stories import flake

P, F = State.PASSED, State.FAILED


def _history(runs):
    """Each run: a list of test numbers, V = 0 last one with its state."""
    made = [make_run([[(t, P) for t in ahead] + [(0, state)]]) for ahead, state in runs]
    return History(runs=tuple(made), n_tests=6)


def _counts(history):
    return count(history, observe(history, np.array([0], dtype=np.int32)), 0)


def test_the_marginal_of_two_failures_and_one_pass_is_the_beta_integral():
    # ∫ p² (1 - p) dp over a uniform rate = B(3, 2) = 2! 1! / 4! = 1/12
    assert math.isclose(math.exp(log_marginal(2, 1, a=1, b=1)), 1 / 12)


@pytest.mark.parametrize(("failed", "passed"), [(0, 5), (3, 7), (20, 20)])
def test_the_marginal_agrees_with_scipys_beta_binomial(failed, passed):
    n = failed + passed
    expected = stats.betabinom.logpmf(failed, n, 1, 9) - math.log(math.comb(n, failed))
    assert math.isclose(log_marginal(failed, passed, a=1, b=9), expected)


def test_the_flake_mixes_a_rare_and_an_open_rate():
    # one failure: .7 · 1/10 + .3 · 1/2 = .22
    assert math.isclose(math.exp(flake(1, 0)), 0.22)


def test_log_mean_weighs_and_survives_minus_infinity():
    logs = np.log(np.array([0.5, 0.1]))
    assert math.isclose(math.exp(log_mean(logs, np.array([0.25, 0.75]))), 0.2)
    assert log_mean(np.array([-np.inf, -np.inf]), np.array([0.5, 0.5])) == -np.inf


def test_bins_are_exact_up_to_eight_and_cover_every_distance():
    bins = bin_of(100)
    assert [int(b) for b in bins[1:9]] == list(range(8))
    assert np.all(np.diff(bins[1:]) >= 0)
    assert bins_for(8) == 8
    assert np.all(EDGES[bins[1:]] <= np.arange(1, 101))
    assert list(centre_of(3)) == [1.0, 2.0, 3.0]


def test_one_pair_by_hand():
    # L = 1 runs two tests before V and V fails; once L is absent and V passes.
    counts = _counts(_history([([1, 2], F), ([3, 4], P)]))
    depth = 2.0
    total = 0.0
    for hazard in HAZARDS:
        for base, weight in zip(BASES, BASE_WEIGHTS, strict=True):
            harmed = base + (1 - base) * Q * math.exp(-hazard * 2 / depth)
            total += weight / len(HAZARDS) * harmed * (1 - base)
    assert depth_of(counts) == depth
    assert math.isclose(weigh(counts).evidence[1], math.log(total), rel_tol=1e-5)


def test_a_candidate_that_never_ran_before_explains_as_a_constant_rate():
    counts = _counts(_history([([1, 2], F), ([3, 4], P)]))
    expected = math.log(sum(WEIGHTS * np.tile(BASES * (1 - BASES), len(HAZARDS))))
    assert math.isclose(weigh(counts).evidence[5], expected, rel_tol=1e-5)


def test_a_setter_is_the_mirror_image_of_a_leaker():
    runs = [([1, 2], F), ([3, 4], P), ([2, 1], F)]
    flipped = [(ahead, P if state is F else F) for ahead, state in runs]
    as_leaker = weigh(_counts(_history(runs))).evidence
    as_setter = weigh(_counts(_history(flipped)), setter=True).evidence
    np.testing.assert_allclose(as_leaker, as_setter, rtol=1e-6)


def test_the_harm_lives_for_depth_over_hazard():
    assert lives_for(3.0, 36.0) == 12.0
    assert lives_for(0.2, 36.0) is None


def test_the_table_counts_runs_by_outcome_and_by_who_came_before():
    history = _history([([1], F), ([1], F), ([1, 2], P), ([2], P), ([3], F)])
    assert table_of(_counts(history), 1) == Table(2, 1, 1, 1)
    assert table_of(_counts(history), 5) == Table(0, 0, 3, 2)


def test_fisher_agrees_with_scipy_on_every_small_table():
    for a, b, c, d in itertools.product(range(5), repeat=4):
        n, total = a + b + c + d, a + c
        tail = upper_tail(np.array([a]), np.array([a + b]), total, n)[0]
        expected = stats.fisher_exact([[a, b], [c, d]], alternative="greater").pvalue
        assert math.isclose(tail, expected, rel_tol=1e-9, abs_tol=1e-12)


def test_fisher_of_a_history_by_hand():
    # L = 1 before both failures and neither pass: 1 / C(4, 2) = 1/6
    history = _history([([1], F), ([1], F), ([2], P), ([2], P)])
    counts = _counts(history)
    assert math.isclose(exact(table_of(counts, 1)), 1 / 6)
    assert math.isclose(exact(table_of(counts, 2), setter=True), 1 / 6)
    assert math.isclose(exact(table_of(counts, 2)), 1.0)
    assert fisher(counts)[2] == 1.0


@pytest.mark.parametrize("setter", [False, True])
def test_fisher_of_all_candidates_is_exact_wherever_it_is_small(setter):
    rng = np.random.default_rng(3)
    runs = []
    for _ in range(30):
        ahead = [int(t) for t in rng.permutation(np.arange(1, 6))[: rng.integers(6)]]
        runs.append((ahead, F if 2 in ahead or rng.random() < 0.1 else P))
    counts = _counts(_history(runs))
    found = fisher(counts, setter=setter)
    for test in range(1, 6):
        p_value = exact(table_of(counts, test), setter=setter)
        assert p_value >= 0.05 or math.isclose(found[test], p_value, rel_tol=1e-9)
    assert (min(found[1:]) < 0.05) is not setter


def test_benjamini_hochberg_by_hand_and_by_scipy():
    p_values = np.array([0.01, 0.04, 0.03, 0.5])
    # sorted .01 .03 .04 .5 times 4/rank: .04 .06 .0533 .5, then least from the right
    expected = [0.04, 0.16 / 3, 0.16 / 3, 0.5]
    np.testing.assert_allclose(benjamini_hochberg(p_values), expected)
    np.testing.assert_allclose(
        benjamini_hochberg(p_values), stats.false_discovery_control(p_values)
    )


def test_q_values_of_all_tests_are_one_family():
    rng = np.random.default_rng(4)
    rows = [rng.random(50).astype(np.float32) ** 6 for _ in range(3)]
    together = benjamini_hochberg(np.concatenate(rows).astype(np.float64))
    found = np.concatenate(adjusted(rows))
    small = np.concatenate(rows) < 0.05
    assert small.any()
    # Above .05 the bound is 1, so a q-value may only be larger than the exact one.
    assert np.all(found >= together - 1e-6)
    exact = small & (together < 0.05)
    np.testing.assert_allclose(found[exact], together[exact], rtol=1e-5)


def _chance_of_so_few_runs(before):
    """By enumeration of all arrangements."""
    n, ones = len(before), sum(before)

    def runs(bits):
        return 1 + sum(a != b for a, b in itertools.pairwise(bits))

    found = [
        runs([i in chosen for i in range(n)])
        for chosen in itertools.combinations(range(n), ones)
    ]
    return sum(one <= runs(before) for one in found) / len(found)


@pytest.mark.parametrize(
    "before",
    [
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
        [0, 1, 0, 1, 1, 0, 1, 0, 0, 1],
        [0, 0, 0, 1, 1, 1, 1, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    ],
    ids=["step", "shuffled", "stretch", "short", "ends"],
)
def test_drift_is_the_exact_runs_test(before):
    expected = _chance_of_so_few_runs(before) < 0.02
    assert drifts(np.array(before, dtype=bool)) is expected


def test_a_before_vector_that_never_changes_drifts():
    assert drifts(np.ones(5, dtype=bool))
