"""Claims: one owner at a time, fair to projects, and an end to every failure."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections

from formats.context import Context
from healthboard.pipeline import BY_NAME, drain, drain_all
from ingest import bodies, claims, leases, processing, rate, replaying
from ingest.models import State
from ingest.models import Upload as Row
from projects.creation import Created, create_project
from projects.models import AuditEntry
from results.models import Run, Shard
from tests.sending import Upload, bearer, post

pytestmark = pytest.mark.django_db

INGEST = BY_NAME["ingest"]


@pytest.fixture
def acme() -> Created:
    rate.forget()
    return create_project("acme/app", actor="test")


def send(project: Created, run: str = "r1", job: str = "") -> Row:
    answer = post(Upload({"run": run, "job": job}), bearer(project.token))
    assert answer.status_code == 202
    return Row.objects.get(pk=answer.json()["id"])


def claim(now: datetime | None = None) -> Row:
    found = claims.claim(now or datetime.now(UTC))
    assert found is not None
    return found


def test_a_claim_holds_a_lease(acme: Created, settings):
    settings.HEALTHBOARD_LEASE_SECONDS = 70
    sent = send(acme)
    now = datetime.now(UTC)
    claimed = claim(now)
    assert claimed.pk == sent.pk
    row = Row.objects.get()
    assert (row.state, row.attempts) == (State.PROCESSING, 1)
    assert row.due_at == now + timedelta(seconds=70)
    assert claims.claim(now) is None
    assert claims.claim(now + timedelta(seconds=69)) is None
    assert claims.waiting(acme.project.pk) == 1


def test_an_expired_lease_is_taken_over_and_its_owner_stores_nothing(acme: Created):
    send(acme)
    late = claim()
    soon = datetime.now(UTC) + timedelta(hours=1)
    second = claim(soon)
    assert (second.pk, second.attempts) == (late.pk, 2)
    with pytest.raises(claims.LeaseLost):
        processing.work(late)
    assert Run.objects.count() == 0
    claims.give_back(late, "too late")
    assert Row.objects.get().state == State.PROCESSING
    processing.work(second)
    assert Row.objects.get().state == State.PROCESSED
    with pytest.raises(claims.LeaseLost):
        processing.work(late)
    assert Shard.objects.count() == 1


def test_a_takeover_while_it_stores_rolls_its_owner_back(acme: Created):
    send(acme)
    late = claim()
    read = processing._read_files(late, Context())
    Row.objects.update(lease="somebody else/1")
    with pytest.raises(claims.LeaseLost):
        processing._store(late, read, None)
    assert Row.objects.get().state == State.PROCESSING


def test_a_failure_is_tried_five_times_with_growing_pauses_and_is_then_dead(
    acme: Created,
):
    row = send(acme)
    bodies.delete(row.body)
    now = datetime.now(UTC)
    pauses = []
    for attempt in range(1, 6):
        claimed = claim(now)
        with pytest.raises(bodies.BodyGone):
            processing.work(claimed)
        before = datetime.now(UTC)
        claims.give_back(claimed, f"failure {attempt}")
        row.refresh_from_db()
        assert (row.attempts, row.failure) == (attempt, f"failure {attempt}")
        if row.due_at is not None:
            assert row.state == State.FAILED
            assert claims.claim(row.due_at - timedelta(seconds=1)) is None
            pauses.append(round((row.due_at - before).total_seconds()))
            now = row.due_at
    assert pauses == [10, 40, 160, 640]
    assert (row.state, row.due_at) == (State.DEAD, None)
    assert claims.claim(now + timedelta(days=9)) is None
    assert claims.waiting(None) == 0


def test_an_unknown_error_is_noted_by_the_stage(acme: Created):
    row = send(acme)
    bodies.delete(row.body)
    assert drain(INGEST) == 1
    row.refresh_from_db()
    assert row.state == State.FAILED
    assert row.failure.startswith("BodyGone: ")
    assert row.lease == ""


def test_a_dead_upload_is_tried_again_by_hand(acme: Created):
    row = send(acme)
    Row.objects.update(state=State.DEAD, due_at=None, attempts=5, failure="x")
    assert replaying.retry(row, by="ada")
    assert not replaying.retry(row, by="ada")
    assert drain(INGEST) == 1
    row.refresh_from_db()
    assert (row.state, row.failure, row.attempts) == (State.PROCESSED, "", 1)
    entry = AuditEntry.objects.get(action="upload.retried")
    assert (entry.actor, entry.subject) == ("ada", f"upload {row.pk}")


def test_work_that_kills_its_process_five_times_is_dead(acme: Created):
    send(acme)
    now = datetime.now(UTC)
    for attempt in range(1, 6):
        assert claim(now).attempts == attempt
        now += timedelta(hours=1)
    assert claims.claim(now) is None
    row = Row.objects.get()
    assert (row.state, row.due_at, row.lease) == (State.DEAD, None, "")
    assert "interrupted 5 times" in row.failure


def test_a_flood_of_one_project_does_not_delay_another(acme: Created):
    others = [create_project(f"other/{n}", actor="test") for n in range(3)]
    for n in range(30):
        send(acme, run=str(n))
    for n in range(2):
        for other in others:
            send(other, run=str(n))
    order = []
    while found := claims.claim(datetime.now(UTC)):
        order.append(found.project.slug)
        processing.work(found)
    assert order[:8] == ["acme/app", "other/0", "other/1", "other/2"] * 2
    assert order[8:] == ["acme/app"] * 28


def test_within_a_project_the_oldest_is_first(acme: Created):
    rows = [send(acme, run=str(n)) for n in range(5)]
    assert [claim().pk for _ in range(5)] == [row.pk for row in rows]


@pytest.mark.django_db(transaction=True)
def test_many_workers_on_few_uploads_take_each_once(acme: Created):
    for n in range(12):
        send(acme, run=str(n))
    start = threading.Barrier(6)

    def work(_: int) -> list[int]:
        start.wait()
        taken = []
        try:
            while found := claims.claim(datetime.now(UTC)):
                taken.append(found.pk)
            return taken
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        taken = [pk for each in pool.map(work, range(6)) for pk in each]
    assert sorted(taken) == sorted(Row.objects.values_list("pk", flat=True))
    assert set(Row.objects.values_list("attempts", flat=True)) == {1}


@pytest.mark.django_db(transaction=True)
def test_many_workers_leave_one_set_of_facts(acme: Created):
    for n in range(6):
        send(acme, run=str(n % 2), job=str(n))
    start = threading.Barrier(3)

    def work(_: int) -> int:
        start.wait()
        try:
            return drain_all()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    assert Row.objects.filter(state=State.PROCESSED).count() == 6
    assert Shard.objects.count() == 6
    assert sorted(Run.objects.values_list("name", "tests")) == [("0", 1), ("1", 1)]


def test_a_living_owner_is_not_dead_and_an_unknown_one_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
):
    process = leases._Process()
    monkeypatch.setattr(leases, "_process", process)
    owner = leases.owner_of(leases.new_lease())
    assert owner == leases.owner_of(leases.new_lease())
    assert not leases.is_dead(owner)
    assert owner in leases.owners()
    assert not leases.is_dead("0" * 32)
    process.forget()
    assert leases.is_dead(owner)
