"""Every row of the table of answers on a route, with what it stores."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta
from typing import Any

import pytest
import zstandard
from django.conf import settings
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from ingest import answers, bodies, rate, routes
from ingest.models import Answer, RouteKind, State
from ingest.models import Upload as Row
from projects import signing
from projects.creation import Created, create_project
from tests.asking import told
from tests.delivering import FIRST, send
from tests.routing import GATE, PUSH, deliver, hub_signed, make_route, sign, wrapped
from tests.sending import bearer, signed

pytestmark = pytest.mark.django_db

PROBLEM = "application/problem+json"
KINDS = RouteKind.values
BODY = {
    "gate": GATE,
    "review": b"# FleetReview\n\n- P1 a.py:3 - it breaks\n",
    "effects": b'{"v": 1, "type": "claim"}\n',
    "github": PUSH,
    "gitlab": b'{"object_kind": "push"}',
}


@pytest.fixture
def acme() -> Created:
    rate.forget()
    answers.forget()
    return create_project("acme/app", actor="test")


@pytest.fixture(autouse=True)
def nothing_is_stored_that_was_refused():
    def files() -> set[Any]:
        return {path for path in settings.INBOX_DIR.rglob("*") if path.is_file()}

    before = files()
    yield
    bodies_of_rows = Row.objects.values_list("body", flat=True)
    assert files() - before == {settings.INBOX_DIR / name for name in bodies_of_rows}


def assert_refused(answer, status: int, *, field: str | None = None) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == PROBLEM
    problem: dict[str, Any] = json.loads(answer.content)
    assert (problem["status"], problem["type"]) == (status, "about:blank")
    assert problem["title"]
    assert problem["detail"]
    assert problem.get("field") == field
    assert Row.objects.count() == 0
    return problem


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_time_is_202_and_the_second_200(acme, kind):
    made = make_route(acme.project, kind)
    first = deliver(made, BODY[kind])
    row = Row.objects.get()
    url = f"{settings.SITE_ROOT}/api/v1/uploads/{row.pk}"
    assert first.status_code == 202
    assert first.json() == {"id": row.pk, "status": "accepted", "url": url}
    again = deliver(made, BODY[kind])
    assert again.status_code == 200
    assert again.json() == {"id": row.pk, "status": "duplicate", "url": url}
    assert (row.state, row.project, row.route) == (
        State.ADMITTED,
        acme.project,
        made.route,
    )
    assert row.context == {}
    assert (row.token, row.attached_at) == (None, None)
    [file] = row.files
    assert (file["n"], file["kind"], file["size"]) == (1, kind, len(BODY[kind]))
    assert b"".join(bodies.open_file(row, 1)) == BODY[kind]
    assert Row.objects.count() == 1


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("zstd", zstandard.compress)]
)
def test_a_packed_body_is_signed_and_kept_as_sent(acme, encoding, pack):
    made = make_route(acme.project)
    packed = pack(wrapped(json.loads(GATE), run="1"))
    unsent = sign(made, GATE)
    answer = deliver(made, packed, unsent, Content_Encoding=encoding)
    assert_refused(answer, 401)
    assert deliver(made, packed, Content_Encoding=encoding).status_code == 202
    row = Row.objects.get()
    assert (row.encoding, row.wire_bytes) == (encoding, len(packed))
    with bodies.open_raw(row) as raw:
        assert raw.read() == packed
    assert json.loads(b"".join(bodies.open_file(row, 1))) == json.loads(GATE)


def test_every_kind_of_stranger_gets_the_same_401(acme):
    made = make_route(acme.project)
    other = make_route(acme.project, "review")
    good = signed(GATE, made.secret)
    cases = [
        deliver(made, GATE, {}),
        deliver(made, GATE, bearer(acme.token)),
        deliver(made, GATE, signed(GATE, acme.webhook_secret)),
        deliver(made, GATE, signed(GATE, other.secret)),
        deliver(made, GATE, signed(GATE + b" ", made.secret)),
        deliver(made, GATE, signed(GATE, made.secret, at=1_700_000_000)),
        deliver(made, GATE, good | {"X-Webhook-Timestamp": "soon"}),
        deliver(made, GATE, good | {"X-Webhook-Signature-V2": "ab"}),
        deliver(made, GATE, hub_signed(GATE, made.secret)),
        deliver(made, GATE, {"X-Gitlab-Token": made.secret}),
        deliver(made, b'{"context": [', signed(b"", made.secret)),
        deliver(made, GATE, {}, Content_Encoding="br"),
        deliver(made, GATE, {}, query="?project=acme/app"),
    ]
    for answer in cases:
        assert_refused(answer, 401)
        assert answer["WWW-Authenticate"] == 'Signature realm="Healthboard"'
    assert len({answer.content for answer in cases}) == 1


def test_a_secret_of_a_route_signs_no_upload(acme):
    made = make_route(acme.project)
    assert made.secret not in signing.valid_secrets(acme.project, now=timezone.now())
    keys = signing.valid_secrets(
        acme.project, now=timezone.now(), route=made.route.path
    )
    assert keys == [made.secret]


@pytest.mark.parametrize("skew", [-301, -299, 299, 301])
def test_a_clock_may_be_five_minutes_off(acme, skew, time_machine):
    time_machine.move_to(1_800_000_000, tick=False)
    made = make_route(acme.project)
    headers = signed(GATE, made.secret, at=1_800_000_000 + skew)
    answer = deliver(made, GATE, headers)
    assert answer.status_code == (202 if abs(skew) < 300 else 401)
    if abs(skew) > 300:
        side = "ahead of" if skew > 0 else "behind"
        assert Answer.objects.get().detail == f"its timestamp is 301 s {side} our clock"


@pytest.mark.parametrize("kind", KINDS)
def test_both_secrets_are_valid_for_a_day(acme, kind, time_machine):
    start = timezone.now().replace(microsecond=0)
    time_machine.move_to(start, tick=False)
    made = make_route(acme.project, kind)
    renewed = routes.Created(
        made.route, routes.rotate(made.route, actor="test", now=start)
    )
    assert renewed.secret != made.secret

    def statuses() -> list[int]:
        return [deliver(one, BODY[kind]).status_code for one in (made, renewed)]

    assert statuses() == [202, 200]
    time_machine.move_to(start + timedelta(hours=23, minutes=59), tick=False)
    assert statuses() == [200, 200]
    time_machine.move_to(start + timedelta(hours=24, seconds=1), tick=False)
    assert statuses() == [401, 200]


def test_the_secrets_of_uploads_and_routes_rotate_apart(acme):
    made = make_route(acme.project)
    now = timezone.now()
    signing.rotate(acme.project, now=now)
    [secret] = routes.secrets_of(made.route, now=now)
    assert (secret.value, secret.expires_at) == (made.secret, None)


def test_unknown_and_disabled_routes_are_404(acme):
    made = make_route(acme.project)
    path, proof = made.route.address, sign(made, GATE)

    def post(path: str) -> Any:
        client = Client(raise_request_exception=False)
        return client.post(path, GATE, content_type="application/json", headers=proof)

    cases = [post(path + "x"), post(path[:-1]), post("/webhooks/a%00b")]
    cases += [post("/webhooks/a/b"), post("/webhooks/%F0%9F%98%80")]
    routes.disable(made.route, actor="test", now=timezone.now())
    cases += [post(path), post(path + "/")]
    assert len({assert_refused(one, 404)["detail"] for one in cases}) == 1


def test_another_method_is_405(acme):
    made = make_route(acme.project)
    answer = Client().get(made.route.address)
    assert_refused(answer, 405)
    assert answer["Allow"] == "POST"


def test_a_slash_at_the_end_does_no_harm(acme):
    made = make_route(acme.project)
    headers = sign(made, GATE)
    answer = Client().post(
        made.route.address + "/", GATE, content_type="text/plain", headers=headers
    )
    assert answer.status_code == 202


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b'{"context": {"run": "1"}, "payload": ', 400, None),
        (b'{"context": {"run": "1"}, "payload": "a', 400, None),
        (b'{"context": {"run": }, "payload": 1}', 400, "context"),
        (b'{"context": 1, "payload": 1}', 422, "context"),
        (b'{"context": null, "payload": 1}', 422, "context"),
        (b'{"context": {"run": 1, "run": 2}, "payload": 1}', 400, "run"),
        (wrapped({}, shard={"index": 3, "count": 2}), 422, "shard.index"),
        (wrapped({}, colour="red"), 422, "colour"),
        (wrapped({}, pr=0), 422, "pr"),
        (wrapped({}, protocol=2), 400, "protocol"),
        (wrapped({}, project="other/app"), 403, "project"),
        (b'{"context": {}}', 422, "payload"),
        (b'{"context": {}, "payload": 1, "more": 2}', 422, "more"),
        (b'{"context": {"run": "%b"}, "payload": 1}' % (b"x" * 2**20), 422, "context"),
    ],
)
def test_a_body_that_is_wrong_is_told_where(acme, body, status, field):
    made = make_route(acme.project)
    assert_refused(deliver(made, body), status, field=field)
    assert_refused(deliver(made, body, {}), 401)


def test_a_multipart_body_and_a_parameter_are_refused(acme):
    made = make_route(acme.project)
    answer = deliver(made, GATE, content_type="multipart/form-data; boundary=x")
    assert_refused(answer, 400, field="Content-Type")
    assert_refused(deliver(made, GATE, query="?run=1"), 422, field="run")


def test_compression_that_is_none_is_refused(acme):
    made = make_route(acme.project)
    assert_refused(deliver(made, GATE, Content_Encoding="gzip"), 400)
    cut = gzip.compress(GATE)[:-1]
    assert_refused(deliver(made, cut, Content_Encoding="gzip"), 400)
    answer = deliver(made, GATE, Content_Encoding="br")
    assert_refused(answer, 415, field="Content-Encoding")
    assert answer["Accept-Encoding"] == "gzip, zstd"


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_over_a_cap_is_413(acme, kind, settings):
    made = make_route(acme.project, kind)
    settings.HEALTHBOARD_MAX_WIRE_BYTES = 5
    assert_refused(deliver(made, BODY[kind]), 413)
    settings.HEALTHBOARD_MAX_WIRE_BYTES = 10_000
    settings.HEALTHBOARD_MAX_UNPACKED_BYTES = 5
    assert_refused(deliver(made, BODY[kind]), 413)
    assert_refused(
        deliver(made, gzip.compress(BODY[kind]), Content_Encoding="gzip"), 413
    )


@pytest.mark.parametrize("kind", ["gate", "gitlab"])
def test_more_than_the_rate_is_429_but_not_for_strangers(acme, kind, settings):
    settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST = 1, 2
    made = make_route(acme.project, kind)
    for _ in range(5):
        assert_refused(deliver(made, BODY[kind], {}), 401)
    statuses = [deliver(made, BODY[kind]).status_code for _ in range(3)]
    assert statuses == [202, 200, 429]
    assert int(deliver(made, BODY[kind])["Retry-After"]) >= 1


def test_a_store_that_refuses_is_503_and_the_retry_a_first_time(acme, monkeypatch):
    made = make_route(acme.project)
    with monkeypatch.context() as patch:

        def refuse(*args: object, **options: object) -> None:
            raise OperationalError("disk I/O error")

        patch.setattr(Row, "save", refuse)
        answer = deliver(made, GATE, Idempotency_Key="k")
    assert_refused(answer, 503)
    assert int(answer["Retry-After"]) > 0
    assert deliver(made, GATE, Idempotency_Key="k").status_code == 202


def test_an_upload_tells_by_which_route_it_came_and_no_secret(acme: Created):
    made = make_route(acme.project, "gate", name="nightly")
    came = told(f"/uploads/{deliver(made, GATE).json()['id']}", acme.token)
    assert came["route"] == {"name": "nightly", "kind": "gate"}
    assert made.route.path not in json.dumps(came)
    posted = told(f"/uploads/{send(acme, FIRST)}", acme.token)
    assert posted["route"] is None
