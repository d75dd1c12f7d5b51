"""The life of findings on a pull request, from review to review.

Guarantees: only a complete review of the same pull request resolves a finding that it
does not raise; what a person decided is changed by a person alone; `advance` is a pure
function, so that reviews and decisions replayed in their order give the same states.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from formats.reviews.identity import fold
from formats.reviews.moves import Ambiguity, Move, moved_places, renamed
from formats.reviews.review import Finding, Review, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DUE_DAYS = {Severity.P0: 1, Severity.P1: 7, Severity.P2: 30, Severity.P3: 90}


class State(StrEnum):
    OPEN = "open"
    REOPENED = "reopened"
    RESOLVED = "resolved"
    ACCEPTED = "accepted"
    FALSE_POSITIVE = "false positive"
    WONT_FIX = "won't fix"
    FIXED = "fixed"


# Set by a person; no review changes them.
VERDICTS = frozenset(
    {State.ACCEPTED, State.FALSE_POSITIVE, State.WONT_FIX, State.FIXED}
)
LIVE = frozenset({State.OPEN, State.REOPENED})


class Undecidable(Exception):
    """A decision that is not allowed; says why."""


@dataclass(frozen=True, slots=True)
class Known:
    """One finding on one pull request. `finding` is as last raised, folded."""

    key: str
    pr: int | None
    finding: Finding
    first_seen: datetime
    last_seen: datetime
    opened_at: datetime  # created, or reopened
    due: datetime
    state: State = State.OPEN
    reason: str = ""  # of the verdict
    seen_count: int = 1  # reviews that raised it
    due_by_hand: bool = False
    raised_since_fixed: int = 0  # reviews that raise what a person says is fixed


@dataclass(frozen=True, slots=True)
class Changes:
    """What one review did. `known` holds all findings of the pull request after it."""

    known: dict[str, Known]
    created: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()  # raised again, and their state is as it was
    unseen: tuple[str, ...] = ()  # live, not raised, but the review is not complete
    moves: tuple[Move, ...] = ()
    ambiguous: tuple[Ambiguity, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        return {
            "created": len(self.created),
            "closed": len(self.closed),
            "reopened": len(self.reopened),
            "untouched": len(self.untouched),
        }


@dataclass(slots=True)
class _Draft:
    known: dict[str, Known]
    created: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    reopened: list[str] = field(default_factory=list)
    untouched: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    ambiguous: list[Ambiguity] = field(default_factory=list)

    def frozen(self) -> Changes:
        return Changes(
            self.known,
            tuple(self.created),
            tuple(self.closed),
            tuple(self.reopened),
            tuple(self.untouched),
            tuple(self.unseen),
            tuple(self.moves),
            tuple(self.ambiguous),
        )


def due_date(
    severity: Severity,
    opened_at: datetime,
    *,
    days: Mapping[Severity, int] = DUE_DAYS,
) -> datetime:
    return opened_at + timedelta(days=days[severity])


def advance(
    known: Iterable[Known],
    review: Review,
    *,
    pr: int | None,
    now: datetime,
    days: Mapping[Severity, int] = DUE_DAYS,
) -> Changes:
    """Return what the review makes of what is known of its pull request.

    Findings of other pull requests in `known` are let be and not returned. Without a
    pull request nothing is resolved: another review says nothing of the same code.
    """
    draft = _Draft({each.key: each for each in known if each.pr == pr})
    raised = fold(review.findings)
    resolves = review.complete and pr is not None
    if resolves:
        _follow_renames(draft, raised)
    before = set(draft.known)
    for key, finding in raised.items():
        if key in before:
            _see_again(draft, key, finding, now=now, days=days)
        else:
            draft.known[key] = _new(key, pr, finding, now=now, days=days)
            draft.created.append(key)
    for key in sorted(before - raised.keys()):
        _miss(draft, key, resolves=resolves)
    return draft.frozen()


def _follow_renames(draft: _Draft, raised: Mapping[str, Finding]) -> None:
    gone = {
        key: each.finding
        for key, each in draft.known.items()
        if key not in raised and each.state is not State.RESOLVED
    }
    come = {key: each for key, each in raised.items() if key not in draft.known}
    moves, ambiguous = renamed(gone, come)
    for move in moves:
        draft.known[move.now] = replace(draft.known.pop(move.was), key=move.now)
    draft.moves += moves
    draft.ambiguous += ambiguous


def _new(
    key: str,
    pr: int | None,
    finding: Finding,
    *,
    now: datetime,
    days: Mapping[Severity, int],
) -> Known:
    due = due_date(finding.severity, now, days=days)
    new = Known(key, pr, finding, now, now, opened_at=now, due=due)
    if not finding.suppressed:
        return new
    # Somebody told the tool so; that counts as their verdict here.
    reasons = [each.reason for each in finding.suppressions if each.reason]
    reason = "; ".join(reasons) or "suppressed where it was found"
    return replace(new, state=State.ACCEPTED, reason=reason)


def _see_again(
    draft: _Draft,
    key: str,
    finding: Finding,
    *,
    now: datetime,
    days: Mapping[Severity, int],
) -> None:
    was = draft.known[key]
    if was.finding.path == finding.path:
        moves, ambiguous = moved_places(key, was.finding, finding)
        draft.moves += moves
        draft.ambiguous += ambiguous
    returned = was.state is State.RESOLVED
    (draft.reopened if returned else draft.untouched).append(key)
    reviewers = {*was.finding.reviewers, *finding.reviewers}
    draft.known[key] = replace(
        was,
        finding=replace(finding, reviewers=tuple(sorted(reviewers))),
        first_seen=min(was.first_seen, now),
        last_seen=max(was.last_seen, now),
        opened_at=now if returned else was.opened_at,
        due=_due(was, finding.severity, now=now, days=days),
        state=State.REOPENED if returned else was.state,
        seen_count=was.seen_count + 1,
        due_by_hand=was.due_by_hand and not returned,
        raised_since_fixed=was.raised_since_fixed + (was.state is State.FIXED),
    )


def _due(
    was: Known, severity: Severity, *, now: datetime, days: Mapping[Severity, int]
) -> datetime:
    if was.state is State.RESOLVED:
        return due_date(severity, now, days=days)
    if was.due_by_hand or severity == was.finding.severity:
        return was.due
    if severity < was.finding.severity:  # worse: there is less time, but some
        return min(was.due, due_date(severity, now, days=days))
    return due_date(severity, was.opened_at, days=days)


def _miss(draft: _Draft, key: str, *, resolves: bool) -> None:
    was = draft.known[key]
    if was.state not in LIVE:
        return
    if resolves:
        draft.known[key] = replace(was, state=State.RESOLVED)
        draft.closed.append(key)
    else:
        draft.unseen.append(key)


def decide(known: Known, state: State, *, now: datetime, reason: str = "") -> Known:
    """Set what a person decided; `open` takes a verdict back."""
    if state is not State.OPEN and state not in VERDICTS:
        raise Undecidable(f"{state} is found by reviews, not decided by people")
    if state is State.WONT_FIX and not reason.strip():
        raise Undecidable(f"{state} needs a reason")
    opened_at = known.opened_at
    if state is State.OPEN and known.state not in LIVE:
        opened_at = now
    return replace(
        known,
        state=state,
        reason="" if state is State.OPEN else reason.strip(),
        opened_at=opened_at,
        raised_since_fixed=0,
    )


@dataclass(frozen=True, slots=True)
class Reviewed:
    """That a review came; `id` is its upload's."""

    at: datetime
    id: str
    review: Review


@dataclass(frozen=True, slots=True)
class Decided:
    at: datetime
    id: str
    key: str
    state: State
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Dated:
    """That a person set a due date."""

    at: datetime
    id: str
    key: str
    due: datetime


def replay(
    events: Iterable[Reviewed | Decided | Dated],
    *,
    pr: int | None,
    days: Mapping[Severity, int] = DUE_DAYS,
) -> tuple[dict[str, Known], dict[str, Changes]]:
    """Tell one pull request's life anew; each event counts once, by its time.

    Returns the findings as they are, and what each review changed, by its id.
    """
    known: dict[str, Known] = {}
    changes: dict[str, Changes] = {}
    once = {(type(event).__name__, event.id): event for event in events}
    for event in sorted(once.values(), key=lambda each: (each.at, each.id)):
        if isinstance(event, Reviewed):
            changed = advance(
                known.values(), event.review, pr=pr, now=event.at, days=days
            )
            known, changes[event.id] = dict(changed.known), changed
            continue
        was = known.get(event.key)
        if was is None:
            continue
        if isinstance(event, Dated):
            known[event.key] = replace(was, due=event.due, due_by_hand=True)
        else:
            known[event.key] = decide(
                was, event.state, now=event.at, reason=event.reason
            )
    return known, changes
