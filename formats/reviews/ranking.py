"""The order in which findings are to be read, and why, in words.

Guarantees: severity first; then what blocks an open pull request, the number of
reviewers that agree, the review's confidence, measured victims of linked leaks, and
the time left until the due date; the same facts give the same order in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

    from formats.reviews.review import Confidence, Severity


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one finding or cluster; its `key` is any that is unique."""

    key: str
    severity: Severity
    blocks: tuple[int, ...] | None = ()  # open pull requests; None: not known
    reviewers: tuple[str, ...] = ()
    confidence: Confidence | None = None  # of the review that raised it last
    victims: int = 0  # measured victims of the leaks that it is linked to
    due: datetime | None = None
    path: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """`reason` says what counts; `behind` by what it is behind the one before it."""

    key: str
    position: int  # from 1
    reason: str
    behind: str  # empty for the first, and where only the place differs


_CRITERIA = (
    "severity",
    "blocking an open pull request",
    "reviewers that agree",
    "the review's confidence",
    "measured victims of linked leaks",
    "time left until the due date",
)


def rank(facts: Iterable[Facts], *, now: datetime) -> list[Ranked]:
    """Return the findings, the most pressing first."""
    ordered = sorted(
        facts, key=lambda each: (_weights(each), each.path, each.line or 0, each.key)
    )
    ranked = []
    before: Facts | None = None
    for position, each in enumerate(ordered, 1):
        behind = _behind(before, each) if before else ""
        ranked.append(Ranked(each.key, position, _reason(each, now=now), behind))
        before = each
    return ranked


def _weights(facts: Facts) -> tuple[float, ...]:
    """Smaller is more pressing; in the order of `_CRITERIA`."""
    return (
        facts.severity.step,
        not facts.blocks,
        -len(facts.reviewers),
        -facts.confidence.share if facts.confidence else 0.0,
        -facts.victims,
        facts.due.timestamp() if facts.due else float("inf"),
    )


def _behind(before: Facts, facts: Facts) -> str:
    pairs = zip(_CRITERIA, _weights(before), _weights(facts), strict=True)
    return next((name for name, left, right in pairs if left != right), "")


def _reason(facts: Facts, *, now: datetime) -> str:
    parts = [
        facts.severity.value,
        _blocking(facts.blocks),
        _agreeing(facts.reviewers),
        _confident(facts.confidence),
    ]
    if facts.victims:
        parts.append(
            f"{_counted(facts.victims, 'measured victim')} of leaks linked to it"
        )
    if facts.due:
        parts.append(_ageing(facts.due - now))
    return "; ".join(parts)


def _blocking(pulls: tuple[int, ...] | None) -> str:
    if pulls is None:
        return "what it blocks is not known"
    if not pulls:
        return "blocks no open pull request"
    shown = ", ".join(f"#{number}" for number in sorted(pulls)[:5])
    if len(pulls) > 5:
        shown += f" and {len(pulls) - 5} more"
    return f"blocks {shown}"


def _agreeing(reviewers: tuple[str, ...]) -> str:
    if not reviewers:
        return "no reviewer is stated"
    names = ", ".join(sorted(reviewers)[:8])
    if len(reviewers) > 8:
        names += f" and {len(reviewers) - 8} more"
    return f"raised by {_counted(len(reviewers), 'reviewer')} ({names})"


def _confident(confidence: Confidence | None) -> str:
    if confidence is None:
        return "the review states no confidence"
    return f"review's confidence {confidence.score:g} of {confidence.of:g}"


def _ageing(left: timedelta) -> str:
    days = abs(left).days
    if days:
        amount = _counted(days, "day")
    else:
        amount = _counted(int(abs(left).total_seconds() // 3600), "hour")
    seconds = left.total_seconds()
    return f"{amount} over its due date" if seconds < 0 else f"due in {amount}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
