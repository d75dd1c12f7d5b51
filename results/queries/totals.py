"""How much there is in the whole installation: for the metrics."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Sum

from projects.models import Project
from results.models import Run, RunOutcome, TestCase


@dataclass(frozen=True, slots=True)
class Totals:
    projects: int
    tests: int
    results: int  # merged: one a test and run
    runs: dict[RunOutcome, int]


def totals() -> Totals:
    """Count projects, test cases, runs by outcome, and their results."""
    rows = (
        Run.objects.values_list("outcome")
        .annotate(Count("pk"), Sum("tests"))
        .order_by()
    )
    runs = {RunOutcome(outcome): (count, tests) for outcome, count, tests in rows}
    return Totals(
        projects=Project.objects.count(),
        tests=TestCase.objects.count(),
        results=sum(tests for _, tests in runs.values()),
        runs={outcome: runs.get(outcome, (0, 0))[0] for outcome in RunOutcome},
    )
