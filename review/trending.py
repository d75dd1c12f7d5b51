"""The figures of a week beside those of the week before, with their denominators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from results.queries.stretches import Stretch, stretches
from review.shapes import Trend

if TYPE_CHECKING:
    from projects.models import Project
    from review.weeks import IsoWeek


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
    return [_trend(figure, now, before) for figure in _FIGURES]


def _trend(figure: _Figure, now: Stretch, before: Stretch) -> Trend:
    """A count out of nothing is not known, and not 0."""
    of, of_before = figure.of(now), figure.of(before)
    return Trend(
        name=figure.name,
        title=figure.title,
        unit=figure.unit,
        now=figure.value(now) if of else None,
        before=figure.value(before) if of_before else None,
        of=of,
        of_before=of_before,
        of_what=figure.of_what,
    )


class _Figure(NamedTuple):
    name: str
    title: str
    unit: str
    value: Callable[[Stretch], float | None]
    of: Callable[[Stretch], int]
    of_what: str


def _flakes(one: Stretch) -> float | None:
    return one.flake_rate.mean if one.flake_rate else None


_OF = {
    "executed results": attrgetter("executed"),
    "tests": attrgetter("tests"),
    "runs": attrgetter("runs"),
}
_FIGURES = tuple(
    _Figure(name, title, unit, value, _OF[of], of)
    for name, title, unit, value, of in (
        (
            "pass_rate",
            "Pass rate",
            "share",
            attrgetter("pass_rate"),
            "executed results",
        ),
        ("flake_rate", "Flake rate", "share", _flakes, "executed results"),
        (
            "failed_tests",
            "Tests that failed",
            "count",
            attrgetter("failed_tests"),
            "tests",
        ),
        (
            "flaky_tests",
            "Tests that passed on a retry",
            "count",
            attrgetter("flaky_tests"),
            "tests",
        ),
        ("red_runs", "Red runs", "count", attrgetter("red_runs"), "runs"),
        (
            "duration_p50",
            "Suite duration, half of the runs below",
            "seconds",
            attrgetter("p50_s"),
            "runs",
        ),
        (
            "duration_p95",
            "Suite duration, 95 % of the runs below",
            "seconds",
            attrgetter("p95_s"),
            "runs",
        ),
    )
)
