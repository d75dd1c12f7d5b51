"""The test run's own servers are real and are shared."""

from __future__ import annotations

import psycopg
import pytest
import redis
from django.db import connection

from tests.conftest import ON_POSTGRES


@pytest.mark.postgres
def test_postgres_is_a_real_one(fresh_postgres):
    with psycopg.connect(fresh_postgres) as db:
        row = db.execute("SELECT version()").fetchone()
    assert row is not None
    assert row[0].startswith("PostgreSQL ")


@pytest.mark.valkey
def test_valkey_is_a_real_one_and_empty(fresh_valkey):
    with redis.Redis.from_url(fresh_valkey) as client:
        assert client.dbsize() == 0
        assert client.info("server")["process_id"] > 0


@pytest.mark.django_db
def test_tests_run_on_the_database_that_was_asked_for():
    assert connection.vendor == ("postgresql" if ON_POSTGRES else "sqlite")
    with connection.cursor() as cursor:
        if ON_POSTGRES:
            cursor.execute("SHOW server_encoding")
            assert cursor.fetchone() == ("UTF8",)
        else:
            cursor.execute("PRAGMA journal_mode")
            assert cursor.fetchone() == ("wal",)
