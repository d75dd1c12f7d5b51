"""A project's whole history of a window: every execution, part by part.

Guarantees: a fixed number of queries; excluded runs, bad days and runs whose facts
were deleted are left out; one part of a run and attempt is told once, by the uploads
that know its order best; only one part at a time is unpacked.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from django.db.models import Max

from results import blocks, order_blocks
from results.loading import load_rosters
from results.models import Block, Shard, TestCase
from results.queries.windows import runs_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from django.db.models import QuerySet
    from numpy.typing import NDArray

_NAMED = 300  # shards named in one query
_BEST_FIRST = ("traced", "assumed", "unknown")


class RunFacts(NamedTuple):
    """What is known of a run beside its results; the fields' names are the columns'."""

    id: int
    started_at: datetime
    environment_key: str
    branch: str
    branch_class: str
    commit: str
    merge_base: str
    pr: int | None
    duration_s: float


_SHARD = ("id", "run_id", "job", "index", "attempt", "order", "roster_id", "upload_id")


class _Shard(NamedTuple):
    """The fields' order is that of `_SHARD`."""

    id: int
    run_id: int
    job: str
    place: int
    attempt: int
    order: str
    roster_id: int
    upload_id: int

    @property
    def part(self) -> tuple[int, str, int, int]:
        return self.run_id, self.job, self.place, self.attempt


type PartKey = tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A part that the caller knows already; its run may be told anew."""

    key: PartKey
    run: RunFacts


@dataclass(frozen=True, slots=True, eq=False)
class PartExecutions:
    """What one part of a run executed: results by process, in order of start.

    `offsets[p]:offsets[p + 1]` is process p. Where the order is unknown they stand in
    one process, by number. `starts` and `stops` are Unix seconds, or None. `key` is
    another one as soon as anything of it is stored anew.
    """

    key: PartKey
    run: RunFacts
    job: str
    index: int
    attempt: int
    order: str
    tests: NDArray[np.int32]
    outcome: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    attempts: NDArray[np.uint16]
    offsets: NDArray[np.int32]
    starts: NDArray[np.float64] | None = None
    stops: NDArray[np.float64] | None = None


def executions(
    project_id: int,
    *,
    window: int,
    now: datetime | None = None,
    known: Collection[PartKey] = (),
) -> Iterator[PartExecutions | Unchanged]:
    """Yield the parts of the window's runs, in no particular order.

    Those in `known` are not read, only named.
    """
    within = runs_in(project_id, window=window, now=now)
    runs = within.filter(bad=False, facts_deleted=False)
    facts = {row[0]: RunFacts(*row) for row in runs.values_list(*RunFacts._fields)}
    told = Shard.objects.filter(run__in=runs, roster__isnull=False, tests__gt=0)
    rows = told.filter(same_as_upload=None).values_list(*_SHARD)
    stored = Block.objects.filter(project_id=project_id, shard__run__in=runs)
    newest = dict(stored.values_list("shard_id").annotate(Max("pk")).order_by())
    chosen: dict[PartKey, list[_Shard]] = {}
    for some in _chosen([_Shard(*row) for row in rows]):
        key = tuple((one.id, newest.get(one.id, 0), one.order) for one in some)
        if key in known:
            yield Unchanged(key, facts[some[0].run_id])
        else:
            chosen[key] = some
    yield from _read(stored, chosen, facts)


def _read(
    blocks_of: QuerySet[Block],
    chosen: Mapping[PartKey, list[_Shard]],
    facts: Mapping[int, RunFacts],
) -> Iterator[PartExecutions]:
    rosters = load_rosters(
        {shard.roster_id for some in chosen.values() for shard in some}
    )
    part_of = {shard.id: (key, some) for key, some in chosen.items() for shard in some}
    stored = blocks_of
    if len(part_of) <= _NAMED:  # few are new: ask for these alone
        stored = blocks_of.filter(shard_id__in=list(part_of))
    unfinished: dict[object, list[PartExecutions]] = defaultdict(list)
    by_shard = stored.order_by("shard_id", "chunk").values_list(
        "shard_id", "chunk", "data"
    )
    for shard_id, some in groupby(by_shard.iterator(200), key=lambda row: row[0]):
        if shard_id not in part_of:
            continue
        key, part = part_of[shard_id]
        shard = next(one for one in part if one.id == shard_id)
        pieces = [(chunk, bytes(data)) for _, chunk, data in some]
        unpacked = _unpack(
            key, facts[shard.run_id], shard, rosters[shard.roster_id], pieces
        )
        if len(part) == 1:
            yield unpacked
            continue
        unfinished[shard.part].append(unpacked)
        if len(unfinished[shard.part]) == len(part):
            yield _joined(unfinished.pop(shard.part))


def files_of(project_id: int) -> list[str]:
    """Return the file of every test, by number; empty where it has none."""
    rows = TestCase.objects.filter(project_id=project_id).values_list("number", "file")
    known = dict(rows)
    return [known.get(number, "") for number in range(max(known, default=-1) + 1)]


def names_of_all(project_id: int) -> list[tuple[int, str]]:
    """Return (id, node id) of every test, by number; (0, "") where there is none."""
    rows = TestCase.objects.filter(project_id=project_id)
    known = {
        number: (pk, nodeid)
        for number, pk, nodeid in rows.values_list("number", "pk", "nodeid")
    }
    return [known.get(number, (0, "")) for number in range(max(known, default=-1) + 1)]


def _chosen(shards: Sequence[_Shard]) -> list[list[_Shard]]:
    """Of each part the uploads that know its order best, the first upload first."""
    parts: dict[object, list[_Shard]] = defaultdict(list)
    for shard in sorted(shards, key=lambda one: one.upload_id):
        parts[shard.part].append(shard)
    best = []
    for some in parts.values():
        order = min((one.order for one in some), key=_BEST_FIRST.index)
        best.append([one for one in some if one.order == order])
    return best


def _unpack(
    key: PartKey,
    run: RunFacts,
    shard: _Shard,
    roster: NDArray[np.int32],
    pieces: list[tuple[int, bytes]],
) -> PartExecutions:
    order = next((data for chunk, data in pieces if chunk == order_blocks.CHUNK), None)
    columns = [
        (data, roster[blocks.chunk_slice(roster, chunk)])
        for chunk, data in pieces
        if chunk != order_blocks.CHUNK
    ]
    starts = stops = None
    if order is not None and order_blocks.processes_of(order) > 1:
        # Only several processes can overlap: only then are the times worth unpacking.
        whole = blocks.join([blocks.decode(data, tests) for data, tests in columns])
        ran = order_blocks.decode(order, whole.duration)
        outcome, flags, attempts = whole.outcome, whole.flags, whole.attempts
        if ran.starts is not None:
            starts = ran.starts
            stops = starts + np.nan_to_num(whole.duration[ran.rows])
    else:
        told = [blocks.decode_outcomes(data, len(tests)) for data, tests in columns]
        outcome, flags, attempts = (
            np.concatenate([one[column] for one in told]) for column in range(3)
        )
        ran = _any_order(len(roster))
        if order is not None:
            ran = order_blocks.decode_untimed(order)
    rows = ran.rows
    return PartExecutions(
        key=key,
        run=run,
        job=shard.job,
        index=shard.place,
        attempt=shard.attempt,
        order=shard.order if order is not None else "unknown",
        tests=roster[rows],
        outcome=outcome[rows],
        flags=flags[rows],
        attempts=attempts[rows],
        offsets=np.concatenate(([0], np.cumsum(ran.lengths))).astype(np.int32),
        starts=starts,
        stops=stops,
    )


def _any_order(count: int) -> order_blocks.Order:
    rows = np.arange(count, dtype=np.int32)
    return order_blocks.Order(np.array([count], np.int32), rows)


def _joined(parts: list[PartExecutions]) -> PartExecutions:
    """Put several uploads of one part side by side; what the first told counts."""
    first = parts[0]
    seen = first.tests[:0]
    kept = []
    for part in parts:
        new = ~np.isin(part.tests, seen)
        seen = np.concatenate([seen, part.tests[new]])
        kept.append((part, new))
    ends = [np.array([0])]
    for part, new in kept:
        within = np.concatenate(([0], np.cumsum(new)))[part.offsets[1:]]
        ends.append(ends[-1][-1] + within)

    def column(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(part, name)[new] for part, new in kept])

    timed = all(part.starts is not None for part in parts)
    return PartExecutions(
        key=first.key,
        run=first.run,
        job=first.job,
        index=first.index,
        attempt=first.attempt,
        order=first.order,
        tests=column("tests").astype(np.int32),
        outcome=column("outcome").astype(np.uint8),
        flags=column("flags").astype(np.uint8),
        attempts=column("attempts").astype(np.uint16),
        offsets=np.concatenate(ends).astype(np.int32),
        starts=column("starts").astype(np.float64) if timed else None,
        stops=column("stops").astype(np.float64) if timed else None,
    )
