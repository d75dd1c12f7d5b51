"""What is told of leakers and flaky tests: once a fact, inside its transaction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from healthboard.pipeline import drain_all
from leaks import decisions, signals
from leaks.models import Leaker, LeakerState, Verdict
from projects.creation import Created, create_project
from tests import leaking_suite as suite
from tests.leaking_suite import send_gate

pytestmark = pytest.mark.django_db

START = datetime.now(UTC).replace(microsecond=0) - timedelta(days=5)
NAMES = ("leaker_opened", "leaker_reopened", "leaker_fixed", "test_newly_flaky")


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="a test")


@pytest.fixture
def news():
    """What was told, in order, and whether a transaction was open each time."""
    heard = []
    listeners = {}
    for name in NAMES:

        def listen(_name=name, **said):
            row = said.get("leaker") or said.get("verdict")
            assert connection.in_atomic_block
            assert type(row).objects.filter(pk=row.pk).exists()
            heard.append((_name, row.test.nodeid, said.get("verified")))

        listeners[name] = listen
        getattr(signals, name).connect(listen)
    yield heard
    for name, listen in listeners.items():
        getattr(signals, name).disconnect(listen)


def test_a_leaker_and_a_flaky_test_are_told_once(acme, news):
    suite.send_all(acme, suite.story(), start=START)
    drain_all()
    assert sorted(news) == [
        ("leaker_opened", suite.nodeid(suite.LEAKER), None),
        ("test_newly_flaky", suite.nodeid(suite.FLAKE), None),
    ]
    news.clear()
    call_command("leaks", "recompute", "acme/app")
    call_command("replay", "--since", "2000-01-31")
    drain_all()
    assert news == []


def test_a_fixed_leaker_that_leaks_again_is_told_as_reopened(acme, news):
    send_gate(acme)
    leaker = Leaker.objects.get()
    decisions.decide(
        acme.project,
        leaker.pk,
        decisions.Wish(state=LeakerState.FIXED, commit="f" * 40),
        seen="open",
        by="ada",
        now=timezone.now() - timedelta(days=1),
    )
    call_command("leaks", "recompute", "acme/app")
    nodeid = leaker.test.nodeid
    assert news == [
        ("leaker_opened", nodeid, None),
        ("leaker_fixed", nodeid, False),
        ("leaker_reopened", nodeid, None),
    ]


def test_what_a_receiver_raises_takes_the_fact_with_it(acme):
    def refuse(**_):
        raise RuntimeError("no room for the event")

    signals.leaker_opened.connect(refuse)
    try:
        send_gate(acme)
    finally:
        signals.leaker_opened.disconnect(refuse)
    assert not Leaker.objects.exists()
    call_command("leaks", "recompute", "acme/app")
    assert Leaker.objects.get().state == "open"


def test_a_muted_leaker_that_is_open_again_is_no_news(acme, news):
    send_gate(acme)
    news.clear()
    Leaker.objects.update(state="muted")
    wish = decisions.Wish(state=LeakerState.OPEN)
    decisions.decide(
        acme.project,
        Leaker.objects.get().pk,
        wish,
        seen="muted",
        by="ada",
        now=timezone.now(),
    )
    drain_all()
    assert news == []


def test_a_test_that_is_flaky_on_and_off_is_told_once(acme, news):
    suite.send_all(acme, suite.story(), start=START)
    drain_all()
    news.clear()
    Verdict.objects.update(name="unexplained")
    call_command("leaks", "recompute", "acme/app")
    assert Verdict.objects.filter(name="flaky").count() == 1
    assert news == []
