"""The rate of a project: a token bucket, in one process and shared in Redis."""

from __future__ import annotations

import pytest

from ingest import rate
from tests.services import databases, valkey


def test_a_bucket_gives_its_burst_and_then_its_rate(settings):
    settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST = 2, 4
    buckets = rate.Buckets()
    assert [buckets.wait(1, now=100.0) for _ in range(4)] == [0.0] * 4
    assert buckets.wait(1, now=100.0) == 0.5
    assert buckets.wait(1, now=100.25) == 0.25
    assert buckets.wait(1, now=100.5) == 0.0
    assert buckets.wait(1, now=100.5) == 0.5
    assert buckets.wait(2, now=100.5) == 0.0
    assert [buckets.wait(1, now=999.0) for _ in range(4)] == [0.0] * 4
    assert buckets.wait(1, now=999.0) == 0.5


def test_a_clock_that_goes_back_takes_nothing_away(settings):
    settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST = 1, 2
    buckets = rate.Buckets()
    assert buckets.wait(1, now=100.0) == 0.0
    assert buckets.wait(1, now=50.0) == 0.0
    assert buckets.wait(1, now=50.0) == 1.0


def test_a_rate_of_nothing_is_no_limit(settings):
    settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST = 0, 0
    assert [rate.take(1) for _ in range(500)] == [0] * 500


@pytest.mark.valkey
def test_processes_share_a_bucket_in_redis(settings):
    # An hour's wait for the next one: the clock plays no part.
    settings.REDIS_URL = databases.emptied(valkey.url())
    settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST = 0.001, 3
    assert [rate.take(1) for _ in range(3)] == [0, 0, 0]
    assert 990 < rate.take(1) <= 1000
    assert rate.take(2) == 0


@pytest.mark.valkey
def test_a_bucket_in_redis_fills_again(settings):
    settings.REDIS_URL = databases.emptied(valkey.url())
    settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST = 1_000_000, 1
    assert [rate.take(1) for _ in range(50)] == [0] * 50


def test_a_redis_that_is_not_there_lets_uploads_through(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST = 1, 1
    assert [rate.take(1) for _ in range(3)] == [0, 0, 0]
