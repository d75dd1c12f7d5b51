"""Overlap of resources as places in a forest.

Guarantees: two references overlap exactly when they stand at one place or one place is
above the other; place 0 is above all, for claims that may have touched anything. Places
are numbered so that those below a place are `place + 1` to `ends[place] - 1`.

- `filesystem`: the tree of path components, one for each location but for its last
  part; relative and absolute paths are apart.
- `owned`: `*` stands above the records that have all other parts in common.
- any other kind: each location stands alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.effects.records import Kind, Location

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = 0
_BELOW = "\x00"  # no text of a ledger holds it, and it sorts first


@dataclass(frozen=True, slots=True)
class Forest:
    places: dict[Location, int]
    parents: list[int]
    ends: list[int]

    def __len__(self) -> int:
        return len(self.parents)


def plant(locations: Iterable[Location]) -> Forest:
    """Give each location its place; sorting puts those below right behind."""
    groups: dict[Location, int] = {}
    keys = {location: _key(location, groups) for location in locations}
    ordered = sorted(set(keys.values()))
    parents = [ROOT] * (len(ordered) + 1)
    ends = [len(parents)] * len(parents)
    above = [(ROOT, "")]
    for place, key in enumerate(ordered, 1):
        while len(above) > 1 and not _is_above(above[-1][1], key):
            ends[above.pop()[0]] = place
        parents[place] = above[-1][0]
        above.append((place, key))
    numbers = {key: place for place, key in enumerate(ordered, 1)}
    places = {location: numbers[key] for location, key in keys.items()}
    return Forest(places, parents, ends)


def _is_above(upper: str, lower: str) -> bool:
    return lower.startswith(upper) and lower[len(upper)] == _BELOW


def _key(location: Location, groups: dict[Location, int]) -> str:
    """A text of which a prefix, cut at `_BELOW`, is the key of a place above."""
    kind, last = location[0], location[-1]
    if kind not in (Kind.FILESYSTEM, Kind.OWNED):
        return str(groups.setdefault(location, len(groups)))
    group = str(groups.setdefault(location[:-1], len(groups)))
    if kind == Kind.OWNED:
        return group if last == "*" else f"{group}{_BELOW}{last}"
    root = "absolute" if last.startswith("/") else "relative"
    parts = (part for part in last.split("/") if part not in ("", "."))
    return _BELOW.join((group, root, *parts))
