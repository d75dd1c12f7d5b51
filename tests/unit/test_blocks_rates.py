from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.rates import beta_rate, fail_rate


def test_no_trial_says_nothing():
    assert beta_rate(0, 0) is None
    assert fail_rate(failing=0, runs=3, not_executed=3) is None


def test_the_mean_is_that_of_the_posterior_with_half_a_hit_before():
    rate = beta_rate(1, 19)
    assert rate.mean == pytest.approx(1.5 / 20)
    assert (rate.hits, rate.of) == (1, 19)


def test_the_interval_of_a_known_case():
    # Beta(2.5, 8.5): the quantiles as tables give them.
    rate = beta_rate(2, 10)
    assert rate.low == pytest.approx(0.0441, abs=5e-4)
    assert rate.high == pytest.approx(0.5028, abs=5e-4)


@given(st.integers(0, 300), st.integers(0, 300))
def test_the_interval_holds_the_mean(hits, misses):
    rate = beta_rate(hits, hits + misses)
    if rate is not None:
        assert 0.0 <= rate.low < rate.mean < rate.high <= 1.0


def test_the_rate_of_failures_leaves_out_what_did_not_run():
    assert fail_rate(failing=1, runs=25, not_executed=5) == 0.05
