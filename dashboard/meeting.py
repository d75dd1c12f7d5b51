"""The rows of a weekly review's page, from its agenda. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.meeting_forms import ALLOWED, DECISIONS
from dashboard.wording import duration, percent
from review.minutes import TITLES, decision_in_words
from review.shapes import Section, decides

if TYPE_CHECKING:
    from review.choices import Decision
    from review.models import Choice
    from review.shapes import Item, Review, Trend

NOTHING = {
    Section.CARRIED: "Nothing was left undecided.",
    Section.LEAKERS: "No test began to leak.",
    Section.FLAKY: "No test became flaky.",
    Section.BLOCKED: "No pull request began to wait for another.",
    Section.FINDINGS: "No review raised a P0 or a P1.",
    Section.COST: "Nothing was lost to failing tests.",
    Section.OVERDUE: "Nothing is late.",
    Section.FIXED: "Nothing was said to be fixed in the last 30 days.",
}


@dataclass(frozen=True, slots=True)
class Row:
    """An item with what was decided; `first` is where it stands higher up, if so."""

    item: Item
    anchor: str
    choice: Choice | None
    decided: bool
    words: str
    options: dict[Decision, str]
    first: str

    @property
    def owner(self) -> str:
        """Who owns it by this review, else already."""
        own = self.choice.owner if self.choice else ""
        return own or str(self.item.figures.get("owner") or "")

    @property
    def version(self) -> int:
        return self.choice.version if self.choice else 0


@dataclass(frozen=True, slots=True)
class Part:
    section: Section
    title: str
    rows: list[Row]
    total: int
    nothing: str

    @property
    def left(self) -> int:
        """How many rows are not shown."""
        return self.total - len(self.rows)


@dataclass(frozen=True, slots=True)
class Figure:
    """A trend in words: what it is now and was, and whether that is better."""

    trend: Trend
    now: str
    before: str
    look: str
    word: str


def parts_of(review: Review) -> list[Part]:
    """Return the sections in their order; a subject is decided where it is first."""
    seen: dict[str, str] = {}
    return [_part(review, section, seen) for section in Section]


def figures_of(review: Review) -> list[Figure]:
    """Return the trends of the week beside those of the week before."""
    return [_figure(trend) for trend in review.agenda.trends]


def _part(review: Review, section: Section, seen: dict[str, str]) -> Part:
    items = review.agenda.sections.get(section, [])
    rows = []
    for number, item in enumerate(items, start=1):
        anchor = f"{section.value}-{number}"
        rows.append(_row(review, item, anchor, seen.get(item.subject, "")))
        seen.setdefault(item.subject, anchor)
    total = review.agenda.totals.get(section, len(items))
    return Part(section, TITLES[section], rows, total, NOTHING[section])


def _row(review: Review, item: Item, anchor: str, first: str) -> Row:
    choice = review.choices.get(item.subject)
    made = choice if choice is not None and choice.version else None
    return Row(
        item=item,
        anchor=anchor,
        choice=made,
        decided=decides(made),
        words=decision_in_words(made) if made else "",
        options={one: DECISIONS[one] for one in ALLOWED[item.kind.value]},
        first=first,
    )


def _figure(trend: Trend) -> Figure:
    look, word = _change(trend)
    return Figure(
        trend, _written(trend, trend.now), _written(trend, trend.before), look, word
    )


def _written(trend: Trend, value: float | None) -> str:
    if value is None:
        return "no runs"
    if trend.unit == "share":
        return percent(value)
    return duration(value) if trend.unit == "seconds" else f"{value:,.0f}"


def _change(trend: Trend) -> tuple[str, str]:
    """More passes are better; of everything else less is."""
    if trend.now is None or trend.before is None:
        return "skipped", "nothing to compare"
    if trend.now == trend.before:
        return "skipped", "the same"
    more = trend.now > trend.before
    better = more if trend.name == "pass_rate" else not more
    return ("passed", "better") if better else ("failed", "worse")
