"""The minutes of a review: as Markdown for people, as CSV for a spreadsheet.

Guarantees: every item of the agenda stands in both, with what was decided of it and by
whom; nothing that came from outside is read as Markdown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from formats.tables import write_csv
from review.shapes import Kind, Section, decides
from review.wording import counted, percent

if TYPE_CHECKING:
    from projects.models import Project
    from review.models import Choice
    from review.shapes import Item, Review, Trend

TITLES = {
    Section.CARRIED: "Carried over",
    Section.LEAKERS: "New leakers",
    Section.FLAKY: "Newly flaky",
    Section.BLOCKED: "Newly blocked",
    Section.FINDINGS: "New P0 and P1 findings",
    Section.COST: "Worst by cost",
    Section.OVERDUE: "Overdue",
    Section.FIXED: "Fixed, and how sure that is",
}
COLUMNS = (
    "week",
    "section",
    "subject",
    "title",
    "why",
    "carried_weeks",
    "decision",
    "owner",
    "fix_by",
    "until",
    "failures",
    "reason",
    "note",
    "decided_by",
    "decided_at",
)
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def as_csv(review: Review) -> str:
    """Return one row an item; an item of two sections stands in both."""
    return write_csv(
        COLUMNS,
        (
            _row(review, section, item, review.choices.get(item.subject))
            for section, item in review.agenda.items()
        ),
    )


def as_markdown(review: Review, project: Project) -> str:
    """Return the minutes; what is decided is ticked."""
    week, agenda = review.week, review.agenda
    lines = [
        f"# Weekly review {week.name}: {_plain(project.slug)}",
        "",
        f"{week.first} to {week.last} ({project.zone}). {summary(review)}",
    ]
    for section in Section:
        items = agenda.sections.get(section, [])
        total = agenda.totals.get(section, len(items))
        lines += ["", f"## {TITLES[section]} ({total:,})", ""]
        lines += [_line(review, section, item) for item in items] or ["Nothing."]
        if total > len(items):
            lines.append(f"- … and {total - len(items):,} more")
    lines += ["", "## Trends", ""]
    lines += ["| | this week | the week before |", "|---|---|---|"]
    lines += [
        f"| {trend.title} | {figure(trend, trend.now, trend.of)} "
        f"| {figure(trend, trend.before, trend.of_before)} |"
        for trend in agenda.trends
    ]
    if agenda.bad_runs:
        bad = counted(agenda.bad_runs, "run")
        lines += ["", f"Left out: {bad} in which more than 80 % failed."]
    return "\n".join(lines) + "\n"


def summary(review: Review) -> str:
    """Say in a sentence or two how far the review is."""
    count = len(review.agenda.subjects)
    if not count:
        said = "There is nothing to decide."
    else:
        said = f"{review.decided:,} of {counted(count, 'subject')} decided."
    if review.closed and review.row is not None:
        said += f" Closed by {_plain(review.row.closed_by)}"
        said += f" on {review.row.closed_at:%Y-%m-%d}."
    return said


def decision_in_words(choice: Choice) -> str:
    """Write what was decided: `mute until 2026-03-20 or more than 3 failures; ana`."""
    parts = [choice.decision or "note"]
    if choice.until:
        parts.append(f"until {choice.until}")
    if choice.failures is not None:
        join = "or until" if choice.until else "until"
        parts.append(f"{join} it fails more than {counted(choice.failures, 'time')}")
    said = " ".join(parts).replace("more than no times", "at all")
    if choice.owner:
        said += f"; owner {choice.owner}"
    if choice.fix_by:
        said += f"; fix by {choice.fix_by}"
    return said


def figure(trend: Trend, value: float | None, of: int) -> str:
    """Write one figure with its denominator."""
    if value is None:
        return "no runs"
    if trend.unit == "share":
        shown = percent(value)
    elif trend.unit == "seconds":
        shown = f"{value:,.1f} s"
    else:
        shown = f"{value:,.0f}"
    return f"{shown} of {of:,} {trend.of_what}"


def _line(review: Review, section: Section, item: Item) -> str:
    choice = review.choices.get(item.subject)
    why = _plain(item.why)
    if section == Section.FIXED and not decides(choice):
        return f"- {_title(item)} – {why}"
    tick = "x" if decides(choice) else " "
    carried = f" (carried {counted(item.weeks, 'week')})" if item.weeks else ""
    line = f"- [{tick}] {_title(item)}{carried} – {why}"
    if choice is None or not choice.version:
        return f"{line} **Undecided.**"
    line += f" **{_plain(decision_in_words(choice))}**"
    for text in (choice.reason, choice.note):
        line += f" – {_plain(text)}" if text else ""
    return f"{line} ({_plain(choice.by)})"


def _title(item: Item) -> str:
    if item.kind in (Kind.LEAKER, Kind.TEST):
        return _code(item.title)
    return _plain(item.title)


def _plain(text: str) -> str:
    """Return a text in one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """Return a text as code, whatever backticks are in it."""
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _row(
    review: Review, section: Section, item: Item, choice: Choice | None
) -> list[object]:
    head = [review.week.name, section.value, item.subject, item.title, item.why]
    if choice is None or not choice.version:
        return [*head, item.weeks, *[None] * 9]
    return [
        *head,
        item.weeks,
        choice.decision,
        choice.owner,
        choice.fix_by,
        choice.until,
        choice.failures,
        choice.reason,
        choice.note,
        choice.by,
        choice.at,
    ]
