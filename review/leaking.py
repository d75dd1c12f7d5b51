"""What the agenda says of leakers and unstable tests.

Guarantees: one query each; the dearest first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from leaks.models import Leaker, LeakerState, Verdict
from projects import options
from results.rates import beta_rate
from review import wording
from review.rules import is_flaky_enough
from review.shapes import Item, Kind

if TYPE_CHECKING:
    from datetime import datetime

    from projects.models import Project

WORST = 10
_MOST = 500
_LIVE = (LeakerState.OPEN, LeakerState.MUTED)


def new_leakers(project: Project, *, since: datetime, until: datetime) -> list[Item]:
    """Return leakers that opened, or opened again, in a stretch of time."""
    in_it = Q(opened_at__gte=since, opened_at__lt=until) | Q(
        reopened_at__gte=since, reopened_at__lt=until
    )
    rows = Leaker.objects.filter(in_it, project=project, state__in=_LIVE)
    found = rows.select_related("test").order_by("-lost_s", "pk")[:_MOST]
    return [leaker_item(row, _brought(row, since)) for row in found]


def newly_flaky(project: Project, *, since: datetime, until: datetime) -> list[Item]:
    """Return tests that were classed as flaky in a stretch of time."""
    rows = Verdict.objects.filter(
        project=project, name="flaky", since__gte=since, since__lt=until
    )
    found = rows.select_related("test").order_by("rank", "pk")[:_MOST]
    least = options.read(project).flaky_least_percent
    return [
        unstable_item(row, _flaked(row))
        for row in found
        if is_flaky_enough(row.evidence, least)
    ]


def worst_by_cost(project: Project) -> list[Item]:
    """Return what costs most: open leakers, and tests that fail by themselves.

    What a victim's failures cost is charged to its leaker, so victims are left out.
    """
    leakers = Leaker.objects.filter(project=project, state=LeakerState.OPEN)
    dear = leakers.filter(Q(lost_s__gt=0) | Q(failed_runs__gt=0))
    items = [
        leaker_item(row, _leakers_cost(row))
        for row in dear.select_related("test").order_by("-lost_s", "pk")[:WORST]
    ]
    tests = Verdict.objects.filter(project=project, failed_runs__gt=0)
    tests = tests.exclude(name__in=("victim", "brittle", "gate"))
    items += [
        unstable_item(row, _tests_cost(row))
        for row in tests.select_related("test").order_by("-lost_s", "rank")[:WORST]
    ]
    once = {item.subject: item for item in reversed(items)}
    dearest = sorted(once.values(), key=lambda item: -float(item.figures["lost_s"]))
    return dearest[:WORST]


def leaker_item(row: Leaker, why: str, *, weeks: int = 0) -> Item:
    return Item(
        subject=f"test:{row.test_id}",
        kind=Kind.LEAKER,
        id=row.pk,
        title=row.test.nodeid,
        why=why,
        figures={
            "test": row.test_id,
            "state": row.state,
            "owner": row.owner,
            "source": row.source,
            "kinds": list(row.kinds),
            "victims": row.victims,
            "pulls": row.pulls,
            "failed_results": row.failed_results,
            "failed_runs": row.failed_runs,
            "lost_s": row.lost_s,
            "first_pr": row.first_pr,
            "first_commit": row.first_commit,
        },
        weeks=weeks,
    )


def unstable_item(row: Verdict, why: str, *, weeks: int = 0) -> Item:
    return Item(
        subject=f"test:{row.test_id}",
        kind=Kind.TEST,
        id=row.test_id,
        title=row.test.nodeid,
        why=why,
        figures={
            "test": row.test_id,
            "class": row.name,
            "failed_runs": row.failed_runs,
            "pulls": row.affected_prs,
            "lost_s": row.lost_s,
        },
        weeks=weeks,
    )


def _brought(row: Leaker, since: datetime) -> str:
    again = row.reopened_at is not None and row.reopened_at >= since
    leaks = ", ".join(row.kinds[:3]) or "state"
    by = {
        "gate": "says a gate",
        "correlation": "say its victims' histories",
        "both": "say a gate and its victims' histories",
    }[row.source]
    parts = [f"{'Leaks again' if again else 'Leaks'} {leaks}, {by}"]
    parts.append(wording.counted(row.victims, "victim"))
    if row.first_pr:
        parts.append(f"first seen on #{row.first_pr}")
    elif row.first_commit:
        parts.append(f"first seen at {row.first_commit[:9]}")
    return "; ".join(parts) + "."


def _flaked(row: Verdict) -> str:
    failed, passed = row.evidence.get("failed", 0), row.evidence.get("passed", 0)
    rate = beta_rate(failed, failed + passed)
    said = "Both outcomes on one commit"
    if rate is not None:
        low, high = wording.percent(rate.low), wording.percent(rate.high)
        of = wording.counted(rate.of, "run")
        said += f": failed in {rate.hits:,} of {of} (rate {low} to {high})"
    if row.affected_prs:
        said += f"; {wording.counted(row.affected_prs, 'pull request')} affected"
    return f"{said}."


def _leakers_cost(row: Leaker) -> str:
    said = wording.cost(
        failed_results=row.failed_results,
        failed_runs=row.failed_runs,
        lost_s=row.lost_s,
        pulls=row.pulls,
    )
    return f"{said[:1].upper()}{said[1:]}."


def _tests_cost(row: Verdict) -> str:
    said = wording.cost(
        failed_results=0,
        failed_runs=row.failed_runs,
        lost_s=row.lost_s,
        pulls=row.affected_prs,
    )
    return f"{row.name.replace('_', ' ').capitalize()}: {said}."
