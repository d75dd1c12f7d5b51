"""Bodies go when their time is over, and when they are nobody's; facts stay."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from healthboard.pipeline import drain_all
from ingest import bodies, leases, rate, replaying, retention
from ingest.models import State
from ingest.models import Upload as Row
from projects.creation import Created, create_project
from results.models import Run
from tests.sending import Upload, bearer, post

pytestmark = pytest.mark.django_db

NOW = datetime.now(UTC)


@pytest.fixture
def acme() -> Created:
    rate.forget()
    return create_project("acme/app", actor="test")


@pytest.fixture(autouse=True)
def inbox(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    path = tmp_path / "inbox"
    settings.INBOX_DIR = path
    return path


def send(acme: Created, run: str, *, age: timedelta = timedelta()) -> Row:
    answer = post(Upload({"run": run}), bearer(acme.token))
    pk = answer.json()["id"]
    Row.objects.filter(pk=pk).update(received_at=NOW - age)
    return Row.objects.get(pk=pk)


def is_there(row: Row) -> bool:
    return (settings.INBOX_DIR / row.body).is_file()


def test_a_body_is_deleted_after_its_days_and_its_row_stays(acme: Created):
    old = send(acme, "1", age=timedelta(days=91))
    young = send(acme, "2", age=timedelta(days=89))
    drain_all()
    assert retention.delete_expired(NOW) == 1
    assert (is_there(old), is_there(young)) == (False, True)
    old.refresh_from_db()
    assert old.body_deleted_at == NOW
    with pytest.raises(bodies.BodyGone):
        bodies.open_raw(old)
    with pytest.raises(bodies.BodyGone):
        bodies.open_file(old, 1)
    assert Run.objects.count() == 2
    assert retention.delete_expired(NOW) == 0


def test_a_projects_own_days_count(acme: Created):
    acme.project.options = {"keep_bodies_days": 5}
    acme.project.save(update_fields=["options"])
    row = send(acme, "1", age=timedelta(days=6))
    drain_all()
    assert retention.delete_expired(NOW) == 1
    assert not is_there(row)


def test_what_still_waits_is_kept(acme: Created):
    row = send(acme, "1", age=timedelta(days=500))
    assert retention.delete_expired(NOW) == 0
    assert is_there(row)


def test_what_is_deleted_is_not_replayed(acme: Created):
    row = send(acme, "1", age=timedelta(days=500))
    drain_all()
    retention.delete_expired(NOW)
    assert replaying.replay() == 0
    row.refresh_from_db()
    assert row.state == State.PROCESSED


def test_old_files_of_nobody_are_deleted(acme: Created, inbox: Path):
    row = send(acme, "1")
    day = inbox / "2020-01-02"
    day.mkdir()
    files = {name: day / name for name in ("orphan", "young", "deleted")}
    for path in files.values():
        path.write_bytes(b"x")
    deleted = send(acme, "2")
    Row.objects.filter(pk=deleted.pk).update(
        body="2020-01-02/deleted", body_deleted_at=NOW
    )
    old = (NOW - timedelta(hours=25)).timestamp()
    for path in (files["orphan"], files["deleted"], inbox / row.body):
        os.utime(path, (old, old))
    assert retention.delete_orphans(NOW) == 2
    assert is_there(row)
    assert [path.name for path in day.iterdir()] == ["young"]
    assert retention.delete_orphans(NOW + timedelta(days=3)) >= 1
    assert not day.exists()


def test_the_stage_sweeps_now_and_then(acme: Created):
    plan = retention._Plan()
    minutes = [0, 9, 10, 60, 369, 370, 371]
    due = [plan.due(NOW + timedelta(minutes=each)) for each in minutes]
    assert due == [False, False, True, False, False, True, False]
    send(acme, "1", age=timedelta(days=91))
    drain_all()
    retention.work(retention.Sweep(NOW))
    assert Row.objects.get().body_deleted_at == NOW


def test_locks_of_ended_processes_are_forgotten(tmp_path: Path):
    (tmp_path / "workers").mkdir()
    (tmp_path / "workers" / ("a" * 32)).write_bytes(b"")
    retention.forget_owners()
    assert leases.owners() == []


def test_the_replay_command(acme: Created):
    row = send(acme, "1")
    drain_all()
    call_command("replay", str(row.pk), verbosity=0)
    assert Row.objects.get().state == State.ADMITTED
    drain_all()
    call_command("replay", since=f"{NOW - timedelta(days=1):%Y-%m-%d}")
    assert Row.objects.get().state == State.ADMITTED
    for arguments in ([], [str(row.pk), "--since", "2026-01-01"], ["--since", "now"]):
        with pytest.raises(CommandError):
            call_command("replay", *arguments)
