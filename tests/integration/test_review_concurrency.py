"""Two people at the very same moment: one is stored, the other one is told."""

from __future__ import annotations

import threading

import pytest
from django.db import connections
from django.utils import timezone

from notify.models import Event
from projects.creation import create_project
from review.agenda import current_week
from review.choices import Closed, Pick, choose
from review.closing import close
from review.deciding import Stale, Wish, decide
from review.models import Change, Choice, Standing, Week
from tests.meeting import make_verdict

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(60)]

NOW = timezone.now()
PEOPLE = ("ana", "bob", "eve", "tri")


@pytest.fixture
def project():
    return create_project("acme/app", actor="test").project


def at_once(act):
    """Let all people act at once; return who was stored, and who was told."""
    start = threading.Barrier(len(PEOPLE))
    stored, told = [], []

    def run(name):
        try:
            start.wait()
            act(name)
            stored.append(name)
        except (Stale, Closed):
            told.append(name)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[name]) for name in PEOPLE]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(stored + told) == sorted(PEOPLE)
    return stored


def test_one_choice_of_a_version_is_stored(project):
    test = make_verdict(project, "test_a", since=NOW).test
    week = current_week(project, now=NOW)

    def act(name):
        pick = Pick(owner=name)
        choose(project, week, f"test:{test.pk}", pick, version=0, by=name, now=NOW)

    [first] = at_once(act)
    choice = Choice.objects.get()
    assert (choice.owner, choice.by, choice.version) == (first, first, 1)
    assert Standing.objects.get().owner == first
    assert set(Change.objects.values_list("by", flat=True)) == {first}


def test_one_decision_of_a_version_is_stored(project):
    test = make_verdict(project, "test_a").test

    def act(name):
        decide(project, test.pk, Wish(owner=name), by=name, now=NOW, version=0)

    [first] = at_once(act)
    row = Standing.objects.get()
    assert (row.owner, row.version) == (first, 1)


def test_a_review_is_closed_and_told_once(project):
    make_verdict(project, "test_a", since=NOW)
    week = current_week(project, now=NOW)
    [first] = at_once(lambda name: close(project, week, by=name, now=NOW))
    assert Week.objects.get().closed_by == first
    assert Event.objects.filter(type="review.ready").count() == 1
