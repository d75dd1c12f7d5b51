"""Claims, hysteresis, classes, probes, rates, fixes and cost, rule by rule."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis import METHOD_VERSION
from analysis.claims import Move, Standing, decide, next_status
from analysis.cost import NOBODY, RedRun, charge, formula
from analysis.fixed import Fix, in_words, proof, relevance
from analysis.flaky import Rule, Sightings, disagreement, label, rate_of
from analysis.history import History
from analysis.judgement import Ask, Doubt, Probe, Status
from analysis.probes import command, next_order

GOOD = Standing(posterior=0.99, own=5.0, best=5.0, traced=5.0, n_failed=4, n_passed=20)


def test_a_claim_needs_everything():
    assert decide(GOOD) == (Status.CONFIRMED, ())


@pytest.mark.parametrize(
    ("change", "doubt"),
    [
        ({"posterior": 0.95}, Doubt.POSTERIOR),
        ({"own": 2.99, "best": 2.99, "traced": 2.99}, Doubt.EVIDENCE),
        ({"best": 8.5}, Doubt.RIVAL),
        ({"n_failed": 1}, Doubt.FEW),
        ({"n_passed": 1}, Doubt.FEW),
        ({"explained": 0.6, "q_value": 0.3}, Doubt.PARTIAL),
        ({"drifting": True}, Doubt.ORDER),
        ({"fixed": True}, Doubt.ORDER),
        ({"drifting": True, "regressed": True}, Doubt.CONFOUNDED),
        ({"traced": 1.0}, Doubt.ASSUMED),
    ],
)
def test_each_doubt_alone_keeps_a_pair_a_suspect(change, doubt):
    assert decide(replace(GOOD, **change)) == (Status.SUSPECT, (doubt,))


def test_a_small_q_value_excuses_failures_that_others_explain():
    partial = replace(GOOD, explained=0.6, q_value=0.01)
    assert decide(partial) == (Status.CONFIRMED, ())


def test_a_group_is_indistinguishable_however_strong():
    status, doubts = decide(replace(GOOD, group=(3, 4)))
    assert status is Status.INDISTINGUISHABLE
    assert doubts == (Doubt.GROUP,)


@pytest.mark.parametrize(
    ("before", "now", "posterior", "fixed", "expected"),
    [
        (None, Status.CONFIRMED, 0.96, False, (Status.CONFIRMED, Move.ENTERED)),
        (None, Status.SUSPECT, 0.8, False, (Status.SUSPECT, Move.NONE)),
        (
            Status.CONFIRMED,
            Status.SUSPECT,
            0.71,
            False,
            (Status.CONFIRMED, Move.STAYED),
        ),
        (Status.CONFIRMED, Status.SUSPECT, 0.69, False, (Status.SUSPECT, Move.LEFT)),
        (Status.CONFIRMED, Status.CONFIRMED, 0.99, True, (Status.SUSPECT, Move.LEFT)),
        (Status.CONFIRMED, Status.PROVEN, 0.3, False, (Status.PROVEN, Move.ENTERED)),
        (Status.PROVEN, Status.SUSPECT, 0.01, False, (Status.PROVEN, Move.STAYED)),
        (Status.CONFIRMED, Status.REFUTED, 0.99, False, (Status.REFUTED, Move.LEFT)),
        (Status.SUSPECT, Status.REFUTED, 0.2, False, (Status.REFUTED, Move.NONE)),
        (
            Status.SUSPECT,
            Status.INDISTINGUISHABLE,
            0.9,
            False,
            (Status.INDISTINGUISHABLE, Move.NONE),
        ),
    ],
)
def test_a_claim_leaves_only_below_seven_tenths_or_by_a_fix(
    before, now, posterior, fixed, expected
):
    assert next_status(before, now, posterior, fixed=fixed) == expected


def test_the_next_order_puts_half_of_the_belief_first():
    posterior = np.zeros(12)
    posterior[[1, 2, 3, 4]] = 0.4, 0.3, 0.2, 0.1
    probe = next_order(History(runs=(), n_tests=6), 5, posterior)
    # .4 and then .2 would pass the half by more than .3 does: .4 + .1 = half exactly
    assert probe.ask is Ask.ORDER
    assert probe.tests[-1] == 5
    held = posterior[list(probe.tests[:-1])].sum()
    assert 0.3 <= held <= 0.7


def test_a_probe_becomes_one_quoted_command():
    probe = Probe(Ask.PAIR, "why", (1, 0))
    names = ["t.py::test_v[a b]", "t.py::test_l"]
    expected = (
        "pytest -p no:randomly -p no:random_order t.py::test_l 't.py::test_v[a b]'"
    )
    assert command(probe, names) == expected
    assert command(Probe(Ask.MORE, "why"), names) == ""


def test_jeffreys_by_hand_and_by_scipy():
    rate = rate_of(3, 20)
    assert rate.mean == pytest.approx(3.5 / 21)
    assert rate.low == pytest.approx(stats.beta.ppf(0.025, 3.5, 17.5))
    assert rate.high == pytest.approx(stats.beta.ppf(0.975, 3.5, 17.5))
    assert rate_of(0, 5).low == 0.0
    assert rate_of(5, 5).high == 1.0
    with pytest.raises(ValueError, match="6 events in 5"):
        rate_of(6, 5)


def _sightings(failed, commit, *, retried=None, tree=None):
    size = len(failed)
    return Sightings(
        run=np.arange(100, 100 + size, dtype=np.int32),
        failed=np.array(failed, dtype=bool),
        retried=np.array(retried or [False] * size, dtype=bool),
        commit=np.array(commit, dtype=np.int32),
        tree=np.array(tree or [-1] * size, dtype=np.int32),
    )


def test_a_rate_alone_is_no_label():
    seen = _sightings([True, False, True, False], [1, 2, 3, 4])
    assert disagreement(seen) is None
    assert label(seen, was_flaky=True, regressed=False) is None


def test_disagreement_names_the_strongest_rule_and_its_runs():
    same = _sightings([True, False, False], [1, 1, 2])
    assert disagreement(same) == (Rule.SAME_COMMIT, (100, 101))
    tree = _sightings([True, False, False], [1, 2, 3], tree=[7, 7, -1])
    assert disagreement(tree) == (Rule.SAME_TREE, (100, 101))
    retry = _sightings([True, False], [1, 1], retried=[True, False])
    assert disagreement(retry) == (Rule.RETRY, (100,))


def test_a_regression_is_not_flaky_however_often_it_flaked():
    seen = _sightings([True, False], [1, 1])
    assert label(seen, was_flaky=True, regressed=True) is None
    assert label(seen, was_flaky=False, regressed=False) is not None


def test_entering_is_harder_than_staying():
    # 1 failure in 200: mean 1.5 / 201 < 1 %, upper bound 2.3 % > .5 %
    seen = _sightings([True] + [False] * 199, [1] * 200)
    assert label(seen, was_flaky=False, regressed=False) is None
    kept = label(seen, was_flaky=True, regressed=False)
    assert kept is not None
    assert kept.rule is Rule.SAME_COMMIT
    # 1 in 2,000: upper bound about .23 % < .5 %
    calm = _sightings([True] + [False] * 1999, [1] * 2000)
    assert label(calm, was_flaky=True, regressed=False) is None


def test_a_fix_is_verified_by_the_old_rates_lower_bound():
    found = proof(old_events=38, old_trials=100, relevant=214, failures=0)
    low = stats.beta.ppf(0.025, 38.5, 62.5)
    assert found.state is Fix.VERIFIED
    assert found.chance == pytest.approx((1 - low) ** 214)
    assert found.new_high == pytest.approx(1 - 0.05 ** (1 / 214))
    assert in_words(found).startswith("0 failures in 214 relevant runs since; at the")
    exponent = math.floor(-math.log10(found.chance))
    assert f"10^{exponent}." in in_words(found)


@pytest.mark.parametrize(
    ("relevant", "failures", "state"),
    [(9, 0, Fix.WAITING), (10, 0, Fix.VERIFIED), (50, 1, Fix.REOPENED)],
)
def test_a_fix_needs_ten_relevant_runs_and_no_failure(relevant, failures, state):
    found = proof(old_events=80, old_trials=100, relevant=relevant, failures=failures)
    assert found.state is state


def test_a_rare_failure_needs_more_than_ten_passes():
    found = proof(old_events=5, old_trials=100, relevant=10, failures=0)
    assert found.state is Fix.WAITING
    assert "not yet enough" in in_words(found)
    assert "at least 10 more" in in_words(
        proof(old_events=5, old_trials=100, relevant=0, failures=0)
    )


def test_relevance_fades_with_distance():
    found = relevance(np.array([0.0, 10.0, np.inf]), hazard=1.0, depth=10.0)
    assert found == pytest.approx(1.0 + math.exp(-1.0))


def test_a_red_run_is_charged_once_and_shared():
    run = RedRun(
        failures={20: {3: 0.9}, 21: {3: 1.0}, 22: {4: 1.0}},
        duration_s=300.0,
        reruns_s=60.0,
        repeats_s=240.0,
        pull=7,
    )
    costs = {one.cause: one for one in charge([run, replace(run, pull=7)])}
    # weights in one run: 3 -> 1.9, 4 -> 1, nobody -> .1; 600 s shared 19 : 10 : 1
    assert costs[3].failed_results == pytest.approx(3.8)
    assert costs[3].failed_runs == pytest.approx(2 * 1.9 / 3)
    assert costs[3].lost_s == pytest.approx(2 * 380.0)
    assert costs[4].lost_s == pytest.approx(2 * 200.0)
    assert costs[NOBODY].lost_s == pytest.approx(2 * 20.0)
    assert costs[3].pulls == 1
    assert sum(one.failed_runs for one in costs.values()) == pytest.approx(2.0)
    assert len(formula()) == 4


def test_the_method_has_a_version():
    assert METHOD_VERSION >= 1
