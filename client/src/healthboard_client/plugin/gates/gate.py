"""What every gate can do: look at its state, and say what of a change is a leak."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from healthboard_client.plugin.states import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from healthboard_client.plugin.states import Change, Same, State


class Words(NamedTuple):
    """How a leak of one kind is told: what happened, and what to do about it."""

    what: str  # with {count}
    recipe: str


class Gate(ABC):
    """One kind of state of a process.

    `same` decides whether two values are one; `grace` is how many seconds something
    may take to go away by itself; `enforceable` is false where nobody can say which
    test it was.
    """

    name = ""
    family = ""  # the first part of its kinds
    same: Same = staticmethod(operator.eq)
    grace = 0.0
    enforceable = True
    one_by_one = False  # each item is a leak of its own
    words: dict[str, Words]  # by the second part of its kinds

    @abstractmethod
    def take(self) -> State:
        """Look at the state as it is now."""

    def take_before(self, _last: State | None) -> State:
        """Look at the state before a test; `_last` is what the test before left."""
        return self.take()

    @abstractmethod
    def kind(self, change: Change) -> str:
        """The second part of the kind of leak that a change is; "" for none."""

    def judged(self, made: Sequence[Change]) -> Sequence[Change]:
        """Leave out changes that are only what others of them look like."""
        return made

    def warned(self, _made: Sequence[Change]) -> Iterable[tuple[str, Change]]:
        """What is no leak and should be known: kinds that are never enforced."""
        return ()

    def item(self, change: Change) -> str:
        """What a person calls the thing that changed."""
        return change.key


def told_difference(change: Change) -> str:
    """What two lists of texts differ by: what came, what went, or only the order."""
    before, after = map(_texts, (change.before, change.after))
    more = [f"+{text}" for text in after if text not in before]
    less = [f"-{text}" for text in before if text not in after]
    return ", ".join(more + less) or "another order"


def _texts(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def kind_of_value(change: Change) -> str:
    """How a value changed, where coming, going and changing are all leaks."""
    if change.before is MISSING:
        return "set"
    return "removed" if change.after is MISSING else "changed"
