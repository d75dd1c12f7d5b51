"""Projects in short: their last runs, and how they did these thirty days."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.db.models import OuterRef, Subquery

from projects.models import Project
from results.models import Counter, Day, Run
from results.queries.rows import RUN_FIELDS, run_row
from results.queries.shapes import ProjectSummary, RatePoint
from results.queries.windows import ends_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from results.queries.shapes import RunRow

DAYS = 30


def summaries_for(
    project_ids: Iterable[int], *, now: datetime | None = None
) -> dict[int, ProjectSummary]:
    """Summarise projects; five queries, however many they are."""
    newest = Run.objects.filter(project=OuterRef("pk")).order_by("-started_at", "-pk")
    projects = list(
        Project.objects.filter(pk__in=list(project_ids)).annotate(
            last=Subquery(newest.values("pk")[:1]),
            last_default=Subquery(
                newest.filter(branch=OuterRef("default_branch"), pr=None).values("pk")[
                    :1
                ]
            ),
        )
    )
    ids = {pk for p in projects for pk in (p.last, p.last_default) if pk}
    runs = {
        run.pk: run_row(run) for run in Run.objects.filter(pk__in=ids).only(*RUN_FIELDS)
    }
    ends = {pk: e.day for pk, e in ends_of([p.pk for p in projects], now=now).items()}
    totals = _totals(projects, ends)
    tests = dict(
        Counter.objects.filter(project__in=projects).values_list("project_id", "tests")
    )
    return {
        p.pk: _summary(p, runs, totals[p.pk], tests.get(p.pk, 0), ends[p.pk])
        for p in projects
    }


type _Totals = dict[tuple[str, date], dict[str, int]]


def _totals(
    projects: Sequence[Project], ends: Mapping[int, date]
) -> dict[int, _Totals]:
    if not ends:
        return {}
    since = min(ends.values()) - timedelta(days=DAYS)
    days = Day.objects.filter(project__in=projects, date__gte=since)
    found: dict[int, _Totals] = defaultdict(dict)
    for project_id, branch_class, day, totals in days.values_list(
        "project_id", "branch_class", "date", "totals"
    ):
        found[project_id][branch_class, day] = totals
    return found


def _summary(
    project: Project,
    runs: Mapping[int, RunRow],
    totals: _Totals,
    tests: int,
    today: date,
) -> ProjectSummary:
    last: int | None = getattr(project, "last", None)
    default: int | None = getattr(project, "last_default", None)
    has_default = any(
        one.get("runs")
        for (branch_class, _), one in totals.items()
        if branch_class == "default"
    )
    chosen = "default" if has_default or not totals else "other"
    dates = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    return ProjectSummary(
        project_id=project.pk,
        last_run=runs[last] if last else None,
        last_default_run=runs[default] if default else None,
        sparkline=[_point(day, totals.get((chosen, day), {})) for day in dates],
        branch_class=chosen,
        tests=tests,
        runs=sum(
            one.get("runs", 0)
            for (_, day), one in totals.items()
            if dates[0] <= day <= today
        ),
    )


def _point(day: date, totals: Mapping[str, int]) -> RatePoint:
    executed = totals.get("results", 0) - totals.get("skipped", 0)
    rate = totals.get("passed", 0) / executed if executed else None
    return RatePoint(day, rate, totals.get("runs", 0))
