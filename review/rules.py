"""The thresholds of a project, and what changing them would do.

Guarantees: a preview writes nothing; it counts by the facts as they are, before and
after, with what it counted out of.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from findings.filters import LIVE, Filters
from findings.models import Finding
from leaks.models import Verdict
from projects import options
from results.queries.cases import tally
from results.rates import beta_rate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from projects.models import Project
    from projects.options import Options

SEVERITIES = ("P0", "P1", "P2", "P3")


@dataclass(frozen=True, slots=True)
class Preview:
    """One threshold: how many `what` there are by it now, and would be then."""

    name: str
    value: float
    wanted: float
    what: str
    now: int
    then: int
    of: int

    @property
    def changed(self) -> bool:
        return self.value != self.wanted


def previews(project: Project, wanted: Options, *, now: datetime) -> list[Preview]:
    """Say what the wanted thresholds would do."""
    held = options.read(project)
    return [
        _flaky(project, held, wanted),
        _window(project, held, wanted, now=now),
        *_due(project, held, wanted, now=now),
    ]


def is_flaky_enough(evidence: Mapping[str, Any], least_percent: float) -> bool:
    """Tell whether a flaky test fails often enough to be talked about."""
    failed = int(evidence.get("failed", 0))
    rate = beta_rate(failed, failed + int(evidence.get("passed", 0)))
    return rate is None or rate.mean * 100 >= least_percent


def _flaky(project: Project, held: Options, wanted: Options) -> Preview:
    rows = Verdict.objects.filter(project=project, name="flaky")
    told = list(rows.values_list("evidence", flat=True))

    def count(least: float) -> int:
        return sum(is_flaky_enough(evidence, least) for evidence in told)

    before, after = held.flaky_least_percent, wanted.flaky_least_percent
    return Preview(
        "flaky_least_percent",
        before,
        after,
        "flaky",
        count(before),
        count(after),
        len(told),
    )


def _window(
    project: Project, held: Options, wanted: Options, *, now: datetime
) -> Preview:
    before = tally(project.pk, window=held.window_days, now=now)
    after = tally(project.pk, window=wanted.window_days, now=now)
    return Preview(
        "window_days",
        held.window_days,
        wanted.window_days,
        "failing in the window",
        before.failed,
        after.failed,
        before.tests,
    )


def _due(
    project: Project, held: Options, wanted: Options, *, now: datetime
) -> list[Preview]:
    live = Filters(state=LIVE).condition(now=now)
    rows = Finding.objects.filter(live, project=project)
    told = list(rows.values_list("severity", "opened_at", "due", "due_by_hand"))
    found = []
    for severity in SEVERITIES:
        name = f"due_{severity.lower()}_days"
        before, after = getattr(held, name), getattr(wanted, name)
        mine = [row for row in told if row[0] == severity]
        late = [
            sum(
                (due if by_hand else opened_at + timedelta(days=days)) < now
                for _, opened_at, due, by_hand in mine
            )
            for days in (before, after)
        ]
        found.append(
            Preview(name, before, after, "overdue", late[0], late[1], len(mine))
        )
    return found
