"""Judgements that pages make of facts: a project's health in a word. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.sparklines import Sparkline, sparkline
from dashboard.wording import counted, percent, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from projects.models import Project
    from results.queries.shapes import (
        Part,
        ProjectSummary,
        RunDetail,
        RunRow,
        TrendPoint,
    )

# The order of the list of projects: what needs someone comes first.
_URGENCY = {
    "failed": 0,
    "damaged": 1,
    "incomplete": 2,
    "no_results": 3,
    "passed": 4,
    "": 5,
}
WORDS = {
    "failed": "failing",
    "damaged": "damaged",
    "incomplete": "incomplete",
    "no_results": "no results",
    "passed": "healthy",
}


_LAST = {
    "failed": "failed",
    "damaged": "is damaged",
    "incomplete": "is incomplete",
    "no_results": "has no results",
    "passed": "passed",
}
_WENT = {
    "passed": "passed",
    "failed": "failed",
    "damaged": "damaged",
    "incomplete": "incomplete",
    "no_results": "without results",
}


_INSTEAD = {"effects": "effects only", "gate": "gates only", "review": "review only"}


def outcome_word(run: RunRow | None) -> str:
    """Return the word for a run that has no results and was to have none, or empty."""
    told = run is not None and run.outcome == "no_results"
    return _INSTEAD.get(run.instead, "") if run and told else ""


@dataclass(frozen=True, slots=True)
class Card:
    """A project in the list. `word` is its health, empty without a run."""

    project: Project
    outcome: str
    word: str
    spark: Sparkline | None
    rate: float | None
    run: RunRow | None
    tests: int
    runs: int
    branch: str
    leakers: int = 0  # open ones

    @property
    def urgency(self) -> tuple[int, str]:
        return _URGENCY.get(self.outcome, 5), self.project.slug.lower()


def card(project: Project, summary: ProjectSummary | None, *, leakers: int = 0) -> Card:
    """Judge a project by the last run of its default branch, else by its last."""
    run = (summary.last_default_run or summary.last_run) if summary else None
    points = summary.sparkline if summary else []
    rates = [point.pass_rate for point in points]
    known = [rate for rate in rates if rate is not None]
    outcome = run.outcome if run else ""
    on_default = bool(summary and summary.last_default_run)
    return Card(
        project=project,
        outcome=outcome,
        word=outcome_word(run) or WORDS.get(outcome, ""),
        spark=_spark(rates, known),
        rate=known[-1] if known else None,
        run=run,
        tests=summary.tests if summary else 0,
        runs=summary.runs if summary else 0,
        branch=project.default_branch if on_default else (run.branch if run else ""),
        leakers=leakers,
    )


def overall(cards: list[Card]) -> str:
    """Say in a sentence how many projects need someone."""
    failing = sum(card.outcome == "failed" for card in cards)
    doubtful = sum(card.outcome in ("damaged", "incomplete") for card in cards)
    healthy = sum(card.outcome == "passed" for card in cards)
    if not failing + doubtful + healthy:
        return f"{counted(len(cards), 'project')}, none with a run yet."
    if len(cards) == 1:
        return f"{cards[0].project.slug}: {_of_one(cards[0])}."
    parts = []
    if failing:
        parts.append(f"{failing} {_be(failing)} failing")
    if doubtful:
        parts.append(f"{doubtful} {_be(doubtful)} incomplete or damaged")
    if healthy:
        parts.append(f"{healthy} {_be(healthy)} healthy")
    if empty := len(cards) - failing - doubtful - healthy:
        parts.append(f"{empty} {'has' if empty == 1 else 'have'} no results yet")
    return f"Of {counted(len(cards), 'project')}, {sentence(parts)}."


def _of_one(card: Card) -> str:
    on = f" on {card.branch}" if card.branch else ""
    if word := outcome_word(card.run):
        return f"the last run{on} brought {word}"
    return f"the last run{on} {_LAST.get(card.outcome, 'has no results')}"


def runs_in_short(rows: Sequence[RunRow]) -> str:
    """Say how some runs went: `3 runs shown: 2 passed and 1 failed.`"""
    counts = Counter(row.outcome for row in rows)
    parts = [
        f"{counts[outcome]:,} {word}"
        for outcome, word in _WENT.items()
        if counts[outcome]
    ]
    return f"{counted(len(rows), 'run')} shown: {sentence(parts)}."


def _be(number: int) -> str:
    return "is" if number == 1 else "are"


def longest_part(detail: RunDetail | None) -> Part | None:
    """Return the part of a run that took longest: the run waits for it."""
    if detail is None or len(detail.parts) < 2:
        return None
    return max(detail.parts, key=lambda part: part.wall_s or part.duration_s)


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its denominator; no denominator, no value."""

    value: float | None
    of: int


def whole(points: Sequence[TrendPoint]) -> Share:
    """Join the days of a trend of shares, each weighed by its denominator."""
    known = [point for point in points if point.value is not None and point.of]
    of = sum(point.of for point in known)
    hits = sum((point.value or 0.0) * point.of for point in known)
    return Share(hits / of if of else None, of)


def last_value(points: Sequence[TrendPoint]) -> float | None:
    """Return the value of the last day that has one."""
    known = [point.value for point in points if point.value is not None]
    return known[-1] if known else None


def _spark(rates: list[float | None], known: list[float]) -> Sparkline | None:
    if not known:
        return None
    # A floor below the lowest keeps a suite at 99.9 % from looking like a cliff.
    low = min(min(known), 0.98) - 0.005
    label = (
        f"Pass rate of {len(known)} days with runs in the last 30:"
        f" lowest {percent(min(known))}, last {percent(known[-1])}"
    )
    return sparkline(rates, low=low, high=1.0, label=label)
