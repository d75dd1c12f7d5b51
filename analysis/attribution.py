"""Whose a failure is: what the runs of the default branch say of it.

Pure: what each ancestor's runs show of one leak or failure → its share, with the place
of the evidence. The rules are those of `docs/pulls.md`; nothing is guessed: where no
run can say, the share is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Share(StrEnum):
    INTRODUCED = "introduced"
    INHERITED = "inherited"
    FIXED_UPSTREAM = "inherited_fixed_upstream"
    FIXED = "fixed"
    UNKNOWN = "unknown"


class Why(StrEnum):
    """What decided."""

    SEEN = "seen"  # the same one was there
    OTHER = "other"  # the test failed there, but otherwise
    PASSED = "passed"  # the test was there, and had no such fault
    ABSENT = "absent"  # a complete run had no such test
    NO_RUN = "no_run"  # no run can say


@dataclass(frozen=True, slots=True)
class Sight:
    """What the runs at one commit show of one leak or failure.

    `same`: it, with this fingerprint. `other`: its test fails there in another way.
    `present`: its test is there. `complete`: all of the suite is.
    """

    same: bool = False
    other: bool = False
    present: bool = False
    complete: bool = False

    @property
    def tells(self) -> bool:
        """Whether it says anything, were it that there is nothing."""
        return self.same or self.other or self.present or self.complete


@dataclass(frozen=True, slots=True)
class Decision:
    """`place` is the index of the ancestor that decided; -1: none could."""

    share: Share
    why: Why
    place: int = -1


def attribute(ancestors: Iterable[Sight]) -> Decision:
    """Say whose it is; `ancestors` begin with the merge base, the nearest first.

    A run without the test counts only if it is complete; else the next one is asked.
    """
    for place, sight in enumerate(ancestors):
        if sight.same:
            return Decision(Share.INHERITED, Why.SEEN, place)
        if sight.other:
            return Decision(Share.INTRODUCED, Why.OTHER, place)
        if sight.present:
            return Decision(Share.INTRODUCED, Why.PASSED, place)
        if sight.complete:
            return Decision(Share.INTRODUCED, Why.ABSENT, place)
    return Decision(Share.UNKNOWN, Why.NO_RUN)


def gone_since(newer: Iterable[Sight]) -> int | None:
    """Return the index of the first run after which it was gone; None: it is not.

    `newer` are runs of the default branch after the merge base, the newest first. What
    comes and goes is gone since it went last.
    """
    gone: int | None = None
    for place, sight in enumerate(newer):
        if sight.same:
            return gone
        if sight.tells:
            gone = place
    return gone
