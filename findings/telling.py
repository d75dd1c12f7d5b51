"""What the reviews and decisions of one course come to.

Guarantees: a pure function of what happened, in any order of arrival: each event
counts once, by its time; a key that a person decided on is followed through renames.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from formats.reviews.clusters import Cluster, Decision, Hand, Raised, cluster
from formats.reviews.life import Changes, Dated, Decided, Known, Reviewed, State, replay
from formats.reviews.ranking import Facts
from formats.reviews.review import Confidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from formats.reviews.moves import Move
    from formats.reviews.review import Severity


@dataclass(frozen=True, slots=True)
class Owned:
    """That a person became the owner; empty: nobody is."""

    at: datetime
    id: str
    key: str
    owner: str


@dataclass(frozen=True, slots=True)
class Happened:
    """Everything that a course's findings are made of."""

    reviews: Sequence[Reviewed]
    decided: Sequence[Decided | Dated] = ()
    owned: Sequence[Owned] = ()
    hands: Sequence[Decision] = ()  # splits and joins, oldest first


class Event(NamedTuple):
    """What one review did to a finding; its fields are stored as they are."""

    at: str  # ISO 8601
    upload: int
    what: str  # created, closed, reopened, moved, renamed or ambiguous
    text: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """`former` are the keys that a finding had before, the oldest first."""

    known: dict[str, Known]
    changes: dict[str, Changes] = field(default_factory=dict)
    clusters: list[Cluster] = field(default_factory=list)
    former: dict[str, list[str]] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    confidence: dict[str, Confidence] = field(default_factory=dict)
    history: dict[str, list[Event]] = field(default_factory=dict)


def tell(happened: Happened, *, pr: int | None, days: Mapping[Severity, int]) -> Told:
    """Tell a pull request's findings anew."""
    known, changes = replay([*happened.reviews, *happened.decided], pr=pr, days=days)
    past = _Past()
    for event in sorted(happened.reviews, key=lambda each: (each.at, each.id)):
        past.add(event, changes[event.id])
    former = past.former
    raised = [Raised(each.key, pr, each.finding) for each in known.values()]
    clusters = cluster(raised, _renamed(happened.hands, former))
    owners = _owners(happened.owned, former)
    return Told(known, changes, clusters, former, owners, past.confidence, past.history)


class _Past:
    """What the reviews did to each finding, by the key that it has now."""

    def __init__(self) -> None:
        self.former: dict[str, list[str]] = {}
        self.confidence: dict[str, Confidence] = {}
        self.history: dict[str, list[Event]] = {}

    def add(self, event: Reviewed, change: Changes) -> None:
        at, upload = event.at.isoformat(), upload_of(event.id)
        for move in change.moves:
            if move.was != move.now:
                self._rename(move.was, move.now)
            what = "moved" if move.was == move.now else "renamed"
            self._note(move.now, Event(at, upload, what, _went(move)))
        for what in ("created", "closed", "reopened"):
            for key in getattr(change, what):
                self._note(key, Event(at, upload, what))
        for each in change.ambiguous:
            for key in {*each.was, *each.now} & change.known.keys():
                self._note(key, Event(at, upload, "ambiguous", each.why))
        for key in (*change.created, *change.reopened, *change.untouched):
            self.confidence.pop(key, None)
            if event.review.confidence is not None:
                self.confidence[key] = event.review.confidence

    def _note(self, key: str, event: Event) -> None:
        self.history.setdefault(key, []).append(event)

    def _rename(self, was: str, now: str) -> None:
        self.former[now] = [*self.former.pop(was, []), was]
        self.history[now] = self.history.pop(was, [])
        if was in self.confidence:
            self.confidence[now] = self.confidence.pop(was)


def _went(move: Move) -> str:
    return (
        f"{_spot(move.from_path, move.from_line)} → {_spot(move.to_path, move.to_line)}"
    )


def _spot(path: str, line: int | None) -> str:
    return path if line is None else f"{path}:{line}"


def upload_of(review: str) -> int:
    """Return the upload that a review's id names."""
    return int(review.rpartition(" ")[2].partition("-")[0])


def _owners(owned: Iterable[Owned], former: Mapping[str, list[str]]) -> dict[str, str]:
    now = _now(former)
    ordered = sorted(owned, key=lambda each: (each.at, each.id))
    return {now.get(each.key, each.key): each.owner for each in ordered}


def _renamed(
    hands: Sequence[Decision], former: Mapping[str, list[str]]
) -> list[Decision]:
    now = _now(former)
    return [
        replace(
            each,
            these=frozenset(now.get(key, key) for key in each.these),
            those=frozenset(now.get(key, key) for key in each.those),
        )
        for each in hands
    ]


def _now(former: Mapping[str, list[str]]) -> dict[str, str]:
    return {was: key for key, keys in former.items() for was in keys}


def hand(name: str, these: Iterable[str], those: Iterable[str]) -> Decision:
    """Return a stored split or join as a value."""
    return Decision(Hand(name), frozenset(these), frozenset(those))


def facts_of(
    known: Known, *, reviewers: Iterable[str], confidence: Confidence | None
) -> Facts:
    """Return what a finding is ranked by.

    What it blocks, and how many victims its leaks have, is not known here yet.
    """
    finding = known.finding
    return Facts(
        key=known.key,
        severity=finding.severity,
        blocks=None,
        reviewers=tuple(reviewers),
        confidence=confidence,
        due=known.due,
        path=finding.path,
        line=finding.line,
    )


def is_live(state: str) -> bool:
    return state in (State.OPEN, State.REOPENED)


def tell_each(happened: Happened, *, days: Mapping[Severity, int]) -> Told:
    """Tell findings anew of which each stands alone, with reviews of its own.

    A review raises one finding or none; `id` begins with the key that it speaks of.
    """
    events: dict[str, list[Reviewed | Decided | Dated]] = {}
    for review in happened.reviews:
        events.setdefault(review.id.partition(" ")[0], []).append(review)
    for decision in happened.decided:
        if decision.key in events:
            events[decision.key].append(decision)
    known: dict[str, Known] = {}
    past = _Past()
    for key, own in events.items():
        # Not None: then what is no longer raised would never be resolved.
        told, changes = replay(own, pr=0, days=days)
        if key in told:
            known[key] = told[key]
        reviews = [each for each in own if isinstance(each, Reviewed)]
        for event in sorted(reviews, key=lambda each: (each.at, each.id)):
            past.add(event, changes[event.id])
    clusters = [
        Cluster(None, (key,), each.finding.severity, each.finding.reviewers)
        for key, each in known.items()
    ]
    owners = _owners(happened.owned, {})
    return Told(known, clusters=clusters, owners=owners, history=past.history)
