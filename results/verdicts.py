"""What a run is worth, from what its uploads said: damage, completeness, outcome.

Guarantees: nothing depends on the order in which the uploads were processed, only on
their ids (the order in which they were received). Pure: the shards are plain values.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from results.models import RunOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from results.models import Shard

    type Place = tuple[str, int]  # a job and the index of one of its shards
    type Damage = dict[str, Any]  # Any: JSON; a file problem as stored

BAD_SHARE = 0.8  # more failing than this: the machine was ill, not the tests
BAD_LEAST = 10  # … unless they are so few that it says nothing
REPORT_PAST = timedelta(days=14)
REPORT_FUTURE = timedelta(hours=14)
_RESULT_KINDS = frozenset({"junit", "reportlog", "order"})
_BESIDE = frozenset({"gate", "effects", "review"})  # no results were expected with it
_SOURCES = ("context", "report", "receipt")


def by_place(shards: Iterable[Shard]) -> dict[Place, list[Shard]]:
    """Group what speaks of one shard of one job, all attempts."""
    places: dict[Place, list[Shard]] = defaultdict(list)
    for shard in sorted(shards, key=lambda one: one.upload_id):
        places[shard.job, shard.index].append(shard)
    return dict(sorted(places.items()))


def latest(shards: Sequence[Shard]) -> list[Shard]:
    """Return the uploads of the latest attempt among those of one place."""
    last = max(shard.attempt for shard in shards)
    return [shard for shard in shards if shard.attempt == last]


def has_results(shard: Shard) -> bool:
    """Tell whether a good file with results came, were it an empty one."""
    return not _RESULT_KINDS.isdisjoint(shard.kinds)


def is_beside(shard: Shard) -> bool:
    """Tell whether an upload holds only what stands beside results, good or bad: it
    announces no part of the run, so none is missing for it."""
    kinds = {*shard.kinds, *(damage.get("kind") or "" for damage in shard.damage)}
    return bool(kinds) and kinds <= _BESIDE


def brought_instead(shards: Iterable[Shard]) -> str:
    """Return what a run has instead of results, where that is of one kind."""
    shards = list(shards)
    kinds = {kind for shard in shards for kind in shard.kinds}
    return next(iter(kinds)) if len(kinds) == 1 and kinds <= _BESIDE else ""


def with_results(places: Mapping[Place, list[Shard]]) -> dict[Place, list[Shard]]:
    """Return the places of which results came or are expected."""
    return {
        place: siblings
        for place, siblings in places.items()
        if not all(map(is_beside, siblings))
    }


def is_mended(shard: Shard, damage: Damage, siblings: Iterable[Shard]) -> bool:
    """Tell whether a bad file was made good: by a later good upload of the same part
    and kind, or by a later attempt. `siblings` are the uploads of the same place."""
    wanted = {damage["kind"]} if damage.get("kind") else _RESULT_KINDS
    for other in siblings:
        if other.attempt > shard.attempt and has_results(other):
            return True
        later = other.attempt == shard.attempt and other.upload_id > shard.upload_id
        if later and not other.damage and wanted & set(other.kinds):
            return True
    return False


def is_unfinished(siblings: Sequence[Shard]) -> bool:
    """Tell whether the latest word on one place is that more would have come."""
    last = latest(siblings)
    return any(
        not shard.complete
        and not any(
            other.complete
            and other.upload_id > shard.upload_id
            and set(other.kinds) & (set(shard.kinds) or set(other.kinds))
            for other in last
        )
        for shard in last
    )


def failed_outside(siblings: Sequence[Shard]) -> bool:
    """Tell whether the command of one place failed although no case of it did."""
    last = latest(siblings)
    return any(shard.exit_code for shard in last) and not any(
        shard.failing or shard.leaks_raised for shard in last
    )


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts a run has, and which it waits for."""

    expected: int
    received: int
    missing: list[tuple[str, int, int]]  # job, index, count
    disagree: list[tuple[str, list[int]]]  # jobs whose parts say different counts


def count_parts(shards: Iterable[Shard]) -> Parts:
    """Compare the parts that came with those that were announced."""
    said: dict[str, set[int]] = defaultdict(set)
    came: dict[str, set[int]] = defaultdict(set)
    for shard in shards:
        if is_beside(shard):
            continue
        said[shard.job].add(shard.count)
        if has_results(shard):
            came[shard.job].add(shard.index)
    counts = {job: max(numbers) for job, numbers in said.items()}
    missing = [
        (job, index, count)
        for job, count in sorted(counts.items())
        for index in range(1, count + 1)
        if index not in came[job]
    ]
    return Parts(
        expected=sum(counts.values()),
        received=sum(len(some) for some in came.values()),
        missing=missing,
        disagree=[
            (job, sorted(numbers))
            for job, numbers in sorted(said.items())
            if len(numbers) > 1
        ],
    )


def outcome_of(
    *,
    damaged: bool,
    incomplete: bool,
    tests: int,
    failing: int,
    raised: int,
    outside: bool,
) -> RunOutcome:
    """Return a run's outcome: the first of these that holds.

    `raised` are leaks by an enforced gate: they fail a run whose results are still to
    come, too.
    """
    if damaged:
        return RunOutcome.DAMAGED
    if incomplete:
        return RunOutcome.INCOMPLETE
    if raised:
        return RunOutcome.FAILED
    if not tests:
        return RunOutcome.NO_RESULTS
    if failing or outside:
        return RunOutcome.FAILED
    return RunOutcome.PASSED


def is_bad(*, executed: int, failing: int) -> bool:
    """Tell whether so much failed that the run says nothing about single tests."""
    return executed >= BAD_LEAST and failing > BAD_SHARE * executed


def start_of(
    *,
    context: datetime | None,
    reports: Sequence[datetime],
    received_at: datetime,
) -> tuple[datetime, str]:
    """Return when an upload's part started, and who says so.

    A cached report may be months old beside the fresh ones: it does not count.
    """
    if context is not None:
        return context, "context"
    first, last = received_at - REPORT_PAST, received_at + REPORT_FUTURE
    believed = [start for start in reports if first <= start <= last]
    if believed:
        return min(believed).astimezone(UTC), "report"
    return received_at, "receipt"


def earliest(shards: Iterable[Shard]) -> tuple[datetime, str]:
    """Return the earliest start of the best source among a run's uploads."""
    starts = [
        (_SOURCES.index(shard.started_from), shard.started_at)
        for shard in shards
        if shard.started_at is not None
    ]
    source, started_at = min(starts)
    return started_at, _SOURCES[source]


def order_of(places: Iterable[Sequence[Shard]]) -> str:
    """Return how sure the order is: of each part the best word, of the run the least
    sure part. A part without results says nothing."""
    sureness = ("traced", "assumed", "unknown")
    told = [
        min((sureness.index(s.order) for s in siblings if s.tests), default=None)
        for siblings in places
    ]
    return sureness[max((one for one in told if one is not None), default=2)]


def first_words(shards: Iterable[Shard]) -> tuple[dict[str, Any], list[Any]]:  # JSON
    """Return what the uploads say of the run, the first word on each field, and the
    contradictions: (field, first value, its upload, other value, other upload)."""
    words: dict[str, tuple[Any, int]] = {}
    against = []
    for shard in sorted(shards, key=lambda one: one.upload_id):
        for name, value in sorted(shard.context.items()):
            first, upload = words.setdefault(name, (value, shard.upload_id))
            if first != value:
                against.append((name, first, upload, value, shard.upload_id))
    return {name: value for name, (value, _) in words.items()}, against
