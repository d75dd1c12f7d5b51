"""What the gates saw before and after, and who answers for the difference.

Guarantees: a test answers for what differs between the moment before its setup and the
one after its teardown, without what fixtures of a wider scope did meanwhile; such a
fixture answers itself for what its setup and teardown together leave behind; a change
back to what the process began its tests with is a clean-up, whoever makes it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from healthboard_client.plugin.states import MISSING, Change, changes, rebased

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from healthboard_client.plugin.gates.gate import Gate
    from healthboard_client.plugin.states import State

RESTORED = "restored"
_PAUSE_S = 0.01


class Found(NamedTuple):
    """What one gate saw, of one kind."""

    gate: Gate
    change: str  # the second part of the kind
    items: list[str]
    enforceable: bool


class _Seen:
    """One gate's looks: `before` is what the running test has to leave."""

    __slots__ = ("before", "gate", "start")

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.before: State | None = None
        self.start: State = {}


class Watch:
    """All gates of one process."""

    def __init__(self, gates: Sequence[Gate]) -> None:
        self._seen = [_Seen(gate) for gate in gates]
        self._open: list[Hold] = []

    def begin(self) -> None:
        """Look before a test. The first look is what the process began with."""
        for seen in self._seen:
            first = seen.before is None
            seen.before = seen.gate.take_before(seen.before)
            if first:
                seen.start = seen.before

    def end(self) -> list[Found]:
        """Look after a test's teardown, and judge."""
        found: list[Found] = []
        for seen in self._seen:
            before = seen.before
            after = seen.gate.take()
            if before is None or after is before:
                continue
            made = changes(before, after, seen.gate.same)
            if made and seen.gate.grace:
                after, made = _after_grace(seen.gate, before, made)
            seen.before = after
            if made:
                found += judge(seen.gate, made, seen.start)
        return found

    def hold(self) -> Hold:
        """Look before the setup of a fixture that outlives the test."""
        hold = Hold(self, self._look())
        self._open.append(hold)
        return hold

    def _look(self) -> list[State]:
        if self._seen and self._seen[0].before is None:
            self.begin()
        return [seen.gate.take() for seen in self._seen]

    def _made_since(self, before: Sequence[State]) -> list[list[Change]]:
        made = []
        for seen, state in zip(self._seen, before, strict=True):
            gate = seen.gate
            found = changes(state, gate.take(), gate.same)
            if found and gate.grace and any(map(gate.kind, found)):
                found = _after_grace(gate, state, found)[1]
            made.append(found)
        return made

    def _rebase(self, made: Sequence[list[Change]]) -> None:
        """Take changes out of what the running test, and open setups, answer for."""
        for seen, some in zip(self._seen, made, strict=True):
            if seen.before is not None:
                seen.before = rebased(seen.before, some)
        for hold in self._open:
            hold.rebase(made)

    def _judge(self, made: Sequence[list[Change]]) -> list[Found]:
        return [
            found
            for seen, some in zip(self._seen, made, strict=True)
            for found in judge(seen.gate, some, seen.start)
        ]


class Hold:
    """One fixture's life: what its setup changed, and what its teardown left of it."""

    def __init__(self, watch: Watch, before: list[State]) -> None:
        self._watch = watch
        self._before = before
        self._held: list[dict[str, Change]] = [{} for _ in before]

    def rebase(self, made: Sequence[list[Change]]) -> None:
        self._before = [
            rebased(state, some) for state, some in zip(self._before, made, strict=True)
        ]

    def set_up(self) -> None:
        """Look after the setup: what it changed is the fixture's until it ends."""
        watch = self._watch
        watch._open.remove(self)
        made = [
            changes(state, seen.gate.take(), seen.gate.same)
            for seen, state in zip(watch._seen, self._before, strict=True)
        ]
        self._held = [{one.key: one for one in some} for some in made]
        watch._rebase(made)

    def finishing(self) -> None:
        """Look before the teardown."""
        self._before = self._watch._look()

    def finished(self) -> list[Found]:
        """Look after the teardown, and judge the fixture's whole life."""
        watch = self._watch
        torn = watch._made_since(self._before)
        left: list[list[Change]] = []
        for seen, held, some, state in zip(
            watch._seen, self._held, torn, self._before, strict=True
        ):
            left.append(list(_left(seen.gate, held, some, state)))
        watch._rebase(torn)
        return watch._judge(left)


def _left(
    gate: Gate, held: dict[str, Change], torn: list[Change], state: State
) -> Iterator[Change]:
    """What differs from before the setup, through the fixture and nobody else."""
    ended = {one.key: one for one in torn}
    for key in {**held, **ended}:
        first = held.get(key) or ended[key]
        if key in ended:
            final = ended[key].after
        else:
            final = state.get(key, MISSING)
            if not _is_same(gate, final, first.after):
                continue  # a test changed it meanwhile, and has answered for it
        if not _is_same(gate, first.before, final):
            yield Change(key, first.before, final)


def judge(gate: Gate, made: list[Change], start: State) -> list[Found]:
    """Sort changes into kinds; those that go back to the start are clean-ups."""
    kinds: dict[str, list[str]] = {}
    for change in gate.judged(made):
        kind = gate.kind(change)
        if kind:
            back = _is_same(gate, start.get(change.key, MISSING), change.after)
            kinds.setdefault(RESTORED if back else kind, []).append(gate.item(change))
    found = [
        Found(gate, kind, part, gate.enforceable and kind != RESTORED)
        for kind, items in kinds.items()
        for part in ([[item] for item in items] if gate.one_by_one else [items])
    ]
    warned: dict[str, list[str]] = {}
    for kind, change in gate.warned(made):
        warned.setdefault(kind, []).append(gate.item(change))
    return found + [Found(gate, kind, items, False) for kind, items in warned.items()]


def _is_same(gate: Gate, one: object, other: object) -> bool:
    if one is MISSING or other is MISSING:
        return one is other
    return bool(gate.same(one, other))


def _after_grace(
    gate: Gate, before: State, made: list[Change]
) -> tuple[State, list[Change]]:
    """Wait a moment for what ends by itself; return the last look."""
    deadline = time.monotonic() + gate.grace
    after = before
    while any(map(gate.kind, made)) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)
        after = gate.take()
        made = changes(before, after, gate.same)
    else:
        after = gate.take()
        made = changes(before, after, gate.same)
    return after, made
