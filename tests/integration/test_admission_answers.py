"""Every row of the table of answers, with what it stores."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.conf import settings

from ingest import bodies, rate
from ingest.models import State
from ingest.models import Upload as Row
from projects import tokens
from projects.creation import Created, create_project
from projects.models import Scope
from tests.sending import PASSED, Upload, bearer, post, signed

pytestmark = pytest.mark.django_db

PROBLEM = "application/problem+json"


@pytest.fixture
def acme() -> Created:
    rate.forget()
    return create_project("acme/app", actor="test")


@pytest.fixture
def other() -> Created:
    return create_project("other/app", actor="test")


def body_files() -> list[Path]:
    return [path for path in settings.INBOX_DIR.rglob("*") if path.is_file()]


@pytest.fixture(autouse=True)
def nothing_is_stored_that_was_refused():
    before = set(body_files())
    yield
    kept = {
        settings.INBOX_DIR / name for name in Row.objects.values_list("body", flat=True)
    }
    assert set(body_files()) - before == kept


def assert_refused(answer, status: int, *, field: str | None = None) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == PROBLEM
    problem: dict[str, Any] = json.loads(answer.content)
    assert problem["status"] == status
    assert problem["type"] == "about:blank"
    assert problem["title"]
    assert problem["detail"]
    assert problem.get("field") == field
    assert Row.objects.count() == 0
    return problem


def test_the_first_time_is_202_and_stored_as_sent(acme: Created):
    upload = Upload(b'{"run": "r1", "environment": {"python": 3.10}}')
    answer = post(upload, bearer(acme.token) | {"Idempotency-Key": "k1"})
    assert answer.status_code == 202
    row = Row.objects.get()
    assert answer.json() == {
        "id": row.pk,
        "status": "accepted",
        "url": f"{settings.SITE_ROOT}/api/v1/uploads/{row.pk}",
    }
    assert row.state == State.ADMITTED
    assert row.delivery_id == "k1"
    assert row.context["environment"] == {"python": "3.10"}
    assert row.context["project"] == "acme/app"
    assert row.wire_bytes == row.unpacked_bytes == len(upload.body)
    assert row.due_at == row.received_at
    assert row.token is not None
    assert row.token.last_used_at == row.received_at
    with bodies.open_raw(row) as raw:
        assert raw.read() == upload.body


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("zstd", zstandard.compress)]
)
def test_a_packed_body_is_kept_packed(acme: Created, encoding: str, pack):
    upload = Upload({"run": "r1"})
    packed = pack(upload.body)
    answer = post(packed, bearer(acme.token) | {"Content-Encoding": encoding})
    assert answer.status_code == 202
    row = Row.objects.get()
    assert (row.encoding, row.wire_bytes) == (encoding, len(packed))
    assert row.unpacked_bytes == len(upload.body)
    with bodies.open_raw(row) as raw:
        assert raw.read() == packed
    assert b"".join(bodies.open_file(row, 1)) == PASSED


def test_each_file_can_be_read_by_its_number(acme: Created):
    files = [("junit", "a.xml", b"<a/>"), ("gate", "", b"{}"), ("auto", "z", b"")]
    assert post(Upload({}, files), bearer(acme.token)).status_code == 202
    row = Row.objects.get()
    assert [(f["n"], f["kind"], f["name"], f["size"]) for f in row.files] == [
        (1, "junit", "a.xml", 4),
        (2, "gate", "gate", 2),
        (3, "auto", "z", 0),
    ]
    read = [b"".join(bodies.open_file(row, n)) for n in (1, 2, 3)]
    assert read == [b"<a/>", b"{}", b""]
    for n in (0, 4):
        with pytest.raises(bodies.BodyGone):
            bodies.open_file(row, n)


def test_a_signature_authenticates_by_query_or_by_context(acme: Created):
    by_query, by_context = Upload(), Upload({"project": "acme/app", "run": "2"})
    first = post(
        by_query, signed(by_query.body, acme.webhook_secret), query="?project=acme/app"
    )
    second = post(by_context, signed(by_context.body, acme.webhook_secret))
    assert (first.status_code, second.status_code) == (202, 202)
    assert list(Row.objects.values_list("token", flat=True)) == [None, None]


def test_a_signature_is_of_the_bytes_as_sent(acme: Created):
    packed = gzip.compress(Upload().body)
    headers = {"Content-Encoding": "gzip"}
    good = signed(packed, acme.webhook_secret) | headers
    bad = signed(Upload().body, acme.webhook_secret) | headers
    assert_refused(post(packed, bad, query="?project=acme/app"), 401)
    assert post(packed, good, query="?project=acme/app").status_code == 202


def test_no_context_is_needed_where_the_token_names_the_project(acme: Created):
    assert post(Upload(), bearer(acme.token)).status_code == 202
    assert Row.objects.get().context["project"] == "acme/app"


def test_every_kind_of_stranger_gets_the_same_401(acme: Created, other: Created):
    revoked, plain = tokens.issue(acme.project, name="x", scopes=list(Scope))
    tokens.revoke(revoked)
    body = Upload({"project": "acme/app"}).body
    unknown = Upload({"project": "no/body"}).body
    now = 1_800_000_000
    good = signed(body, acme.webhook_secret)
    cases = [
        post(body, {}),
        post(body, bearer("")),
        post(body, bearer("hb_wrong")),
        post(body, bearer(plain)),
        post(body, bearer("hb_\udcff".encode("utf-8", "replace").decode())),
        post(body, {"Authorization": "Basic eDp5"}),
        post(body, signed(body, "wrong")),
        post(body, signed(body, other.webhook_secret)),
        post(body, signed(body + b"x", acme.webhook_secret)),
        post(body, signed(body, acme.webhook_secret, at=now)),
        post(body, good | {"X-Webhook-Timestamp": ""}),
        post(body, good | {"X-Webhook-Timestamp": "1e9"}),
        post(body, good | {"X-Webhook-Timestamp": "-1"}),
        post(body, good | {"X-Webhook-Signature-V2": ""}),
        post(body, good | {"X-Webhook-Signature-V2": "sha256=00"}),
        post(body, good, query="?project=other/app"),
        post(body, good, query="?project=acme/app%00"),
        post(body, good, query="?project=acme"),
        post(unknown, signed(unknown, acme.webhook_secret)),
        post(Upload().body, signed(Upload().body, acme.webhook_secret)),
        post(b"no multipart", signed(b"no multipart", acme.webhook_secret)),
        post(body, signed(body, "wrong") | {"Content-Encoding": "br"}),
        post(body, signed(body, "wrong"), query="?project=acme/app&x=1"),
        post(body[:-9], signed(body, acme.webhook_secret), query="?project=acme/app"),
    ]
    for answer in cases:
        assert_refused(answer, 401)
        assert answer["WWW-Authenticate"].startswith("Bearer")
    assert len({answer.content for answer in cases}) == 1


@pytest.mark.parametrize("skew", [-299, 299])
def test_a_clock_may_be_five_minutes_off(acme: Created, skew: int, time_machine):
    time_machine.move_to(1_800_000_000, tick=False)
    body = Upload().body
    headers = signed(body, acme.webhook_secret, at=1_800_000_000 + skew)
    assert post(body, headers, query="?project=acme/app").status_code == 202


@pytest.mark.parametrize("skew", [-301, 301])
def test_a_clock_beyond_is_stale(acme: Created, skew: int, time_machine):
    time_machine.move_to(1_800_000_000, tick=False)
    body = Upload().body
    headers = signed(body, acme.webhook_secret, at=1_800_000_000 + skew)
    assert_refused(post(body, headers, query="?project=acme/app"), 401)


def test_a_token_of_another_project_is_403(acme: Created, other: Created):
    upload = Upload({"project": "acme/app"})
    assert_refused(post(upload, bearer(other.token)), 403, field="project")
    answer = post(Upload(), bearer(other.token), query="?project=acme/app")
    assert_refused(answer, 403, field="project")


def test_a_signature_of_another_project_than_the_context_is_403(
    acme: Created, other: Created
):
    body = Upload({"project": "acme/app"}).body
    headers = signed(body, other.webhook_secret)
    assert_refused(
        post(body, headers, query="?project=other/app"), 403, field="project"
    )


def test_a_token_without_the_scope_is_403(acme: Created):
    _, plain = tokens.issue(acme.project, name="r", scopes=[Scope.READ, Scope.ADMIN])
    assert_refused(post(Upload(), bearer(plain)), 403)


@pytest.mark.parametrize(
    ("sent", "status", "field"),
    [
        (b"{", 400, "context"),
        (b"\xff", 400, "context"),
        (b"[" * 100_000, 400, "context"),
        ({"protocol": 99}, 400, "protocol"),
        (b"[]", 422, "context"),
        ({"colour": "red"}, 422, "colour"),
        ({"attempt": 0}, 422, "attempt"),
        ({"shard": {"index": 3, "count": 2}}, 422, "shard.index"),
        ({"commit": "a b"}, 422, "commit"),
        ({"project": "nothing"}, 422, "project"),
        (b"[" + b" " * 2**20 + b"]", 422, "context"),
    ],
)
def test_an_unfit_context_names_its_field(acme: Created, sent, status, field):
    problem = assert_refused(
        post(Upload(sent), bearer(acme.token)), status, field=field
    )
    assert field in problem["detail"]


@pytest.mark.parametrize(
    ("files", "sent", "field"),
    [
        ([], {"run": "1"}, "file"),
        ([], None, "file"),
        ([("report", "a.xml", PASSED)], None, "report"),
        ([("junit", "a.xml", PASSED), ("JUnit", "", b"")], None, "JUnit"),
        ([("context", "", b"{}"), ("junit", "", b"")], {"run": "1"}, "context"),
        ([("junit", "x" * 301, PASSED)], None, "junit"),
    ],
)
def test_unfit_parts_are_422(acme: Created, files, sent, field):
    assert_refused(post(Upload(sent, files), bearer(acme.token)), 422, field=field)


def test_an_unknown_parameter_is_422(acme: Created):
    answer = post(Upload(), bearer(acme.token), query="?project=acme/app&colour=red")
    assert_refused(answer, 422, field="colour")


@pytest.mark.parametrize("header", ["Idempotency-Key", "X-Request-ID"])
@pytest.mark.parametrize("value", ["x" * 201, "a\x01b"])
def test_an_unfit_id_is_422(acme: Created, header: str, value: str):
    answer = post(Upload(), bearer(acme.token) | {header: value})
    assert_refused(answer, 422, field=header)


@pytest.mark.parametrize("content_type", ["application/json", "multipart/form-data"])
def test_no_multipart_is_400(acme: Created, content_type: str):
    answer = post(b"{}", bearer(acme.token), content_type=content_type)
    assert_refused(answer, 400, field="Content-Type")


def test_unreadable_bodies_are_400(acme: Created):
    body = Upload({"run": "1"}).body
    packed = gzip.compress(body)
    for encoding, data in [
        ("", body[:-10]),
        ("gzip", body),
        ("gzip", packed[:-1]),
        ("zstd", packed),
        ("zstd", zstandard.compress(body)[:-1]),
    ]:
        headers = bearer(acme.token) | {"Content-Encoding": encoding}
        assert_refused(post(data, headers), 400)


def test_a_signed_unreadable_body_is_400_once_its_sender_is_known(acme: Created):
    body = Upload({"project": "acme/app"}).body[:-10]
    assert_refused(post(body, signed(body, acme.webhook_secret)), 400)


def test_an_unknown_encoding_is_415(acme: Created):
    headers = bearer(acme.token) | {"Content-Encoding": "br"}
    answer = post(Upload(), headers)
    assert_refused(answer, 415, field="Content-Encoding")
    assert answer["Accept-Encoding"] == "gzip, zstd"


def test_over_the_cap_on_the_wire_is_413(acme: Created, settings):
    body = Upload({"project": "acme/app"}).body
    settings.HEALTHBOARD_MAX_WIRE_BYTES = len(body) - 1
    assert_refused(post(body, bearer(acme.token)), 413)
    assert_refused(post(body, signed(body, acme.webhook_secret)), 413)
    settings.HEALTHBOARD_MAX_WIRE_BYTES = len(body)
    assert post(body, bearer(acme.token)).status_code == 202


def test_over_the_cap_unpacked_is_413(acme: Created, settings):
    body = Upload({"project": "acme/app"}).body
    packed, packing = gzip.compress(body), {"Content-Encoding": "gzip"}
    settings.HEALTHBOARD_MAX_UNPACKED_BYTES = len(body) - 1
    assert_refused(post(packed, bearer(acme.token) | packing), 413)
    query = "?project=acme/app"
    good, bad = signed(packed, acme.webhook_secret), signed(packed, "wrong")
    assert_refused(post(packed, good | packing, query=query), 413)
    assert_refused(post(packed, bad | packing, query=query), 401)
    settings.HEALTHBOARD_MAX_UNPACKED_BYTES = len(body)
    assert post(packed, bearer(acme.token) | packing).status_code == 202


def test_another_method_is_405(client):
    answer = client.get("/api/v1/uploads")
    assert_refused(answer, 405)
    assert answer["Allow"] == "POST"


def test_a_body_torn_at_any_byte_is_400(acme: Created, settings):
    settings.HEALTHBOARD_RATE = 0
    body = Upload({"project": "acme/app", "run": "1"}).body
    for end in range(1, len(body) - 2):
        assert_refused(post(body[:end], bearer(acme.token)), 400)


def test_a_packed_body_torn_anywhere_is_400(acme: Created, settings):
    settings.HEALTHBOARD_RATE = 0
    headers = bearer(acme.token)
    for encoding, pack in (("gzip", gzip.compress), ("zstd", zstandard.compress)):
        body = pack(Upload({"run": "1"}).body)
        for end in range(1, len(body), 5):
            answer = post(body[:end], headers | {"Content-Encoding": encoding})
            assert_refused(answer, 400)


def test_a_token_that_is_used_again_soon_costs_no_query(
    acme, django_assert_num_queries
):
    now = datetime(2026, 3, 2, tzinfo=UTC)
    for after, queries in ((0, 1), (9, 0), (11, 1), (20, 0)):
        token = tokens.find(acme.token)
        with django_assert_num_queries(queries):
            tokens.touch(token, now=now + timedelta(minutes=after))
    assert tokens.find(acme.token).last_used_at == now + timedelta(minutes=11)
