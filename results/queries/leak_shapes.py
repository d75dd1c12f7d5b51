"""What the queries of leaks return; see `shapes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class LeakDetail:
    """An entry that a guard found in a control plane."""

    path: str
    reason: str
    agent_session: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Gated:
    """What gates said of one test: since when, of which kinds, and how to mend it."""

    test: int
    number: int
    kinds: list[str]
    recipe: str
    items: list[str]  # of the newest leak of each kind
    runs: int
    first_run: int
    first_commit: str
    first_pr: int | None
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class LeakRow:
    """One leak as a gate told it. `test` and `nodeid` are None at session level;
    `items` may be the first of `item_count`; `source`: payload or text."""

    id: int
    test: int | None
    nodeid: str | None
    kind: str
    gate: str
    items: list[str]
    item_count: int
    phase: str
    worker: str
    position: int | None
    enforced: bool
    opted_out: bool
    message: str
    recipe: str
    detail: LeakDetail | None
    source: str
    run: int
    run_name: str
    started_at: datetime
    commit: str
    pr: int | None

    @property
    def more(self) -> int:
        """How many items are not named."""
        return max(self.item_count - len(self.items), 0)
