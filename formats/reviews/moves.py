"""Where the places of a finding went, and which file was renamed.

Guarantees: exact lines first, then the nearest; a place that could be two others, and
a finding that could be two others, is shown as ambiguous and paired with neither.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from formats.reviews.identity import normalised_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from formats.reviews.review import Finding, Place

# Each round pairs at least the two nearest; what is left then is too tangled to tell.
_ROUNDS = 16


class How(StrEnum):
    NEAREST = "nearest"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class Move:
    """A finding is elsewhere than before. `was` and `now` are keys, mostly the same."""

    was: str
    now: str
    how: How
    from_path: str
    to_path: str
    from_line: int | None
    to_line: int | None


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """What may be the same, but cannot be told: for people to look at."""

    was: tuple[str, ...]  # keys
    now: tuple[str, ...]
    why: str  # in words


def moved_places(
    key: str, before: Finding, after: Finding
) -> tuple[list[Move], list[Ambiguity]]:
    """Pair the places of one finding in two reviews."""
    old, new = _lines(before.places), _lines(after.places)
    same = set(old) & set(new)
    old = [line for line in old if line not in same]
    new = [line for line in new if line not in same]
    pairs, old, new = _nearest(old, new)
    moves = [
        Move(key, key, How.NEAREST, before.path, after.path, was, now)
        for was, now in pairs
    ]
    if not old or not new:
        return moves, []
    why = (
        f"lines {_listed(old)} of {before.path} may be any of {_listed(new)}: "
        "which is which cannot be told"
    )
    return moves, [Ambiguity((key,), (key,), why)]


def _lines(places: Iterable[Place]) -> list[int]:
    return sorted({place.line for place in places})


def _listed(lines: Sequence[int]) -> str:
    shown = ", ".join(str(line) for line in lines[:10])
    return shown if len(lines) <= 10 else f"{shown} and {len(lines) - 10} more"


def _nearest(
    old: list[int], new: list[int]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Pair what is nearest to each other, both ways and without a rival."""
    pairs: list[tuple[int, int]] = []
    for _ in range(_ROUNDS):
        chosen = [
            (was, now)
            for was in old
            if (now := _closest(was, new)) is not None and _closest(now, old) == was
        ]
        if not chosen:
            break
        pairs += chosen
        gone, come = {was for was, _ in chosen}, {now for _, now in chosen}
        old = [line for line in old if line not in gone]
        new = [line for line in new if line not in come]
    return sorted(pairs), old, new


def _closest(line: int, among: Sequence[int]) -> int | None:
    """The one nearest line; None where there is none or two are equally near."""
    at = bisect_left(among, line)
    near = among[max(at - 1, 0) : at + 1]
    if not near:
        return None
    if len(near) == 2 and abs(near[0] - line) == abs(near[1] - line):
        return None
    return min(near, key=lambda each: abs(each - line))


def renamed(
    gone: Mapping[str, Finding], come: Mapping[str, Finding]
) -> tuple[list[Move], list[Ambiguity]]:
    """Pair findings whose file has another path now.

    Only where one that is gone and one that is new have the same title and rule, no
    other has, and the paths share their file's name or their folder.
    """
    old, new = _by_title(gone), _by_title(come)
    moves, ambiguous = [], []
    for title in sorted(old.keys() & new.keys()):
        was, now = old[title], new[title]
        if len(was) == len(now) == 1 and _renames(gone[was[0]], come[now[0]]):
            before, after = gone[was[0]], come[now[0]]
            paths = before.path, after.path
            lines = before.line, after.line
            move = Move(was[0], now[0], How.RENAMED, *paths, *lines)
            moves.append(move)
            continue
        why = (
            f"“{gone[was[0]].title}” is gone from {_paths(gone, was)} and new in "
            f"{_paths(come, now)}: whether a file was renamed cannot be told"
        )
        ambiguous.append(Ambiguity(tuple(was), tuple(now), why))
    return moves, ambiguous


def _by_title(findings: Mapping[str, Finding]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for key in sorted(findings):
        finding = findings[key]
        title = normalised_title(finding.title), finding.rule
        found.setdefault(title, []).append(key)
    return found


def _renames(before: Finding, after: Finding) -> bool:
    old_folder, _, old_name = before.path.rpartition("/")
    new_folder, _, new_name = after.path.rpartition("/")
    return old_name == new_name or old_folder == new_folder


def _paths(findings: Mapping[str, Finding], keys: Sequence[str]) -> str:
    shown = ", ".join(findings[key].path for key in keys[:5])
    return shown if len(keys) <= 5 else f"{shown} and {len(keys) - 5} more"
