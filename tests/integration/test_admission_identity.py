"""Identity of a delivery: first time, duplicate, conflict; and a refused write."""

from __future__ import annotations

import gzip
import resource
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings
from django.db import connection, connections, transaction

from ingest import rate
from ingest.models import Upload as Row
from ingest.signals import upload_received
from projects.creation import Created, create_project
from tests.sending import PASSED, Upload, bearer, post, signed

pytestmark = pytest.mark.django_db

FAILED = PASSED.replace(b"/></", b"><failure/></testcase></")


@pytest.fixture
def acme() -> Created:
    rate.forget()
    return create_project("acme/app", actor="test")


def send(project: Created, upload: Upload, **headers: str) -> tuple[int, int | None]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = post(upload, bearer(project.token) | named)
    return answer.status_code, answer.json().get("id")


def body_count() -> int:
    return sum(path.is_file() for path in settings.INBOX_DIR.rglob("*"))


def test_the_same_id_and_body_is_a_duplicate(acme: Created):
    before = body_count()
    first = send(acme, Upload(), Idempotency_Key="a")
    assert first[0] == 202
    assert send(acme, Upload(), Idempotency_Key="a") == (200, first[1])
    assert Row.objects.count() == 1
    assert body_count() == before + 1


def test_a_duplicate_is_told_as_one(acme: Created):
    post(Upload(), bearer(acme.token))
    row = Row.objects.get()
    assert post(Upload(), bearer(acme.token)).json() == {
        "id": row.pk,
        "status": "duplicate",
        "url": f"{settings.SITE_ROOT}/api/v1/uploads/{row.pk}",
    }


def test_the_same_id_and_another_body_is_a_conflict(acme: Created):
    before = body_count()
    send(acme, Upload({"run": "1"}), Idempotency_Key="a")
    others = [
        Upload({"run": "2"}),
        Upload({"run": "1"}, [("junit", "report.xml", FAILED)]),
        Upload({"run": "1"}, [("junit", "other.xml", PASSED)]),
        Upload({"run": "1"}, [("auto", "report.xml", PASSED)]),
        Upload({"run": "1"}, [("junit", "report.xml", PASSED)] * 2),
    ]
    for other in others:
        assert send(acme, other, Idempotency_Key="a")[0] == 409
    assert Row.objects.count() == 1
    assert body_count() == before + 1


def test_an_idempotency_key_comes_before_a_request_id(acme: Created):
    send(acme, Upload({"run": "1"}), Idempotency_Key="a", X_Request_ID="x")
    assert send(acme, Upload({"run": "2"}), X_Request_ID="x")[0] == 202
    assert send(acme, Upload({"run": "3"}), X_Request_ID="x")[0] == 409
    assert send(acme, Upload({"run": "1"}), X_Request_ID="a")[0] == 200


def test_without_an_id_the_digest_is_the_id(acme: Created):
    assert send(acme, Upload({"run": "1"}))[0] == 202
    assert send(acme, Upload({"run": "1"}))[0] == 200
    assert send(acme, Upload({"run": "2"}))[0] == 202


def test_how_a_body_is_wrapped_does_not_matter(acme: Created):
    """Boundary, encoding, order of parts and keys, and what is default anyway."""
    files = [("junit", "a.xml", PASSED), ("junit", "b.xml", FAILED)]
    context = {"run": "1", "job": "unit"}
    first = send(acme, Upload(context, files), Idempotency_Key="a")
    same = [
        Upload(context, files, boundary="another"),
        Upload(context, files[::-1]),
        Upload({"job": "unit", "run": "1"}, files),
        Upload(context | {"project": "acme/app", "attempt": 1, "commit": None}, files),
    ]
    for upload in same:
        assert send(acme, upload, Idempotency_Key="a") == (200, first[1])
    packed = gzip.compress(same[0].body)
    answer = post(
        packed,
        bearer(acme.token) | {"Idempotency-Key": "a", "Content-Encoding": "gzip"},
        content_type=same[0].content_type,
    )
    assert (answer.status_code, answer.json()["id"]) == (200, first[1])


def test_an_id_is_of_its_project(acme: Created):
    other = create_project("other/app", actor="test")
    assert send(acme, Upload({"run": "1"}), Idempotency_Key="a")[0] == 202
    assert send(other, Upload({"run": "2"}), Idempotency_Key="a")[0] == 202


def test_a_fresh_signature_does_not_make_it_new(acme: Created):
    body = Upload({"project": "acme/app"}).body
    statuses = [
        post(body, signed(body, acme.webhook_secret)).status_code,
        post(body, bearer(acme.token)).status_code,
    ]
    assert statuses == [202, 200]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "one"}])
def test_one_of_eight_concurrent_senders_is_first(acme: Created, headers):
    before = body_count()
    start = threading.Barrier(8)

    def one(_: int) -> tuple[int, int]:
        start.wait()
        try:
            answer = post(Upload({"run": "1"}), bearer(acme.token) | headers)
            return answer.status_code, answer.json()["id"]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(8)))
    assert sorted(status for status, _ in answers) == [200] * 7 + [202]
    assert len({upload_id for _, upload_id in answers}) == 1
    assert Row.objects.count() == 1
    assert body_count() == before + 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_senders_of_different_bodies_conflict(acme: Created):
    before = body_count()
    start = threading.Barrier(6)

    def one(n: int) -> int:
        start.wait()
        try:
            headers = bearer(acme.token) | {"Idempotency-Key": "one"}
            return int(post(Upload({"run": str(n)}), headers).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(one, range(6)))
    assert sorted(statuses) == [202] + [409] * 5
    assert body_count() == before + 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="SQLite's one write lock")
def test_a_locked_store_is_503_and_then_a_first_time(acme: Created):
    before = body_count()
    locked, release = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                locked.set()
                release.wait(30)
        finally:
            connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(30)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 10")
    try:
        answer = post(Upload(), bearer(acme.token) | {"Idempotency-Key": "a"})
    finally:
        release.set()
        holder.join()
        connection.close()
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    assert answer["Content-Type"] == "application/problem+json"
    assert (Row.objects.count(), body_count()) == (0, before)
    assert send(acme, Upload(), Idempotency_Key="a")[0] == 202


def test_an_inbox_that_cannot_be_written_is_503_and_then_a_first_time(
    acme: Created, settings, tmp_path
):
    settings.INBOX_DIR = tmp_path / "inbox"
    settings.INBOX_DIR.write_bytes(b"a file where the directory should be")
    answer = post(Upload(), bearer(acme.token))
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert Row.objects.count() == 0
    settings.INBOX_DIR.unlink()
    assert send(acme, Upload())[0] == 202


def test_a_disk_that_is_full_midway_is_503_and_leaves_nothing(acme: Created):
    before = body_count()
    large = Upload(files=[("junit", "a.xml", bytes(9 * 2**20))])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 * 2**20, hard))
    try:
        answer = post(large, bearer(acme.token))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert answer.status_code == 503
    assert (Row.objects.count(), body_count()) == (0, before)
    assert send(acme, large)[0] == 202


def test_a_failing_listener_does_not_fail_the_answer(
    acme: Created, django_capture_on_commit_callbacks
):
    heard = []

    def listen(upload_id: int, **_: object) -> None:
        heard.append(upload_id)
        raise ConnectionError("no broker")

    upload_received.connect(listen)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            status, upload_id = send(acme, Upload())
    finally:
        upload_received.disconnect(listen)
    assert (status, heard) == (202, [upload_id])


def test_a_flood_is_429_with_the_time_to_wait(acme: Created, settings):
    settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST = 1, 3
    other = create_project("other/app", actor="test")
    statuses = [send(acme, Upload({"run": str(n)}))[0] for n in range(3)]
    assert statuses == [202] * 3
    answer = post(Upload({"run": "4"}), bearer(acme.token))
    assert answer.status_code == 429
    assert answer["Retry-After"] == "1"
    assert send(other, Upload())[0] == 202
    assert Row.objects.count() == 4


def test_a_stranger_does_not_use_up_a_projects_rate(acme: Created, settings):
    settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST = 1, 1
    body = Upload().body
    for _ in range(5):
        answer = post(body, signed(body, "wrong"), query="?project=acme/app")
        assert answer.status_code == 401
    good = signed(body, acme.webhook_secret)
    assert post(body, good, query="?project=acme/app").status_code == 202
    assert post(body, good, query="?project=acme/app").status_code == 429
