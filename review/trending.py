"""The figures of a week beside those of the week before, with their denominators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from results.queries.stretches import stretches
from review.shapes import Trend

if TYPE_CHECKING:
    from projects.models import Project
    from results.queries.stretches import Stretch
    from review.weeks import IsoWeek


_SUITE = "Suite duration"


@dataclass(frozen=True, slots=True)
class Trends:
    """`runs` and `bad_runs` are those of the week, on the branches that count."""

    trends: list[Trend]
    runs: int
    bad_runs: int


def trends_of(project: Project, week: IsoWeek, *, kind: str | None) -> Trends:
    """Return the trends of a week, of one class of branches or of both."""
    spans = [(week.first, week.last), (week.before.first, week.before.last)]
    now, before = stretches(project.pk, spans, branch_class=kind)
    return Trends(_rows(now, before), now.runs, now.bad_runs)


def _rows(now: Stretch, before: Stretch) -> list[Trend]:
    shares = [
        _trend(
            name,
            title,
            "share",
            (of_now, now.executed),
            (of_before, before.executed),
            "executed results",
        )
        for name, title, of_now, of_before in (
            ("pass_rate", "Pass rate", now.pass_rate, before.pass_rate),
            ("flake_rate", "Flake rate", _flakes(now), _flakes(before)),
        )
    ]
    counts = [
        _trend(name, title, "count", of_now, of_before, what)
        for name, title, of_now, of_before, what in (
            (
                "failed_tests",
                "Tests that failed",
                (now.failed_tests, now.tests),
                (before.failed_tests, before.tests),
                "tests",
            ),
            (
                "flaky_tests",
                "Tests that passed on a retry",
                (now.flaky_tests, now.tests),
                (before.flaky_tests, before.tests),
                "tests",
            ),
            (
                "red_runs",
                "Red runs",
                (now.red_runs, now.runs),
                (before.red_runs, before.runs),
                "runs",
            ),
        )
    ]
    times = [
        _trend(
            name,
            title,
            "seconds",
            (of_now, now.runs),
            (of_before, before.runs),
            "runs",
        )
        for name, title, of_now, of_before in (
            (
                "duration_p50",
                f"{_SUITE}, half of the runs below",
                now.p50_s,
                before.p50_s,
            ),
            (
                "duration_p95",
                f"{_SUITE}, 95 % of the runs below",
                now.p95_s,
                before.p95_s,
            ),
        )
    ]
    return [*shares, *counts, *times]


def _flakes(one: Stretch) -> float | None:
    return one.flake_rate.mean if one.flake_rate else None


def _trend(
    name: str,
    title: str,
    unit: str,
    now: tuple[float | None, int],
    before: tuple[float | None, int],
    of_what: str,
) -> Trend:
    """A count out of nothing is not known, and not 0."""
    return Trend(
        name=name,
        title=title,
        unit=unit,
        now=now[0] if now[1] else None,
        before=before[0] if before[1] else None,
        of=now[1],
        of_before=before[1],
        of_what=of_what,
    )
