"""How uploads fared: by hour and state, problems by reason, sizes, the slowest.

Guarantees: two queries, whatever the data; of very many uploads the newest are looked
at, and it says so.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ingest.models import State, Upload

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST = 20_000  # uploads that are looked at
REASONS = 50
SLOWEST = 10
_TROUBLED = (State.REJECTED, State.FAILED, State.DEAD)
_VOLATILE = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”|0x[0-9a-fA-F]+|\d[\d,.]*")


@dataclass(frozen=True, slots=True)
class Hour:
    """What was received in one hour, by the state that it has now."""

    at: datetime
    states: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.states.values())


@dataclass(frozen=True, slots=True)
class Reason:
    """Problems that differ only in names and numbers; `newest` is an upload's id."""

    state: str
    text: str
    count: int
    newest: int


@dataclass(frozen=True, slots=True)
class Slow:
    upload: int
    seconds: float
    wire_bytes: int
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of bodies as they were sent, in bytes."""

    p50: int = 0
    p95: int = 0
    largest: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Health:
    hours: list[Hour]
    total: int
    states: dict[str, int]
    reasons: list[Reason]
    sizes: Sizes
    slowest: list[Slow]
    cut: bool
    seconds: list[float] = field(default_factory=list)  # rising, of what was processed

    @property
    def troubled(self) -> int:
        return sum(self.states.get(state.value, 0) for state in _TROUBLED)

    @property
    def p50_s(self) -> float | None:
        return _share(self.seconds, 0.5)

    @property
    def p95_s(self) -> float | None:
        return _share(self.seconds, 0.95)


def health(project_id: int, *, now: datetime, hours: int = 24) -> Health:
    """Look at what was received in the last hours."""
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    first = this_hour - timedelta(hours=hours - 1)
    mine = Upload.objects.filter(project_id=project_id, received_at__gte=first)
    newest = mine.order_by("-received_at", "-pk")
    fields = ("pk", "state", "received_at", "processed_at", "wire_bytes")
    rows = list(newest.values_list(*fields)[: MOST + 1])
    cut, rows = len(rows) > MOST, rows[:MOST]
    by_hour: dict[datetime, Counter[str]] = defaultdict(Counter)
    for _, state, received, _, _ in rows:
        by_hour[received.replace(minute=0, second=0, microsecond=0)][state] += 1
    slow = [
        Slow(pk, (processed - received).total_seconds(), size, received)
        for pk, _, received, processed, size in rows
        if processed is not None
    ]
    times = [first + timedelta(hours=n) for n in range(hours)]
    return Health(
        hours=[Hour(at, dict(by_hour.get(at, {}))) for at in reversed(times)],
        total=len(rows),
        states=dict(Counter(row[1] for row in rows)),
        reasons=_reasons(newest.filter(state__in=_TROUBLED)[:MOST]),
        sizes=_sizes([row[4] for row in rows]),
        slowest=sorted(slow, key=lambda one: -one.seconds)[:SLOWEST],
        cut=cut,
        seconds=sorted(one.seconds for one in slow),
    )


def masked(message: str) -> str:
    """Return a message without the names and numbers that differ each time."""
    return _VOLATILE.sub("…", " ".join(message.split()))[:300]


def _reasons(rows: Iterable[Upload]) -> list[Reason]:
    counts: Counter[tuple[str, str]] = Counter()
    newest: dict[tuple[str, str], int] = {}
    for row in rows:  # the newest first
        for message in set(_messages(row)):
            key = row.state, masked(message)
            counts[key] += 1
            newest.setdefault(key, row.pk)
    return [
        Reason(state, text, count, newest[state, text])
        for (state, text), count in counts.most_common(REASONS)
    ]


def _messages(row: Upload) -> list[str]:
    errors: list[dict[str, Any]] = row.errors  # Any: JSON
    own = [row.failure] if row.failure else []
    told = [str(error.get("message", "")) for error in errors]
    return own + told or ["no reason is stored"]


def _sizes(sizes: list[int]) -> Sizes:
    if not sizes:
        return Sizes()
    rising = sorted(sizes)
    return Sizes(
        p50=_share(rising, 0.5) or 0,
        p95=_share(rising, 0.95) or 0,
        largest=rising[-1],
        total=sum(rising),
    )


def _share[T](rising: Sequence[T], share: float) -> T | None:
    """Return the smallest value that this share of the values does not exceed."""
    if not rising:
        return None
    place = -(-round(share * 100) * len(rising) // 100) - 1
    return rising[max(place, 0)]
