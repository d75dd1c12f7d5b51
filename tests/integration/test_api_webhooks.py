"""Webhooks over the API: made, changed, tried, removed; deliveries and their repeats."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from healthboard.pipeline import drain_all
from notify.models import EventType
from notify.outbox import write_event
from projects import tokens
from projects.creation import create_project
from projects.models import AuditEntry, Scope
from tests.asking import ask, refused, told, wrong_fields
from tests.receiving import LOOPBACK, receiving
from tests.sending import bearer

pytestmark = pytest.mark.django_db

HOOKS = "/projects/acme/app/webhooks"


@pytest.fixture
def made(settings):
    settings.HEALTHBOARD_WEBHOOK_ALLOW = LOOPBACK
    return create_project("acme/app", actor="test")


@pytest.fixture
def admin(made):
    return tokens.issue(made.project, name="admin", scopes=[Scope.ADMIN, Scope.READ])[1]


@pytest.fixture
def reader(made):
    return tokens.issue(made.project, name="reader", scopes=[Scope.READ])[1]


def send(method, path, token, body=None):
    client = Client(raise_request_exception=False)
    data = {} if body is None else {"data": json.dumps(body)}
    call = getattr(client, method)
    headers = bearer(token)
    return call(
        f"/api/v1{path}", content_type="application/json", headers=headers, **data
    )


def make(token, **body):
    answer = send(
        "post", HOOKS, token, {"url": "https://hooks.example/T0/s3cret"} | body
    )
    assert answer.status_code == 201, answer.content
    return answer.json()


def tell(project, key="1"):
    with transaction.atomic():
        write_event(project.pk, EventType.LEAKER_NEW, key, occurred_at=timezone.now())


def test_a_webhook_is_made_with_its_secret_which_is_shown_once(made, admin, reader):
    got = make(admin, events=["leaker.new"], filters={"owner": ["@shop"]})
    assert got["secret"].startswith("whsec_")
    shown = ("url", "events", "format", "filters", "enabled", "fold", "every")
    assert [got[name] for name in shown] == [
        "https://hooks.example/T0/s3cret",
        ["leaker.new"],
        "json",
        {"owner": ["@shop"]},
        True,
        True,
        0,
    ]
    listed = ask(HOOKS, admin)
    assert got["secret"] not in listed.content.decode()
    (item,) = listed.json()["items"]
    assert item == {name: value for name, value in got.items() if name != "secret"}
    (item,) = told(HOOKS, reader)["items"]
    assert item["url"] == "https://hooks.example/…"
    entry = AuditEntry.objects.get(action="webhook.created")
    assert (entry.actor, entry.detail) == ("token admin", {"webhook": got["id"]})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "ftp://example.org/"}, "url"),
        ({"url": "https://user:pw@example.org/"}, "url"),
        ({"url": "https://example.org/a b"}, "url"),
        ({"url": "https://example.org/\r\nX-Evil: 1"}, "url"),
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": "http://[::ffff:10.0.0.1]/"}, "url"),
        ({"url": "http:///nohost"}, "url"),
        ({"events": ["leaker.old"]}, "events"),
        ({"events": ["digest"]}, "events"),
        ({"format": "xml"}, "format"),
        ({"filters": {"colour": ["red"]}}, "filters"),
        ({"filters": {"severity": ["P9"]}}, "filters"),
        ({"filters": {"quiet": {"from": "22:00"}}}, "filters"),
        ({"every": -1}, "every"),
        ({"secret": "short"}, "secret"),
        ({"format": "email"}, "url"),
        ({"format": "email", "url": "mailto:nobody"}, "url"),
        ({"surprise": 1}, "surprise"),
    ],
    ids=str,
)
def test_what_a_webhook_cannot_be_is_named(made, admin, body, field):
    whole = {"url": "https://hooks.example/"} | body
    assert wrong_fields(send("post", HOOKS, admin, whole)) == [field]


def test_writing_needs_the_scope_admin(made, admin, reader):
    hook = make(admin)
    one = f"{HOOKS}/{hook['id']}"
    body = {"url": "https://hooks.example/"}
    refused(send("post", HOOKS, reader, body), 403)
    refused(send("patch", one, reader, {"name": "x"}), 403)
    refused(send("delete", one, reader), 403)
    refused(send("post", f"{one}/secret", reader), 403)
    refused(send("post", f"{one}/test", reader), 403)
    since = {"since": "2026-01-01T00:00:00Z"}
    refused(send("post", "/projects/acme/app/redeliver", reader, since), 403)
    assert len(told(HOOKS, admin)["items"]) == 1


def test_another_projects_webhooks_do_not_exist(made, admin):
    hook = make(admin)
    other = create_project("acme/other", actor="test").project
    theirs = tokens.issue(other, name="t", scopes=[Scope.ADMIN, Scope.READ])[1]
    refused(ask(HOOKS, theirs), 404)
    refused(send("delete", f"/projects/acme/other/webhooks/{hook['id']}", theirs), 404)
    tell(made.project)
    drain_all()
    (delivery,) = told("/projects/acme/app/deliveries", admin)["items"]
    refused(ask(f"/deliveries/{delivery['id']}", theirs), 404)
    refused(send("post", f"/deliveries/{delivery['id']}/redeliver", theirs), 404)


def test_a_webhook_changes_and_goes(made, admin):
    hook = make(admin)
    one = f"{HOOKS}/{hook['id']}"
    body = {"name": "chat", "events": ["run.failed"], "fold": False, "enabled": False}
    got = send("patch", one, admin, body).json()
    assert (got["name"], got["events"], got["fold"]) == ("chat", ["run.failed"], False)
    assert (got["enabled"], got["disabled_reason"]) == (False, "by token admin")
    assert send("patch", one, admin, {"enabled": True}).json()["enabled"] is True
    assert wrong_fields(send("patch", one, admin, {"url": "http://10.1.1.1/"})) == [
        "url"
    ]
    assert send("delete", one, admin).status_code == 204
    assert told(HOOKS, admin)["items"] == []


def test_deliveries_show_request_and_answer(made, admin):
    with receiving() as receiver:
        hook = make(admin, url=receiver.url)
        tell(made.project)
        drain_all()
    (row,) = told("/projects/acme/app/deliveries", admin)["items"]
    assert (row["state"], row["status"], row["webhook"]) == (
        "delivered",
        200,
        hook["id"],
    )
    assert [one["status"] for one in row["attempts"]] == [200]
    whole = told(f"/deliveries/{row['id']}", admin)
    (tried,) = whole["attempts"]
    assert tried["request"]["url"] == receiver.url
    assert tried["request"]["body"].encode() == receiver.received[0].body
    assert tried["request"]["headers"]["X-Webhook-Signature-V2"] == "(not kept)"
    assert (tried["answer"]["body"], tried["answer"]["cut"]) == ("ok", False)
    assert tried["address"] == "127.0.0.1"
    assert whole["payload"] == receiver.bodies[0]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, 2),
        ({"state": "delivered"}, 2),
        ({"state": "dead"}, 0),
        ({"event": "leaker.new"}, 2),
        ({"event": "run.failed"}, 0),
        ({"webhook": 2**40}, 0),
        ({"since": "2000-01-01"}, 2),
        ({"until": "2000-01-01"}, 0),
    ],
    ids=str,
)
def test_deliveries_are_filtered(made, admin, query, found):
    with receiving() as receiver:
        make(admin, url=receiver.url)
        tell(made.project, "1")
        tell(made.project, "2")
        drain_all()
    answer = told("/projects/acme/app/deliveries", admin, **query)
    assert len(answer["items"]) == found


def test_one_delivery_or_all_since_a_time_are_sent_again_with_their_ids(made, admin):
    with receiving() as receiver:
        make(admin, url=receiver.url)
        tell(made.project, "1")
        tell(made.project, "2")
        drain_all()
        first, second = (body["id"] for body in receiver.bodies)
        rows = told("/projects/acme/app/deliveries", admin, event=first)["items"]
        path = f"/deliveries/{rows[0]['id']}/redeliver"
        assert send("post", path, admin).status_code == 202
        refused(send("post", path, admin), 409)
        drain_all()
        assert [body["id"] for body in receiver.bodies] == [first, second, first]
        since = (timezone.now() - timedelta(hours=1)).isoformat()
        again = "/projects/acme/app/redeliver"
        answer = send("post", again, admin, {"since": since})
        assert answer.json() == {"redelivered": 2}
        drain_all()
        assert [body["id"] for body in receiver.bodies[3:]] == [first, second]
        later = (timezone.now() + timedelta(hours=1)).isoformat()
        answer = send("post", again, admin, {"since": later})
        assert answer.json() == {"redelivered": 0}


def test_a_test_event_goes_to_its_webhook_alone(made, admin):
    with receiving() as receiver, receiving() as other:
        hook = make(admin, url=receiver.url, events=["run.failed"])
        make(admin, url=other.url)
        assert send("post", f"{HOOKS}/{hook['id']}/test", admin).status_code == 202
        drain_all()
    assert receiver.types == ["webhook.test"]
    assert other.received == []


def test_a_rotated_secret_is_shown_once(made, admin):
    hook = make(admin)
    answer = send("post", f"{HOOKS}/{hook['id']}/secret", admin)
    assert answer.status_code == 201
    assert answer.json()["secret"] not in ("", hook["secret"])
    assert answer.json()["secret"] not in ask(HOOKS, admin).content.decode()
