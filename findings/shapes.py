"""What the queries of this package return: plain frozen values, never rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class FindingRow:
    id: int
    key: str
    source: str
    severity: str
    path: str
    line: int | None
    end_line: int | None
    title: str
    detail: str
    rule: str
    reviewers: Sequence[str]
    state: str
    reason: str
    owner: str
    pr: int | None
    run: int | None
    effect_id: str
    first_seen: datetime
    last_seen: datetime
    seen_count: int
    raised_since_fixed: int
    due: datetime
    due_by_hand: bool
    overdue: bool
    cluster: int | None
    cluster_size: int
    agreeing: Sequence[str]  # all reviewers of its cluster
    rank_reason: str
    also_at: Sequence[tuple[int, int | None]] = ()


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster with those of its members that were asked for, worst first."""

    id: int
    severity: str
    reviewers: Sequence[str]
    size: int
    by_hand: bool
    why: Sequence[str]
    reason: str  # of its rank
    behind: str
    members: Sequence[FindingRow]

    @property
    def head(self) -> FindingRow:
        return self.members[0]

    @property
    def hidden(self) -> int:
        """How many members the filters leave out."""
        return self.size - len(self.members)


@dataclass(frozen=True, slots=True)
class ReviewRow:
    id: int
    upload: int
    file: int
    pr: int | None
    commit: str
    at: datetime
    score: float | None
    out_of: float | None
    provenance: dict[str, Any]  # Any: JSON
    unparsed: Sequence[dict[str, Any]]
    notes: Sequence[dict[str, Any]]
    partial: bool
    complete: bool
    reviewers: Sequence[str]
    raised: int
    counts: dict[str, int]
    moves: Sequence[dict[str, Any]]
    ambiguous: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Page[T]:
    items: Sequence[T]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Trail:
    """One entry of a finding's history."""

    at: datetime
    by: str
    text: str
    reason: str = ""
    upload: int | None = None  # of the review or ledger that did it


@dataclass(frozen=True, slots=True)
class Totals:
    """How many findings are live, by severity, and how many of them are overdue."""

    live: dict[str, int] = field(default_factory=dict)
    overdue: int = 0
    all: int = 0

    @property
    def open(self) -> int:
        return sum(self.live.values())
