"""What a weekly review talks about, made row by row: leakers, classes, findings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from leaks.models import Leaker, LeakerState, Verdict
from projects.models import Project
from results.models import TestCase
from review.weeks import read_week
from tests.builders import make_run

WEEK = read_week("2026-W10")
MONDAY = WEEK.begins("UTC")
WEDNESDAY = MONDAY + timedelta(days=2, hours=9)
FRIDAY = MONDAY + timedelta(days=4, hours=15)
NEXT_TUESDAY = MONDAY + timedelta(days=8, hours=9)


def make_old(project: Project) -> None:
    """Make the project as old as its weeks."""
    Project.objects.filter(pk=project.pk).update(
        created_at=datetime(2026, 1, 5, tzinfo=UTC)
    )


def make_case(project: Project, name: str) -> TestCase:
    if not project.tests.filter(name=name).exists():
        make_run(project, [name])
    return project.tests.get(name=name)


def make_leaker(project: Project, name: str, **fields: Any) -> Leaker:
    values = {
        "state": LeakerState.OPEN,
        "source": "gate",
        "kinds": ["env.set"],
        "opened_at": WEDNESDAY,
        "first_at": WEDNESDAY,
        "first_pr": 538,
        "victims": 2,
        "method_version": 1,
        "updated_at": WEDNESDAY,
    }
    test = make_case(project, name)
    return Leaker.objects.create(project=project, test=test, **values | fields)


def make_verdict(project: Project, case: str, /, **fields: Any) -> Verdict:
    values = {
        "name": "flaky",
        "since": WEDNESDAY,
        "evidence": {"failed": 3, "passed": 57},
        "failed_runs": 3,
        "affected_prs": 2,
        "lost_s": 600.0,
        "last_failed": WEDNESDAY,
        "method_version": 1,
        "updated_at": WEDNESDAY,
    }
    test = make_case(project, case)
    return Verdict.objects.create(project=project, test=test, **values | fields)
