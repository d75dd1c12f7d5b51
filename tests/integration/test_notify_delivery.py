"""From a fact to a request: what is sent, how it is signed, what failures lead to."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from healthboard.pipeline import drain_all
from notify import endpoints
from notify.endpoints import Wanted
from notify.models import Attempt, Delivery, Endpoint, Event, EventType
from notify.outbox import OutsideTransaction, write_event
from projects.creation import create_project
from tests.receiving import LOOPBACK, receiving

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme(settings):
    settings.HEALTHBOARD_WEBHOOK_ALLOW = LOOPBACK
    return create_project("acme/app", actor="test").project


def tell(project, key="1", kind=EventType.LEAKER_NEW, **fields):
    with transaction.atomic():
        write_event(project.pk, kind, key, occurred_at=timezone.now(), **fields)


def subscribe(project, receiver, **wanted):
    return endpoints.create(project, Wanted(receiver.url, **wanted), actor="test")


def test_an_event_arrives_once_with_both_signatures(acme):
    with receiving() as receiver:
        made = subscribe(acme, receiver)
        tell(acme, data={"nodeid": "tests/a.py::test_b"}, path="leakers/1")
        tell(acme)  # the same fact
        drain_all()
        drain_all()
    (got,) = receiver.received
    event = Event.objects.get()
    assert got.json == {
        "id": event.public_id,
        "type": "leaker.new",
        "occurred_at": event.occurred_at.isoformat().replace("+00:00", "Z"),
        "project": "acme/app",
        "data": {"nodeid": "tests/a.py::test_b"},
        "url": "http://localhost:8000/p/acme/app/leakers/1",
    }
    stamp = got.headers["x-webhook-timestamp"].encode()
    mac = hmac.new(made.secret.encode(), stamp + b"." + got.body, hashlib.sha256)
    assert got.headers["x-webhook-signature-v2"] == mac.hexdigest()
    assert got.headers["x-request-id"] == event.public_id
    key = base64.b64decode(made.secret.removeprefix("whsec_"))
    text = f"{event.public_id}.".encode() + stamp + b"." + got.body
    standard = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest())
    assert got.headers["webhook-signature"] == f"v1,{standard.decode()}"
    assert got.headers["webhook-id"] == event.public_id


def test_an_event_needs_the_transaction_that_makes_it_true(acme, transactional_db):
    with pytest.raises(OutsideTransaction):
        write_event(acme.pk, EventType.LEAKER_NEW, "1", occurred_at=timezone.now())


def test_an_event_of_a_transaction_that_fails_is_none(acme):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        write_event(acme.pk, EventType.LEAKER_NEW, "1", occurred_at=timezone.now())
        raise ZeroDivisionError
    assert not Event.objects.exists()
