"""States that a gate has looked at, and what differs between two of them.

Guarantees: a state is never changed once it was taken, so two looks that found the same
may be one object; a difference names each key once, in the order of the states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import NamedTuple


class Absence(Enum):
    """The value of a key that is not there; None is a value like any other."""

    MISSING = "missing"


MISSING = Absence.MISSING

State = Mapping[str, object]
Same = Callable[[object, object], object]


class Change(NamedTuple):
    """One key whose value is another one than before."""

    key: str
    before: object
    after: object


def changes(before: State, after: State, same: Same) -> list[Change]:
    """Return what differs; nothing is compared where both are one object."""
    if before is after:
        return []
    found = []
    for key, value in before.items():
        now = after.get(key, MISSING)
        if now is MISSING or not same(value, now):
            found.append(Change(key, value, now))
    found += [
        Change(key, MISSING, now) for key, now in after.items() if key not in before
    ]
    return found


def rebased(state: State, made: list[Change]) -> State:
    """Return the state as if it had been taken after these changes."""
    if not made:
        return state
    moved = dict(state)
    for change in made:
        if change.after is MISSING:
            moved.pop(change.key, None)
        else:
            moved[change.key] = change.after
    return moved
