"""The page of rules: what a threshold would do is said before it is saved."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from projects import options
from projects.creation import create_project
from projects.models import AuditEntry, Role
from review.agenda import current_week, review_of
from review.shapes import Section
from tests.meeting import make_verdict
from tests.reviewing import make_finding
from tests.visiting import base, read, visit, visitor

pytestmark = pytest.mark.django_db

NOW = timezone.now()


@pytest.fixture
def acme():
    return create_project("acme/app", actor="test").project


@pytest.fixture
def admin(acme):
    return visitor(acme, Role.ADMIN, name="root-of-acme")


def values(**changed):
    held = {
        "flaky_least_percent": 1.0,
        "window_days": 30,
        "due_p0_days": 1,
        "due_p1_days": 7,
        "due_p2_days": 30,
        "due_p3_days": 90,
    }
    return held | changed


def fill(acme):
    # Means of Beta(f + .5, n - f + .5): 5.7 %, 50 %, 0.5 %.
    for name, failed, passed in (("a", 3, 57), ("b", 1, 1), ("c", 0, 99)):
        evidence = {"failed": failed, "passed": passed}
        make_verdict(acme, f"test_{name}", since=NOW, evidence=evidence)
    opened = {"severity": "P1", "opened_at": NOW - timedelta(days=5)}
    make_finding(acme, "1" * 32, **opened)
    make_finding(
        acme, "2" * 32, **opened, due=NOW + timedelta(days=9), due_by_hand=True
    )


def test_what_a_threshold_would_do_is_said_and_not_done(acme, admin):
    fill(acme)
    path = f"{base(acme)}/settings/rules"
    assert "Now 2 flaky, of 3." in visit(admin, path)
    sent = values(flaky_least_percent=10, due_p1_days=3) | {"try": "1"}
    text = read(admin.post(path, sent))
    assert "Not saved yet" in text
    assert "Now 2 flaky, then 1 of 3." in text
    assert "Now 0 overdue, then 1 of 2." in text
    assert options.read(acme).flaky_least_percent == 1.0


def test_what_is_saved_holds_and_is_audited(acme, admin):
    fill(acme)
    path = f"{base(acme)}/settings/rules"
    admin.post(path, values(flaky_least_percent=10) | {"save": "1"})
    acme.refresh_from_db()
    assert options.read(acme).flaky_least_percent == 10
    entry = AuditEntry.objects.get(action="settings.changed")
    assert entry.detail == {"flaky_least_percent": [1.0, 10.0]}
    week = current_week(acme, now=NOW)
    listed = review_of(acme, week, now=timezone.now()).agenda.sections[Section.FLAKY]
    assert [item.title.rpartition("::")[2] for item in listed] == ["test_b"]


@pytest.mark.parametrize("wrong", [{"window_days": 0}, {"flaky_least_percent": "x"}])
def test_what_makes_no_sense_is_not_saved(acme, admin, wrong):
    path = f"{base(acme)}/settings/rules"
    text = read(admin.post(path, values(**wrong) | {"save": "1"}))
    assert "A value makes no sense." in text
    assert AuditEntry.objects.filter(action="settings.changed").count() == 0


def test_only_admins_change_rules(acme):
    tri = visitor(acme, Role.TRIAGER)
    path = f"{base(acme)}/settings/rules"
    assert tri.get(path).status_code == 403
    assert tri.post(path, values() | {"save": "1"}).status_code == 403
