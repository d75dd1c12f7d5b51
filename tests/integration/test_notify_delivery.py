"""From a fact to a request: what is sent, how it is signed, what failures lead to."""

from __future__ import annotations

import base64
import hashlib
import hmac
import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from standardwebhooks import Webhook, WebhookVerificationError

from healthboard.pipeline import drain_all
from notify import endpoints
from notify.endpoints import Wanted
from notify.models import Attempt, Delivery, Endpoint, Event, EventType
from notify.outbox import OutsideTransaction, write_event
from projects.creation import create_project
from projects.models import Secret
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
    def fails():
        with transaction.atomic():
            tell(acme)
            assert Event.objects.exists()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert not Event.objects.exists()


def due_now():
    """Let the time of every next try have come."""
    Delivery.objects.exclude(due_at=None).update(due_at=timezone.now())
    Endpoint.objects.update(held_until=None)


def test_the_public_library_of_standard_webhooks_accepts_what_is_sent(acme):
    with receiving() as receiver:
        made = subscribe(acme, receiver)
        tell(acme, data={"nodeid": "tests/ä.py::test"})
        drain_all()
    (got,) = receiver.received
    checked = Webhook(made.secret).verify(got.body.decode(), got.headers)
    assert checked == got.json
    with pytest.raises(WebhookVerificationError):
        Webhook(made.secret).verify(got.body.decode() + " ", got.headers)


def test_after_a_rotation_receivers_with_either_secret_are_served(acme):
    def by(secret):
        def answer(got):
            stamp = got.headers["x-webhook-timestamp"].encode()
            mac = hmac.new(secret.encode(), stamp + b"." + got.body, hashlib.sha256)
            fits = mac.hexdigest() == got.headers["x-webhook-signature-v2"]
            return 200 if fits else 401

        return answer

    with receiving() as receiver:
        made = subscribe(acme, receiver)
        new = endpoints.rotate(made.endpoint, actor="test")
        for n, secret in enumerate((made.secret, new)):
            receiver.answer = by(secret)
            tell(acme, f"{n}")
            drain_all()
            got = receiver.received[-1]
            for each in (made.secret, new):
                Webhook(each).verify(got.body.decode(), got.headers)
    assert set(Delivery.objects.values_list("state", flat=True)) == {"delivered"}
    assert Attempt.objects.filter(status=401).count() == 1


def test_the_old_secret_ends_after_24_hours(acme):
    with receiving() as receiver:
        made = subscribe(acme, receiver)
        endpoints.rotate(made.endpoint, actor="test")
        Secret.objects.exclude(expires_at=None).update(expires_at=timezone.now())
        tell(acme)
        drain_all()
    (got,) = receiver.received
    with pytest.raises(WebhookVerificationError):
        Webhook(made.secret).verify(got.body.decode(), got.headers)


def test_failures_are_tried_ten_times_and_then_dead(acme):
    with receiving(lambda _: 400) as receiver:
        subscribe(acme, receiver)
        tell(acme)
        for _ in range(12):
            drain_all()
            due_now()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.tries, delivery.status) == ("dead", 10, 400)
    assert len(receiver.received) == 10
    assert len({body["id"] for body in receiver.bodies}) == 1


def test_410_disables_and_tells_who_made_it(acme, settings, mailoutbox):
    settings.HEALTHBOARD_MAIL_HOST = "mail.example"
    ada = User.objects.create_user("ada", email="ada@example.org")
    with receiving(lambda _: 410) as receiver:
        wanted = Wanted(receiver.url, name="chat")
        endpoints.create(acme, wanted, actor="ada", user=ada)
        tell(acme)
        drain_all()
        tell(acme, "2")
        drain_all()
    endpoint = Endpoint.objects.get(name="chat")
    assert endpoint.disabled_reason == "it answered 410: gone"
    assert len(receiver.received) == 1
    (mail,) = mailoutbox
    assert (mail.to, mail.subject) == (
        ["ada@example.org"],
        "[acme/app] chat was disabled: it answered 410: gone",
    )
    assert mail.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_five_days_of_failures_disable(acme):
    with receiving(lambda _: 500) as receiver:
        subscribe(acme, receiver)
        tell(acme)
        drain_all()
        assert Endpoint.objects.get().disabled_at is None
        Endpoint.objects.update(failing_since=timezone.now() - timedelta(days=5))
        due_now()
        drain_all()
    assert Endpoint.objects.get().disabled_reason == "it has failed for 5 days"


def test_retry_after_is_obeyed(acme):
    with receiving(lambda _: (429, {"Retry-After": "1200"})) as receiver:
        subscribe(acme, receiver)
        tell(acme)
        tell(acme, "2")
        drain_all()
        drain_all()
        assert len(receiver.received) == 1
    endpoint, now = Endpoint.objects.get(), timezone.now()
    wait = endpoint.held_until - now
    assert timedelta(seconds=1100) < wait <= timedelta(seconds=1200)
    first = Delivery.objects.order_by("pk").first()
    assert first.due_at >= endpoint.held_until


def test_what_was_missed_follows_in_its_order(acme):
    with receiving(lambda _: 503) as receiver:
        subscribe(acme, receiver)
        for n in range(3):
            tell(acme, f"{n}", data={"n": n})
        drain_all()
        Endpoint.objects.update(held_until=None)
        drain_all()
        receiver.answer = lambda _: 200
        receiver.received.clear()
        Endpoint.objects.update(held_until=None)
        tell(acme, "3", data={"n": 3})
        drain_all()
        drain_all()
    arrived = [body["data"]["n"] for body in receiver.bodies]
    assert sorted(arrived) == [0, 1, 2, 3]
    assert arrived[1:] == sorted(arrived[1:])


def test_one_silent_endpoint_among_100_delays_none(acme):
    """While it keeps the board waiting, all others have got theirs."""
    free = threading.Event()
    others = []

    def silent(_got):
        return lambda handler: free.wait(30)

    def count(got):
        others.append(got)
        if len(others) == 99:
            free.set()
        return 200

    with receiving(silent) as slow, receiving(count) as quick:
        subscribe(acme, slow)
        for _ in range(99):
            subscribe(acme, quick)
        tell(acme)
        drain_all()
    assert free.is_set()
    assert len(others) == 99
    assert len(slow.received) == 1
    assert Delivery.objects.filter(state="delivered").count() == 99


def test_a_storm_is_one_digest_that_holds_every_event(acme):
    with receiving() as receiver, receiving() as machine:
        subscribe(acme, receiver)
        subscribe(acme, machine, folds=False)
        for n in range(21):
            tell(acme, f"{n}", data={"n": n})
        tell(acme, kind=EventType.UNBLOCKED)
        drain_all()
        assert receiver.types == ["pull_request.unblocked"]
        due_now()
        drain_all()
    digest = receiver.bodies[-1]
    assert (digest["type"], digest["data"]["of"], digest["data"]["count"]) == (
        "digest",
        "leaker.new",
        21,
    )
    ids = set(
        Event.objects.filter(type="leaker.new").values_list("public_id", flat=True)
    )
    assert {part["id"] for part in digest["data"]["events"]} == ids
    assert len(machine.received) == 22


def test_20_events_of_a_type_are_no_storm(acme):
    with receiving() as receiver:
        subscribe(acme, receiver)
        for n in range(20):
            tell(acme, f"{n}")
        drain_all()
    assert receiver.types == ["leaker.new"] * 20


def test_what_is_muted_is_silent_until_a_digest_takes_it_along(acme):
    with receiving() as receiver:
        subscribe(acme, receiver, every=24)
        tell(acme, "muted", muted=True)
        drain_all()
        assert not Delivery.objects.exclude(due_at=None).exists()
        tell(acme, "loud")
        drain_all()
        due_now()
        drain_all()
    (digest,) = receiver.bodies
    assert digest["data"]["count"] == 2


def test_a_mail_digest_is_plain_and_html_with_a_way_out(acme, settings, mailoutbox):
    settings.HEALTHBOARD_MAIL_HOST = "mail.example"
    wanted = Wanted(
        "mailto:shop@example.org",
        format="email",
        every=24,
        filters={"owner": ["@shop"]},
    )
    made = endpoints.create(acme, wanted, actor="test")
    assert made.secret == ""
    tell(acme, "1", data={"nodeid": "tests/a.py::<b>"}, owners=["@shop"])
    tell(acme, "2", data={"nodeid": "tests/b.py::test"}, owners=["@shop", "@pay"])
    tell(acme, "3", data={"nodeid": "tests/c.py::test"}, owners=["@pay"])
    drain_all()
    assert mailoutbox == []
    due_now()
    drain_all()
    (mail,) = mailoutbox
    out = endpoints.unsubscribe_url(made.endpoint)
    html = mail.alternatives[0].content
    assert "tests/a.py::<b>" in mail.body
    assert "tests/a.py::&lt;b&gt;" in html
    for text in (mail.body, html):
        assert "tests/b.py::test" in text
        assert "tests/c.py" not in text
        assert out in text


def test_without_a_mail_server_the_delivery_says_so(acme):
    wanted = Wanted("mailto:ada@example.org", format="email")
    endpoints.create(acme, wanted, actor="test")
    tell(acme)
    drain_all()
    assert Delivery.objects.get().error == "no mail server is set (EMAIL_HOST)"


def test_a_disabled_endpoint_hears_nothing_and_then_what_waited(acme):
    with receiving(lambda _: 500) as receiver:
        made = subscribe(acme, receiver)
        tell(acme)
        drain_all()
        endpoints.switch(made.endpoint, on=False, actor="test")
        tell(acme, "2")
        due_now()
        drain_all()
        assert len(receiver.received) == 1
        receiver.answer = lambda _: 200
        endpoints.switch(made.endpoint, on=True, actor="test")
        drain_all()
    assert len(receiver.received) == 2
