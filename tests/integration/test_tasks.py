"""Messages wake the stages, and never stand in the way of a request or of a stage."""

from __future__ import annotations

import json
import logging

import pytest
from django.conf import settings
from django.db.migrations.recorder import MigrationRecorder

from healthboard import schema, tasks
from healthboard.celery import app
from healthboard.pipeline import STAGES
from ingest.signals import upload_received

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def empty_spool():
    for path in settings.SPOOL_DIR.glob("*.msg"):
        path.unlink()


def _waiting() -> list[tuple[str, str]]:
    """The queue and the stage of each waiting message."""
    found = []
    for path in settings.SPOOL_DIR.glob("*.msg"):
        headers = json.loads(path.read_text())["headers"]
        found.append((path.name.split(".")[1], headers["argsrepr"]))
    return sorted(found)


@pytest.fixture
def newer_database(db):
    MigrationRecorder.Migration.objects.create(app="results", name="0999_future")
    yield
    schema._judged.cache_clear()


def test_admitted_upload_wakes_the_first_stage():
    upload_received.send(sender=None, upload_id=1)
    upload_received.send(sender=None, upload_id=2)
    assert _waiting() == [("ingest", "('ingest',)")]


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_stage_is_woken_on_its_own_queue(stage):
    tasks.wake(stage.name)
    assert _waiting() == [(stage.queue, f"('{stage.name}',)")]


def test_stage_without_work_wakes_nobody():
    tasks.advance("ingest")
    assert _waiting() == []


def test_every_stage_is_looked_at_by_the_beat():
    looks = app.conf.beat_schedule.values()
    looked = {
        (look["args"], look["options"]["queue"])
        for look in looks
        if look["task"] == "advance"
    }
    assert looked == {((stage.name,), stage.queue) for stage in STAGES}


def test_database_of_this_code_has_no_problem():
    assert schema.problem() == ""
    assert schema.is_current()


def test_newer_database_is_named_once_it_is_seen(newer_database, caplog):
    with caplog.at_level(logging.ERROR):
        assert not schema.is_current()
    assert schema.newer() == (
        "the database is newer than this code (results.0999_future); update the code"
    )
    assert "taking no work" in caplog.text


def test_missing_migrations_are_named():
    newest = max(key for key in schema.known()[0] if key[0] == "results")
    MigrationRecorder.Migration.objects.filter(app="results", name=newest[1]).delete()
    assert schema.problem() == f"the database lacks {'.'.join(newest)}; run migrate"
