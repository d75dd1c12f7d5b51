"""From a contribution's leaks to rows, before any transaction.

Guarantees: texts are cut to what is stored; `what` is equal for two tellings of one
leak, `content` for the same words. Nothing here touches a database.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from formats.clipping import clip
from formats.outcomes import CODE
from results.models import LeakSource
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.gates import LeakFact
    from formats.report import TestLeak

MOST_TEXT = 16 * 1024
FIELDS = (
    "test",
    "place",
    "source",
    "kind",
    "gate",
    "items",
    "item_count",
    "phase",
    "worker",
    "position",
    "enforced",
    "opted_out",
    "message",
    "recipe",
    "detail",
    "reported",
    "what",
    "content",
)
MOST_NUMBER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class LeakRow:
    """The values of `FIELDS`; `raised` as the fact says."""

    values: tuple[Any, ...]  # Any: a value of any field of Leak
    raised: bool
    number: int | None  # of the test, where it leaks and did not opt out


def rows_of(
    leaks: Sequence[TestLeak], test_ids: Sequence[int], numbers: Sequence[int]
) -> list[LeakRow]:
    """Make rows; ids and numbers are those of the leaks that have a test, in order."""
    ids, places = iter(test_ids), iter(numbers)
    rows = []
    for place, leak in enumerate(leaks):
        known = leak.case is not None
        test_id = next(ids) if known else None
        number = next(places) if known else None
        rows.append(
            LeakRow(
                (test_id, place, *_values(leak)),
                leak.fact.raised,
                None if leak.fact.opted_out else number,
            )
        )
    return rows


def _values(leak: TestLeak) -> tuple[Any, ...]:  # Any: as above
    fact = leak.fact
    position = fact.position
    detail = None
    if fact.detail is not None:
        detail = {
            key: None if value is None else storable(value)
            for key, value in asdict(fact.detail).items()
        }
    return (
        LeakSource.TEXT if leak.from_text else LeakSource.PAYLOAD,
        storable(fact.kind)[:200],
        storable(fact.gate)[:200],
        [storable(item) for item in fact.items],
        min(fact.item_count, MOST_NUMBER),
        storable(fact.phase)[:200],
        storable(fact.worker),
        position if position is None or position <= MOST_NUMBER else None,
        fact.enforced,
        fact.opted_out,
        clip(storable(fact.message), MOST_TEXT),
        clip(storable(fact.recipe), MOST_TEXT),
        detail,
        None if leak.reported is None else CODE[leak.reported],
        _digest(_what(leak)),
        _digest(_content(fact)),
    )


def _what(leak: TestLeak) -> object:
    fact = leak.fact
    if leak.case is not None:
        return fact.kind
    if fact.detail is not None:
        return fact.kind, fact.detail.path, fact.detail.reason
    return fact.kind, sorted(fact.items)


def _content(fact: LeakFact) -> object:
    detail = asdict(fact.detail) if fact.detail else None
    return (fact.kind, fact.gate, fact.items, fact.item_count, fact.phase, detail)


def _digest(value: object) -> bytes:
    raw = json.dumps(value).encode()
    return hashlib.blake2b(raw, digest_size=16).digest()
