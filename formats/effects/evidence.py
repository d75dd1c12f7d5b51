"""What the observations of a ledger can prove of each resource.

Guarantees: for each location the newest observation by the mechanism that can decide
its kind, and whether it is fresh; the newest decides, so no other is looked at but for
the incarnation it shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.effects import wording
from formats.effects.freshness import (
    NEVER,
    Freshness,
    Look,
    last_touches,
    open_claims,
)
from formats.effects.records import DECIDING, Location, Observation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from formats.effects.courses import Course
    from formats.effects.forest import Forest
    from formats.effects.records import Ledger


@dataclass(frozen=True, slots=True)
class Evidence:
    newest: Mapping[Location, Observation]
    freshness: Mapping[Location, tuple[Freshness, str]]  # and its cause in words


class _Sight:
    """What was seen of one location, in order of sequence."""

    __slots__ = ("last", "newest", "of_another")

    def __init__(self, first: Observation) -> None:
        self.last = first  # by any mechanism
        self.of_another: Observation | None = None  # incarnation than `last`
        self.newest: Observation | None = None  # by the deciding mechanism

    def add(self, seen: Observation) -> None:
        if seen.resource.incarnation != self.last.resource.incarnation:
            self.of_another = self.last
        self.last = seen
        if DECIDING.get(seen.resource.kind) is seen.mechanism:
            self.newest = seen

    def replaced(self, seen: Observation) -> Observation | None:
        """A later observation that shows another incarnation."""
        if self.last.resource.incarnation != seen.resource.incarnation:
            return self.last
        other = self.of_another
        return other if other and other.sequence > seen.sequence else None


def gather(ledger: Ledger, forest: Forest, courses: Sequence[Course]) -> Evidence:
    """Find the newest observations of what the claims are obliged for."""
    targets = {o.target.location for c in ledger.claims for o in c.obligations}
    sights: dict[Location, _Sight] = {}
    for seen in sorted(ledger.observations, key=lambda seen: seen.sequence):
        location = seen.resource.location
        if location in targets:
            if location not in sights:
                sights[location] = _Sight(seen)
            sights[location].add(seen)
    newest = {loc: sight.newest for loc, sight in sights.items() if sight.newest}
    looks = {
        location: Look(forest.places[location], seen.sequence)
        for location, seen in newest.items()
    }
    touches = last_touches(forest, courses)
    opened = open_claims(forest, courses, looks.values())
    freshness = {}
    for location, look in looks.items():
        freshness[location] = _freshness(
            newest[location],
            replaced=sights[location].replaced(newest[location]),
            touched=_course(courses, touches[look.place]),
            opened=_course(courses, opened[look]),
        )
    return Evidence(newest, freshness)


def _course(courses: Sequence[Course], index: int) -> Course | None:
    return None if index == NEVER else courses[index]


def _freshness(
    seen: Observation,
    *,
    replaced: Observation | None,
    touched: Course | None,
    opened: Course | None,
) -> tuple[Freshness, str]:
    if touched and touched.claim.sequence > seen.sequence:
        return Freshness.STALE, wording.touched_later(touched.claim)
    if replaced:
        return Freshness.STALE, wording.another_incarnation(replaced)
    if opened:
        return Freshness.UNSETTLED, wording.open_then(opened.claim)
    return Freshness.FRESH, ""
