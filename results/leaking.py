"""Which leaks of a run count, from what every upload says: part of its summary.

Guarantees: the answer does not depend on the order of the uploads. A leak of an attempt
that a later one of its job repeated does not count; of one test and kind told by
several uploads a gate's own payload counts before a recognised text, and the same words
count once. The caller holds the run.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from results.models import Leak, LeakSource
from results.verdicts import has_results

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from results.blocks import Columns
    from results.models import Shard

_AT_ONCE = 500
_FIELDS = (
    "pk",
    "shard_id",
    "test__number",
    "source",
    "enforced",
    "opted_out",
    "item_count",
    "reported",
    "what",
    "content",
    "counted",
)


class _Told(NamedTuple):
    """A leak without its texts; the fields' order is that of the query."""

    pk: int
    shard_id: int
    number: int | None
    source: str
    enforced: bool
    opted_out: bool
    item_count: int
    reported: int | None
    what: bytes
    content: bytes
    counted: bool


@dataclass(frozen=True, slots=True)
class Leaking:
    """What counts of a run's leaks.

    `reported` are outcomes (codes) as the report had them, by shard and test number,
    where a gate's failure was all that a case had.
    """

    leaks: int = 0
    raised: int = 0
    reported: dict[int, dict[int, int]] = field(default_factory=dict)


def settle_leaks(
    run_id: int, shards: Sequence[Shard], columns: Mapping[int, Columns]
) -> Leaking:
    """Decide which leaks count, store it where it changed, and count them."""
    rows = Leak.objects.filter(run_id=run_id).order_by("pk").values_list(*_FIELDS)
    told = [
        _Told(*row)._replace(what=bytes(row[8]), content=bytes(row[9])) for row in rows
    ]
    if not told:
        return Leaking()
    by_id = {shard.pk: shard for shard in shards}
    live = [one for one in told if not _superseded(one, by_id, columns)]
    leaks = raised = 0
    counted: set[int] = set()
    for group in _groups(live, by_id):
        best = _best(group, by_id)
        counted |= {one.pk for one in best}
        leaks += sum(not one.opted_out for one in best)
        raised += _raised(group, best)
    _store(told, counted)
    reported: dict[int, dict[int, int]] = defaultdict(dict)
    for one in told:
        if one.reported is not None and one.number is not None:
            reported[one.shard_id][one.number] = one.reported
    return Leaking(leaks, raised, dict(reported))


def _superseded(
    leak: _Told, shards: Mapping[int, Shard], columns: Mapping[int, Columns]
) -> bool:
    """Tell whether a later attempt ran the test, or the session's part, again."""
    mine = shards[leak.shard_id]
    for other in shards.values():
        if other.job != mine.job or other.attempt <= mine.attempt:
            continue
        if leak.number is None:
            if other.index == mine.index and has_results(other):
                return True
        elif other.pk in columns and leak.number in columns[other.pk].tests:
            return True
    return False


def _groups(
    live: Iterable[_Told], shards: Mapping[int, Shard]
) -> Iterable[list[_Told]]:
    """What may be the same leak: of one test, or session, and kind in one job."""
    groups: dict[object, list[_Told]] = defaultdict(list)
    for one in live:
        groups[shards[one.shard_id].job, one.number, one.what].append(one)
    return groups.values()


def _best(group: Sequence[_Told], shards: Mapping[int, Shard]) -> list[_Told]:
    """Payloads before texts; of payloads each word once, of texts the fullest."""
    ordered = sorted(group, key=lambda one: (shards[one.shard_id].upload_id, one.pk))
    payloads = [one for one in ordered if one.source == LeakSource.PAYLOAD]
    if payloads:
        return list({one.content: one for one in reversed(payloads)}.values())
    return [max(ordered, key=lambda one: one.item_count)]


def _raised(group: Sequence[_Told], best: Sequence[_Told]) -> int:
    """Count what fails the run: a text is there only because a gate was enforced."""
    raised = sum(one.enforced and not one.opted_out for one in best)
    from_text = any(one.source == LeakSource.TEXT for one in group)
    return max(raised, int(from_text))


def _store(told: Sequence[_Told], counted: set[int]) -> None:
    for now in (True, False):
        changed = [
            one.pk for one in told if (one.pk in counted) is now is not one.counted
        ]
        for start in range(0, len(changed), _AT_ONCE):
            some = Leak.objects.filter(pk__in=changed[start : start + _AT_ONCE])
            some.update(counted=now)
