"""The traps of order dependence, each as a history that would catch a naive method.

Numbers are those of the research page. Not here, because they concern the client or
the stored identity of tests: 3 (recording at start), 16 (renames), 19 (what
verification resets), 21 (what pytest undoes itself), 22 (replays check their order).
"""

from __future__ import annotations

import numpy as np
import pytest

from analysis.counts import count
from analysis.history import (
    History,
    HistoryError,
    Run,
    State,
    keep_failures,
    make_run,
    state_of,
)
from analysis.judge import judge, judge_all
from analysis.judgement import Ask, Class, Doubt, Status
from analysis.observations import mixed, observe
from analysis.outcomes import circumstances, outcomes_of
from analysis.priors import Beliefs, Story
from analysis.sceptic import Table, table_of
from tests.histories import Leak, Order, World, scattered, simulate

P, F, U = State.PASSED, State.FAILED, State.UNOBSERVED


def _seen(history, test):
    return observe(history, np.array([test], dtype=np.int32))


def _table(history, victim, candidate):
    return table_of(count(history, _seen(history, victim), 0), candidate)


def _claims(judgements):
    return {(one.test, claim.test) for one in judgements for claim in one.claims}


def _simulated(world, *, seed=1, **options):
    return simulate(world, np.random.default_rng(seed), **options)


ONE_LEAK = World(n_tests=30, leaks=(Leak(leakers=(3,), victims=(20,)),))


def test_01_a_run_of_unknown_order_gives_outcomes_and_no_order_evidence():
    history = _simulated(ONE_LEAK, runs=30, known=False)
    found = judge(history, 20)
    assert found.n_failed > 0
    assert found.candidates == ()
    assert found.probe is not None
    assert found.probe.ask is Ask.TRACE


def test_01_an_assumed_order_suspects_and_never_confirms():
    known = _simulated(ONE_LEAK, runs=30)
    runs = tuple(
        Run(tests=r.tests, states=r.states, offsets=r.offsets, traced=False)
        for r in known.runs
    )
    assumed = History(runs=runs, n_tests=30)
    assert judge(known, 20).candidates[0].status is Status.CONFIRMED
    best = judge(assumed, 20).candidates[0]
    assert best.test == 3
    assert best.status is Status.SUSPECT
    assert Doubt.ASSUMED in best.doubts


def test_02_a_restarted_worker_is_another_process():
    history = History(runs=(make_run([[(1, P)], [(0, F)]]),), n_tests=2)
    assert _table(history, 0, 1) == Table(0, 0, 1, 0)


def test_02_forked_tests_have_no_order_between_them():
    forked = make_run([[(1, P)], [(2, P)], [(0, F)]])
    counts = count(
        History(runs=(forked,), n_tests=3),
        _seen(History(runs=(forked,), n_tests=3), 0),
        0,
    )
    assert counts.failed.sum() == 0


def test_04_failing_first_is_brittle_not_flaky_at_start_up():
    world = World(n_tests=30, leaks=(Leak(leakers=(3,), victims=(20,), setter=True),))
    found = judge(_simulated(world, runs=40), 20)
    assert found.cls is Class.BRITTLE
    assert (found.candidates[0].test, found.candidates[0].story) == (3, Story.BRITTLE)


def test_04_reruns_of_failures_are_not_mixed_with_whole_runs():
    whole = make_run([[(1, P), (0, P)]])
    rerun = Run(
        tests=np.array([0], dtype=np.int32),
        states=np.array([F], dtype=np.int8),
        offsets=np.array([0, 1], dtype=np.int32),
        whole=False,
    )
    history = History(runs=(whole, rerun), n_tests=2)
    assert list(_seen(history, 0).failed[0]) == [0, -1]


def _with_attempts(states, attempts):
    size = len(states)
    return Run(
        tests=np.array([1, *[0] * (size - 1)], dtype=np.int32),
        states=np.array(states, dtype=np.int8),
        offsets=np.array([0, size], dtype=np.int32),
        attempts=np.array(attempts, dtype=np.int8),
    )


def test_05_only_the_first_attempt_is_an_observation_of_order():
    history = History(runs=(_with_attempts([P, F, P], [1, 1, 2]),), n_tests=2)
    observations = _seen(history, 0)
    assert observations.failed[0, 0] == 1
    outcomes = outcomes_of(history, observations, 0, circumstances(history))
    assert outcomes.repeats.passed_again == 1
    assert outcomes.same_commit


def test_05_fails_on_its_own_second_run_is_a_self_polluter():
    runs = tuple(_with_attempts([P, P, F], [1, 1, 2]) for _ in range(12))
    found = judge(History(runs=runs, n_tests=2), 0)
    assert found.cls is Class.SELF_POLLUTER


def test_06_a_leaker_that_fails_or_stops_halfway_still_leaks():
    for state in (P, F, U):
        history = History(runs=(make_run([[(1, state), (2, P), (0, F)]]),), n_tests=9)
        assert _table(history, 0, 1).failed_after == 1


def test_06_skipped_by_a_marker_did_not_run():
    assert state_of("skipped", phase="setup") is None
    assert state_of("skipped", phase="call") is U
    assert state_of("error", phase="setup") is F


def test_07_a_leak_of_a_file_scoped_fixture_is_offered_as_the_file():
    # The fixture of file 0 is torn down after its last test, whichever that is.
    rng = np.random.default_rng(3)
    runs = []
    for _ in range(40):
        order = [
            10 * int(f) + int(t)
            for f in rng.permutation(4)
            for t in rng.permutation(10)
        ]
        harmed = order.index(0) < order.index(29)
        runs.append(make_run([[(t, F if harmed and t == 29 else P) for t in order]]))
    history = History(
        runs=tuple(runs), n_tests=40, files=(np.arange(40) // 10).astype(np.int32)
    )
    found = judge(history, 29)
    assert found.claims == ()
    assert found.candidates[0].group == tuple(range(10))
    assert found.file == 0


def test_08_a_leak_at_import_shows_in_what_was_collected():
    rng = np.random.default_rng(5)
    runs = []
    for _ in range(40):
        held = rng.random() < 0.5
        files = np.array([0, 1, 2] if held else [0, 1], dtype=np.int32)
        tests = rng.permutation(12).astype(np.int32)
        states = np.where((tests == 7) & held, F, P).astype(np.int8)
        offsets = np.array([0, 12], dtype=np.int32)
        runs.append(
            Run(tests=tests, states=states, offsets=offsets, collected=(files,))
        )
    found = judge(History(runs=tuple(runs), n_tests=12), 7)
    assert found.cls is Class.IMPORT
    assert found.claims == ()


def test_09_a_pass_after_the_leaker_does_not_clear_it_and_cleaners_are_not_leakers():
    leak = Leak(leakers=(3,), victims=tuple(range(20, 28)), cleaners=(5, 6, 7))
    history = _simulated(World(n_tests=60, leaks=(leak,)), runs=60)
    judged = judge_all(history)
    assert len(judged) == 8
    claims = [claim for one in judged for claim in one.claims]
    assert {claim.test for claim in claims} == {3}
    assert len(claims) >= 6
    passed_after = sum(claim.table.passed_after for claim in claims)
    failed_after = sum(claim.table.failed_after for claim in claims)
    assert passed_after > failed_after
    assert set(claims[0].cleaners) == {5, 6, 7}


def test_10_many_alternative_leakers_leave_no_false_claim():
    world = World(n_tests=60, leaks=(Leak(leakers=tuple(range(20)), victims=(50,)),))
    found = judge(_simulated(world, runs=60, processes=4), 50)
    assert {claim.test for claim in found.claims} <= set(range(20))
    assert found.candidates[0].test < 20


def test_11_a_pair_that_only_works_together_is_not_claimed_alone_early():
    leak = Leak(leakers=(3, 4), victims=(20,), partners=True)
    history = _simulated(World(n_tests=40, leaks=(leak,)), runs=80)
    found = judge(history, 20)
    assert {one.test for one in found.candidates[:2]} == {3, 4}
    assert all(one.posterior < 0.95 for one in found.candidates)


def test_12_absent_is_no_observation_for_v_and_not_before_for_l():
    history = History(
        runs=(make_run([[(1, P)]]), make_run([[(2, P), (0, P)]])), n_tests=3
    )
    assert _table(history, 0, 1) == Table(0, 0, 0, 1)


def test_13_a_regression_that_lands_with_a_new_test_is_confounded():
    # Fixed order, test 3 arrives with commit 10, and so does the regression of 8.
    runs = []
    for commit in range(20):
        tests = [t for t in range(12) if t != 3 or commit >= 10]
        failed = {8} if commit >= 10 else set()
        rows = [(t, F if t in failed else P) for t in tests]
        runs.append(make_run([rows], commit=commit))
    found = judge(History(runs=tuple(runs), n_tests=12), 8)
    assert found.claims == ()
    named = [one for one in found.candidates if one.test == 3]
    assert all(Doubt.CONFOUNDED in one.doubts for one in named[:1])
    assert found.cls in (Class.REGRESSION, Class.UNEXPLAINED)


@pytest.mark.parametrize("processes", [1, 4])
def test_13_drifting_fixed_orders_never_call_a_regression_order_dependent(processes):
    rng = np.random.default_rng(8)
    broken = {int(t): (int(rng.integers(10, 35)), 40) for t in rng.choice(300, 30)}
    world = World(n_tests=300, regressions=broken)
    history = simulate(
        world,
        rng,
        runs=40,
        processes=processes,
        order=Order.FIXED,
        commits=40,
        growth=30,
    )
    judged = judge_all(history)
    assert len(judged) >= 20
    assert _claims(judged) == set()
    assert {one.cls for one in judged} <= {Class.REGRESSION, Class.UNEXPLAINED}


def test_14_a_fixed_order_names_the_group_and_asks_for_a_shuffle():
    # Two workers, chunks kept: the first ten tests always go together.
    runs = []
    for index in range(30):
        harmed = index % 2 == 0
        ahead = range(10) if harmed else range(10, 20)
        behind = range(10, 20) if harmed else range(10)
        rows = [(t, P) for t in ahead] + [(20, F if harmed else P)]
        runs.append(make_run([rows, [(t, P) for t in behind]]))
    found = judge(History(runs=tuple(runs), n_tests=21), 20)
    assert found.claims == ()
    best = found.candidates[0]
    assert best.status is Status.INDISTINGUISHABLE
    # As leakers the ten of one chunk, as setters the ten of the other.
    assert set(best.group) in (set(range(10)), set(range(10, 20)))
    assert found.probe is not None
    assert found.probe.ask is Ask.SHUFFLE


def test_15_new_tests_that_move_chunks_are_innocent():
    world = scattered(300, np.random.default_rng(2), leaks=5, victims=2)
    history = _simulated(
        world, runs=40, processes=8, order=Order.FIXED, commits=40, growth=11
    )
    assert _claims(judge_all(history)) == set()


def test_17_a_repeated_test_counts_once_and_at_its_last_run():
    run = make_run([[(1, P), (2, P), (1, P), (0, F)]])
    history = History(runs=(run,), n_tests=3)
    counts = count(history, _seen(history, 0), 0)
    assert counts.failed[:, 1].sum() == 1
    assert counts.failed[0, 1] == 1  # directly before, not three before


def _cross_worker(seed, runs=40):
    """Test 5 fails while test 6 runs in the other worker; alone it passes."""
    rng = np.random.default_rng(seed)
    made = []
    for index in range(runs):
        order = rng.permutation(40).astype(np.int32)
        groups = [order] if index % 2 else [order[::2], order[1::2]]
        tests = np.concatenate(groups)
        starts = np.concatenate([np.arange(len(g)) for g in groups]).astype(float)
        begin = {int(t): s for t, s in zip(tests, starts, strict=True)}
        apart = len(groups) == 2 and (5 in groups[0]) != (6 in groups[0])
        harmed = apart and abs(begin[5] - begin[6]) <= 6
        states = np.where((tests == 5) & harmed, F, P).astype(np.int8)
        offsets = np.cumsum([0, *[len(g) for g in groups]]).astype(np.int32)
        made.append(
            Run(
                tests=tests,
                states=states,
                offsets=offsets,
                starts=starts,
                stops=starts + 6.5,
            )
        )
    return History(runs=tuple(made), n_tests=40)


@pytest.mark.parametrize("seed", range(4))
def test_18_cross_worker_harm_is_never_charged_to_the_own_process(seed):
    found = judge(_cross_worker(seed), 5)
    assert found.claims == ()
    assert found.cls is Class.CROSS_WORKER


def test_20_a_truncated_run_holds_no_observation_of_what_it_did_not_reach():
    history = History(runs=(make_run([[(1, P), (2, P)]]),), n_tests=4)
    assert _seen(history, 3).failed[0, 0] == -1


def test_23_one_failure_is_never_a_claim_even_next_door():
    runs = [make_run([[(t, P) for t in (2, 3, 4, 0)]]) for _ in range(200)]
    runs.append(make_run([[(1, P), (0, F)]]))
    found = judge(History(runs=tuple(runs), n_tests=5), 0)
    assert found.n_failed == 1
    assert found.claims == ()
    assert Doubt.FEW in found.candidates[0].doubts
    proven = Beliefs(proven={0: {1: Story.VICTIM}})
    replayed = judge(History(runs=tuple(runs), n_tests=5), 0, beliefs=proven)
    assert replayed.candidates[0].status is Status.PROVEN


def test_24_a_flake_is_not_dragged_to_a_popular_leaker():
    leak = Leak(leakers=(3,), victims=tuple(range(50, 70)))
    flakes = dict.fromkeys(range(80, 100), 0.2)
    history = _simulated(World(n_tests=200, leaks=(leak,), flakes=flakes), runs=40)
    claims = _claims(judge_all(history))
    assert {victim for victim, _ in claims} == set(range(50, 70))
    assert {leaker for _, leaker in claims} == {3}


def test_25_two_signatures_of_one_victim_are_judged_apart():
    rng = np.random.default_rng(6)
    runs, first = [], set()
    for index in range(60):
        order = [int(t) for t in rng.permutation(30)]
        ahead = set(order[: order.index(9)])
        if 3 in ahead:
            first.add(index)
        failed = bool({3, 4} & ahead)
        runs.append(make_run([[(t, F if t == 9 and failed else P) for t in order]]))
    history = History(runs=tuple(runs), n_tests=30)
    only_first = judge(keep_failures(history, 9, runs=first), 9)
    assert [claim.test for claim in only_first.claims] == [3]
    others = set(range(60)) - first
    assert [
        c.test for c in judge(keep_failures(history, 9, runs=others), 9).claims
    ] == [4]


def test_26_a_pair_that_a_replay_refuted_gives_way():
    history = _simulated(ONE_LEAK, runs=40)
    refuted = Beliefs(refuted={20: frozenset({3})})
    found = judge(history, 20, beliefs=refuted)
    assert 3 not in {one.test for one in found.candidates}
    assert found.claims == ()


def test_a_bad_day_counts_for_nothing():
    bad = make_run([[(t, F) for t in range(9)] + [(9, P)]])
    good = make_run([[(t, P) for t in range(10)]])
    assert bad.bad_day
    assert not good.bad_day
    assert list(mixed(History(runs=(bad, good), n_tests=10))) == []


def test_arrays_that_contradict_each_other_are_refused():
    one = np.zeros(1, dtype=np.int32)
    with pytest.raises(HistoryError, match="offsets"):
        Run(tests=one, states=np.zeros(1, np.int8), offsets=np.array([0, 2], np.int32))
    with pytest.raises(HistoryError, match="out of range"):
        History(runs=(make_run([[(5, P)]]),), n_tests=3)
