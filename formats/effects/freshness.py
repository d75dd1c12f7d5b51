"""Whether the newest look at a resource still says something about it.

Guarantees: one answer for each location, by the rules of the format, in time that
grows with the ledger and the logarithm of its places; claims are named by their index
in order of sequence, so that "later" is "greater".
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from formats.effects.forest import ROOT, Forest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from formats.effects.courses import Course

NEVER = -1  # no claim


class Freshness(StrEnum):
    FRESH = "fresh"
    STALE = "stale"
    UNSETTLED = "unsettled"


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a place, to be asked about."""

    place: int
    sequence: int


def last_touches(forest: Forest, courses: Sequence[Course]) -> list[int]:
    """The latest claim that may have touched each place and may have changed it."""
    own = [NEVER] * len(forest)
    for index, course in enumerate(courses):
        if not course.is_inert:
            for place in course.places:
                own[place] = index
    below, above = own[:], own[:]
    for place in range(len(forest) - 1, ROOT, -1):
        parent = forest.parents[place]
        below[parent] = max(below[parent], below[place])
    for place in range(ROOT + 1, len(forest)):
        above[place] = max(above[place], above[forest.parents[place]])
    return list(map(max, below, above))


def open_claims(
    forest: Forest, courses: Sequence[Course], looks: Iterable[Look]
) -> dict[Look, int]:
    """For each look a claim that may touch its place and was open then, or `NEVER`."""
    asked = sorted(looks, key=lambda look: look.sequence)
    times = [look.sequence for look in asked]
    by_end = sorted(range(len(courses)), key=lambda index: _end(courses[index]))
    ranks = {index: rank for rank, index in enumerate(by_end, 1)}
    # Of the claims begun before a look, the one that stays open longest tells.
    longest = _Greatest(len(forest))
    found: dict[Look, int] = {}
    begun = 0
    for look in asked:
        while begun < len(courses) and courses[begun].claim.sequence < look.sequence:
            course = courses[begun]
            if _is_open_at_any(course, times):
                for place in course.places:
                    longest.put(place, forest.ends[place], ranks[begun])
            begun += 1
        rank = longest.get(look.place, forest.ends[look.place])
        index = by_end[rank - 1] if rank else NEVER
        is_open = rank and _end(courses[index]) > (False, look.sequence)
        found[look] = index if is_open else NEVER
    return found


def _end(course: Course) -> tuple[bool, int]:
    """Orders by the settled outcome; what never settled comes last."""
    settled = course.settled_at
    return (True, 0) if settled is None else (False, settled)


def _is_open_at_any(course: Course, times: Sequence[int]) -> bool:
    first = bisect_right(times, course.claim.sequence)
    return first < len(times) and (False, times[first]) < _end(course)


class _Greatest:
    """The greatest number put at a place, below it or above it: two segment trees."""

    def __init__(self, places: int) -> None:
        self._size = places
        self._below = [0] * (2 * places)  # a node: greatest of its places
        self._above = [0] * (2 * places)  # a node: put on all of its places

    def put(self, place: int, end: int, number: int) -> None:
        node = place + self._size
        while node and self._below[node] < number:
            self._below[node] = number
            node >>= 1
        for node in self._nodes(place, end):
            self._above[node] = max(self._above[node], number)

    def get(self, place: int, end: int) -> int:
        greatest = max(self._below[node] for node in self._nodes(place, end))
        node = place + self._size
        while node:
            greatest = max(greatest, self._above[node])
            node >>= 1
        return greatest

    def _nodes(self, start: int, end: int) -> list[int]:
        """The nodes that make up the places from `start` to before `end`."""
        low, high = start + self._size, end + self._size
        found = []
        while low < high:
            if low & 1:
                found.append(low)
                low += 1
            if high & 1:
                high -= 1
                found.append(high)
            low >>= 1
            high >>= 1
        return found
