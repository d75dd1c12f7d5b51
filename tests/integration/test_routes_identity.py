"""Which delivery is this, what does its body hold, and what becomes of it."""

from __future__ import annotations

import hashlib
import hmac
import json
from urllib.parse import urlencode

import pytest
from django.core.management import call_command
from django.utils import timezone

from healthboard.pipeline import drain_all
from ingest import answers, bodies, rate, routes
from ingest.models import Route, RouteKind, State
from ingest.models import Upload as Row
from ingest.signatures import read_github
from projects.creation import Created, create_project
from projects.models import AuditEntry, Secret
from results.models import Run
from tests.asking import told
from tests.routing import (
    GATE,
    PUSH,
    REVIEW,
    deliver,
    hub_signed,
    make_route,
    wrapped,
)
from tests.sending import Upload, bearer, post

pytestmark = pytest.mark.django_db

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def acme() -> Created:
    rate.forget()
    answers.forget()
    return create_project("acme/app", actor="test")


@pytest.mark.parametrize(
    ("kind", "headers", "named"),
    [
        ("gate", ("Idempotency_Key", "X_Request_ID"), "Idempotency_Key"),
        ("gate", ("X_Request_ID", "X_GitHub_Delivery"), "X_Request_ID"),
        ("gate", ("X_GitHub_Delivery", "X_Gitlab_Event_UUID"), ""),
        ("github", ("X_Request_ID", "X_GitHub_Delivery"), "X_GitHub_Delivery"),
        ("github", ("X_GitHub_Delivery", "Idempotency_Key"), "Idempotency_Key"),
        ("github", ("X_Gitlab_Event_UUID",), ""),
        ("gitlab", ("X_Request_ID", "X_Gitlab_Event_UUID"), "X_Gitlab_Event_UUID"),
        ("gitlab", ("X_GitHub_Delivery", "X_Request_ID"), "X_Request_ID"),
    ],
)
def test_the_id_of_a_delivery(acme, kind, headers, named):
    made = make_route(acme.project, kind)
    sent = {name: f"id of {name}" for name in headers}
    assert deliver(made, PUSH, **sent).status_code == 202
    digest = f"sha256:{hashlib.sha256(PUSH).hexdigest()}"
    assert Row.objects.get().delivery_id == (sent[named] if named else digest)


def test_the_same_id_with_another_body_is_409(acme):
    made = make_route(acme.project, "github")
    assert deliver(made, PUSH, X_GitHub_Delivery="d1").status_code == 202
    assert deliver(made, PUSH, X_GitHub_Delivery="d1").status_code == 200
    assert deliver(made, PUSH + b" ", X_GitHub_Delivery="d1").status_code == 409
    assert deliver(made, PUSH, X_GitHub_Delivery="d2").status_code == 202
    assert Row.objects.count() == 2


@pytest.mark.parametrize("value", ["x" * 201, "tab\there"])
def test_an_unfit_id_is_422(acme, value):
    made = make_route(acme.project, "github")
    answer = deliver(made, PUSH, X_GitHub_Delivery=value)
    assert answer.status_code == 422
    assert answer.json()["field"] == "X-GitHub-Delivery"


def test_the_digest_of_a_route_is_of_its_raw_bytes(acme):
    made = make_route(acme.project)
    spaced = GATE + b"\n"
    statuses = [deliver(made, body).status_code for body in (GATE, spaced, GATE)]
    assert statuses == [202, 202, 200]


def test_ids_are_of_the_project_for_uploads_and_routes_alike(acme):
    made = make_route(acme.project)
    other = make_route(create_project("other/app", actor="test").project)
    assert (
        post(Upload(), bearer(acme.token) | {"Idempotency-Key": "1"}).status_code == 202
    )
    assert deliver(made, GATE, Idempotency_Key="1").status_code == 409
    assert deliver(other, GATE, Idempotency_Key="1").status_code == 202


def test_one_body_without_an_id_is_one_delivery_of_its_project(acme):
    one, other = make_route(acme.project), make_route(acme.project, "github")
    elsewhere = make_route(create_project("other/app", actor="test").project)
    statuses = [deliver(made, GATE).status_code for made in (one, other, elsewhere)]
    assert statuses == [202, 200, 202]
    assert deliver(other, GATE, X_GitHub_Delivery="1").status_code == 202


# The example of GitHub's documentation of validating deliveries.
def test_the_documented_vector_of_github():
    secret, payload = "It's a Secret to Everybody", b"Hello, World!"
    sent = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    mine = hmac.digest(secret.encode(), payload, "sha256").hex()
    assert sent == f"sha256={mine}"
    assert hub_signed(payload, secret)["X-Hub-Signature-256"] == sent
    signature = read_github({"X-Hub-Signature-256": sent})
    assert signature.matches([secret], [b"Hello, ", b"World!"])
    assert not signature.matches([secret], [b"Hello, World?"])
    assert not signature.matches([], [payload])


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Hub-Signature-256": "sha256="},
        {"X-Hub-Signature-256": "sha1=" + "0" * 64},
        {"X-Hub-Signature-256": "sha256=" + "0" * 64},
        {"X-Hub-Signature": "sha1=" + "0" * 40},
        {"X-Gitlab-Token": "no"},
    ],
)
def test_a_github_hook_without_its_signature_is_401(acme, headers):
    made = make_route(acme.project, "github")
    assert deliver(made, PUSH, headers).status_code == 401
    assert Row.objects.count() == 0


@pytest.mark.parametrize(
    "token", ["", "no", "ä", "\N{SNOWMAN}".encode().decode("latin-1")]
)
def test_a_gitlab_hook_without_its_token_is_401(acme, token):
    made = make_route(acme.project, "gitlab")
    headers = {"X-Gitlab-Token": token} if token else {}
    assert deliver(made, PUSH, headers).status_code == 401
    assert deliver(made, PUSH, {"X-Gitlab-Token": made.secret + "x"}).status_code == 401
    assert Row.objects.count() == 0


def test_a_ping_of_github_is_stored_and_kept(acme):
    made = make_route(acme.project, "github")
    ping = b'{"zen": "Keep it logically awesome.", "hook_id": 1}'
    answer = deliver(made, ping, X_GitHub_Event="ping", X_GitHub_Delivery="d")
    assert answer.status_code == 202
    drain_all()
    row = Row.objects.get()
    assert (row.state, row.event, row.run_id) == (State.PROCESSED, "ping", None)
    [warning] = row.warnings
    assert warning["message"] == "github.json: kept for the pull-request stage"
    shown = told(f"/uploads/{row.pk}", acme.token)
    assert (shown["kind"], shown["state"]) == (["github"], "processed")


def test_a_form_of_github_is_its_payload(acme):
    made = make_route(acme.project, "github")
    body = urlencode({"payload": PUSH.decode()}).encode()
    assert deliver(made, body, content_type=FORM).status_code == 202
    row = Row.objects.get()
    assert b"".join(bodies.open_file(row, 1)) == PUSH
    with bodies.open_raw(row) as raw:
        assert raw.read() == body
    answer = deliver(made, b"zen=x", content_type=FORM)
    assert (answer.status_code, answer.json()["field"]) == (422, "payload")


@pytest.mark.parametrize(
    ("kind", "body", "line"),
    [("github", b"{\n]", 2), ("gitlab", b"[]", None), ("gitlab", b"\xff", None)],
)
def test_a_hook_that_is_no_object_is_rejected_with_its_place(acme, kind, body, line):
    assert deliver(make_route(acme.project, kind), body).status_code == 202
    drain_all()
    row = Row.objects.get()
    assert row.state == State.REJECTED
    assert row.errors[0]["line"] == line


@pytest.mark.parametrize(
    ("kind", "payload", "file"),
    [
        ("gate", json.loads(GATE), GATE),
        ("gate", GATE.decode(), GATE),
        ("review", REVIEW, REVIEW.encode()),
        ("effects", '{"v": 1}\n{"v": 1}\n', b'{"v": 1}\n{"v": 1}\n'),
    ],
)
def test_a_payload_with_its_context(acme, kind, payload, file):
    made = make_route(acme.project, kind)
    context = {"project": "acme/app", "run": "ci-1", "pr": 538}
    assert deliver(made, wrapped(payload, **context)).status_code == 202
    row = Row.objects.get()
    assert row.context.items() >= context.items()
    [entry] = row.files
    assert b"".join(bodies.open_file(row, 1)) == file
    assert entry["size"] == len(file)
    assert entry["sha256"] == hashlib.sha256(file).hexdigest()


def test_a_bare_payload_makes_no_run_and_says_so(acme):
    deliver(make_route(acme.project, "review"), REVIEW.encode())
    drain_all()
    row = Row.objects.get()
    assert (row.state, row.run_id, row.errors) == (State.PROCESSED, None, [])
    assert "stands-alone" in [warning["code"] for warning in row.warnings]
    assert Run.objects.count() == 0


def test_a_bad_payload_is_rejected_with_its_place(acme):
    made = make_route(acme.project, "effects")
    deliver(made, b'{"v": 1, "type": "claim"\n')
    deliver(made, wrapped('{"v": 1, "type": "claim"\n', run="ci-1"))
    drain_all()
    alone, named = Row.objects.order_by("pk")
    assert (alone.state, named.state) == (State.REJECTED, State.REJECTED)
    assert alone.errors[0]["line"] == named.errors[0]["line"] == 1
    assert alone.run_id is None
    run = Run.objects.get()
    assert (named.run_id, run.name, run.outcome) == (run.pk, "ci-1", "damaged")


def test_routes_by_command(acme, capsys):
    from_command(capsys, "create", "acme/app", "review", "--name", "bots")
    made = json.loads(from_command(capsys, "create", "acme/app", "gate", "--json"))
    assert set(made) == {"path", "secret"}
    route = Route.objects.get(kind=RouteKind.GATE)
    assert made["path"] == f"/webhooks/{route.path}"
    assert deliver(routes.Created(route, made["secret"]), GATE).status_code == 202
    renewed = json.loads(from_command(capsys, "rotate", made["path"], "--json"))
    assert renewed["path"] == made["path"]
    for secret in (made["secret"], renewed["secret"]):
        assert deliver(routes.Created(route, secret), GATE).status_code == 200
    from_command(capsys, "disable", route.path)
    assert deliver(routes.Created(route, made["secret"]), GATE).status_code == 404
    listed = json.loads(from_command(capsys, "list", "acme/app", "--json"))
    assert [(row["kind"], row["name"], row["state"]) for row in listed] == [
        ("gate", "", "disabled"),
        ("review", "bots", "enabled"),
    ]
    actions = AuditEntry.objects.filter(action__startswith="route.").order_by("id")
    assert [(entry.actor, entry.action) for entry in actions] == [
        ("command line", "route.created"),
        ("command line", "route.created"),
        ("command line", "route.secret_rotated"),
        ("command line", "route.disabled"),
    ]
    told_of = " ".join(str(entry.detail) + entry.subject for entry in actions)
    for secret in Secret.objects.values_list("value", flat=True):
        assert secret not in told_of


def test_no_two_routes_have_the_same_path(acme):
    paths = {make_route(acme.project).route.path for _ in range(20)}
    assert len(paths) == 20
    assert min(map(len, paths)) == 32


def test_disabling_twice_is_written_down_once(acme):
    route = make_route(acme.project).route
    now = timezone.now()
    assert routes.disable(route, actor="test", now=now)
    assert not routes.disable(route, actor="test", now=now)
    assert AuditEntry.objects.filter(action="route.disabled").count() == 1


def from_command(capsys, *arguments: str) -> str:

    call_command("route", *arguments)
    return capsys.readouterr().out
