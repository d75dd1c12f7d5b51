"""The pages of webhooks out: making one, its secret once, deliveries, sending again."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from healthboard.pipeline import drain_all
from notify import endpoints
from notify.models import Delivery, Endpoint, EventType
from notify.outbox import write_event
from projects.creation import create_project
from projects.models import Membership, Role
from tests.receiving import LOOPBACK, receiving

pytestmark = pytest.mark.django_db

PAGES = "/p/acme/app/settings/webhooks"


@pytest.fixture
def project(settings):
    settings.HEALTHBOARD_WEBHOOK_ALLOW = LOOPBACK
    return create_project("acme/app", actor="test").project


def signed_in(project, role=Role.ADMIN):
    user = User.objects.create_user(f"{role}", email=f"{role}@example.org")
    Membership.objects.create(project=project, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def make(client, url, **fields):
    sent = {"url": url, "format": "json", "every": 0, "folds": "on"} | fields
    return client.post(f"{PAGES}/new", sent)


def tell(project, key="1"):
    with transaction.atomic():
        write_event(
            project.pk,
            EventType.LEAKER_NEW,
            key,
            occurred_at=timezone.now(),
            data={"nodeid": "<b>tests/a.py::test</b>"},
        )


def test_a_secret_is_shown_once(project):
    client = signed_in(project)
    answer = make(client, "https://hooks.example/in", events=["leaker.new"])
    secret = re.search(r"whsec_[A-Za-z0-9+/=]+", answer.content.decode())
    assert secret is not None
    made = Endpoint.objects.get()
    again = client.get(f"{PAGES}/{made.pk}").content.decode()
    assert "whsec_" not in again
    assert "leaker.new" in again
    rotated = client.post(f"{PAGES}/{made.pk}/rotate").content.decode()
    assert "whsec_" in rotated
    assert secret[0] not in rotated


def test_what_is_wrong_is_said_at_its_field(project):
    client = signed_in(project)
    page = make(client, "http://10.0.0.1/").content.decode()
    assert "not a public address" in page
    page = make(client, "https://hooks.example/", quiet_from="22:00").content.decode()
    assert "Give both times, or none." in page
    assert not Endpoint.objects.exists()


def test_a_delivery_shows_its_request_and_answer_and_is_sent_again(project):
    client = signed_in(project)
    with receiving() as receiver:
        make(client, receiver.url)
        tell(project)
        drain_all()
        delivery = Delivery.objects.get()
        listed = client.get("/p/acme/app/deliveries").content.decode()
        assert delivery.event.public_id in listed
        page = client.get(f"/p/acme/app/deliveries/{delivery.pk}").content.decode()
        assert "200 from 127.0.0.1" in page
        assert "X-Webhook-Signature-V2: (not kept)" in page
        assert "<b>tests" not in page
        client.post(f"/p/acme/app/deliveries/{delivery.pk}/again")
        drain_all()
        client.post("/p/acme/app/deliveries/again", {"hours": 1})
        drain_all()
    assert len({body["id"] for body in receiver.bodies}) == 1
    assert len(receiver.received) == 3


def test_the_test_button_sends_to_its_webhook(project):
    client = signed_in(project)
    with receiving() as receiver:
        make(client, receiver.url)
        client.post(f"{PAGES}/{Endpoint.objects.get().pk}/test")
        drain_all()
    assert receiver.types == ["webhook.test"]


@pytest.mark.parametrize("format", ["json", "slack", "teams", "email"])
def test_every_format_has_a_preview_of_every_event(project, format):
    client = signed_in(project)
    url = "mailto:a@example.org" if format == "email" else "https://hooks.example/"
    make(client, url, format=format)
    pk = Endpoint.objects.get().pk
    for kind in endpoints.SUBSCRIBABLE:
        answer = client.get(f"{PAGES}/{pk}", {"preview": kind})
        assert answer.status_code == 200
        assert answer.context["preview"].body
        assert "<body style" not in answer.content.decode()


def test_a_webhook_is_changed_disabled_enabled_and_removed(project):
    client = signed_in(project)
    make(client, "https://hooks.example/in", path="src, docs/*")
    pk = Endpoint.objects.get().pk
    fields = {"url": "https://other.example/", "format": "json", "every": 3}
    client.post(f"{PAGES}/{pk}/change", fields | {"severity": ["P0"]})
    changed = Endpoint.objects.get()
    assert (changed.url, changed.every, changed.folds, changed.filters) == (
        "https://other.example/",
        3,
        False,
        {"severity": ["P0"]},
    )
    client.post(f"{PAGES}/{pk}/switch", {"disable": "1"})
    assert Endpoint.objects.get().disabled_reason == "by admin"
    client.post(f"{PAGES}/{pk}/switch", {"enable": "1"})
    assert Endpoint.objects.get().disabled_at is None
    client.post(f"{PAGES}/{pk}/switch", {"remove": "1"})
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize("role", [Role.VIEWER, Role.TRIAGER])
def test_the_pages_are_for_admins(project, role):
    client = signed_in(project, role)
    for path in (PAGES, "/p/acme/app/deliveries"):
        assert client.get(path).status_code == 403
    assert make(client, "https://hooks.example/").status_code == 403


def test_another_projects_webhook_is_not_found(project):
    client = signed_in(project)
    other = create_project("acme/other", actor="test").project
    wanted = endpoints.Wanted("https://hooks.example/")
    theirs = endpoints.create(other, wanted, actor="test").endpoint
    delivery = endpoints.try_out(theirs, actor="test")
    assert client.get(f"{PAGES}/{theirs.pk}").status_code == 404
    assert client.post(f"{PAGES}/{theirs.pk}/rotate").status_code == 404
    assert client.get(f"/p/acme/app/deliveries/{delivery.pk}").status_code == 404
    assert client.post(f"/p/acme/app/deliveries/{delivery.pk}/again").status_code == 404


def test_a_mail_is_ended_by_its_link_alone(project):
    wanted = endpoints.Wanted("mailto:ada@example.org", format="email")
    made = endpoints.create(project, wanted, actor="test").endpoint
    path = endpoints.unsubscribe_url(made).partition("8000")[2]
    stranger = Client(enforce_csrf_checks=True)
    assert stranger.get(path).status_code == 200
    made.refresh_from_db()
    assert made.disabled_at is None
    assert stranger.post(path, {"List-Unsubscribe": "One-Click"}).status_code == 200
    made.refresh_from_db()
    assert made.disabled_reason == "unsubscribed"
    assert stranger.get(path[:-2] + "xx").status_code == 404
