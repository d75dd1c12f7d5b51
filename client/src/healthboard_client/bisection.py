"""Finding, among the tests that ran before, the few that change how the victim ends.

Guarantees: the order is kept; the tests that are returned were seen to change it, and
none can be left out; with one cause among n tests it takes about log2(n) experiments,
each on half of the rest (delta debugging, when several are needed together).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from healthboard_client.probing import Ending

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def bisect(
    before: Sequence[str],
    changes: Callable[[Sequence[str]], Ending],
    *,
    changed: Ending,
    most: int = 200,
) -> list[str]:
    """Return the least of `before` after which the victim still ends as `changed`.

    Empty where even all of them do not change it, or after `most` experiments.
    """
    tries = 0

    def holds(some: Sequence[str]) -> bool:
        nonlocal tries
        tries += 1
        return changes(some) is changed

    left = list(before)
    if not left or not holds(left):
        return []
    pieces = 2
    while len(left) > 1:
        if tries >= most:
            return []
        smaller = _smaller(left, pieces, holds)
        if smaller is not None:
            left, fell = smaller
            # Of halves the kept one is cut again; of many, one piece fewer is left.
            pieces = 2 if fell == "part" else max(pieces - 1, 2)
        elif pieces >= len(left):
            break
        else:
            pieces = min(2 * pieces, len(left))
    return left


def _smaller(
    left: list[str], pieces: int, holds: Callable[[Sequence[str]], bool]
) -> tuple[list[str], str] | None:
    """Return one piece that suffices, else all without one that is not needed."""
    parts = _parts(left, pieces)
    # The later half first: a leak mostly lies close before its victim. With two
    # pieces, one that fails alone is the other's complement: asked only once.
    for part in reversed(parts):
        if holds(part):
            return part, "part"
    if pieces == 2:
        return None
    for place in range(len(parts)):
        rest = [test for n, part in enumerate(parts) if n != place for test in part]
        if holds(rest):
            return rest, "rest"
    return None


def _parts(left: list[str], pieces: int) -> list[list[str]]:
    """Cut into so many pieces of nearly one length."""
    edges = [len(left) * n // pieces for n in range(pieces + 1)]
    return [left[start:end] for start, end in pairwise(edges)]
