"""Dealing test files to shards, the heaviest first.

Guarantees: a pure function of the files and the durations, in whatever order they come;
the shards together are the files, each exactly once; no shard is longer than 4/3 of
the best possible longest (Graham's bound for longest-first).
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heapreplace
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

UNKNOWN_S = 1.0  # where no file at all was ever measured


@dataclass(frozen=True)
class Plan:
    """All shards of a suite, each with its expected seconds."""

    shards: tuple[tuple[str, ...], ...]
    seconds: tuple[float, ...]
    unknown: int

    @property
    def longest(self) -> float:
        return max(self.seconds)

    @property
    def ideal(self) -> float:
        """Return what every shard would take if files could be cut."""
        return sum(self.seconds) / len(self.seconds)


def pack(files: Iterable[str], durations: Mapping[str, float], *, count: int) -> Plan:
    """Deal the files to so many shards."""
    names = sorted(set(files))
    known = {name: durations[name] for name in names if name in durations}
    usual = median(known.values()) if known else UNKNOWN_S
    weights = {name: known.get(name, usual) for name in names}
    dealt: list[list[str]] = [[] for _ in range(count)]
    # Load, files, place: of equally loaded shards the one with fewer files is next, so
    # that files which take no time are spread too.
    loads = [(0.0, 0, place) for place in range(count)]
    heapify(loads)
    for name in sorted(names, key=lambda name: (-weights[name], name)):
        load, held, place = loads[0]
        dealt[place].append(name)
        heapreplace(loads, (load + weights[name], held + 1, place))
    totals = {place: load for load, _, place in loads}
    return Plan(
        tuple(tuple(sorted(shard)) for shard in dealt),
        tuple(totals[place] for place in range(count)),
        len(names) - len(known),
    )
