"""From stored blocks to columns.

Guarantees: a fixed number of queries (rosters, blocks), whatever the shards; rosters
that several shards share are unpacked once.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from results import blocks, order_blocks
from results.merging import Part
from results.models import Block, Roster

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from results.blocks import Columns
    from results.models import Shard
    from results.order_blocks import Order


def load_rosters(ids: set[int]) -> dict[int, NDArray[np.int32]]:
    rows = Roster.objects.filter(pk__in=ids).values_list("pk", "data")
    return {pk: blocks.decode_roster(bytes(data)) for pk, data in rows}


def load_columns(shards: Sequence[Shard]) -> dict[int, Columns]:
    """Return the columns of every shard that has any, by shard id."""
    rosters = load_rosters({s.roster_id for s in shards if s.roster_id})
    roster_of = {s.pk: rosters[s.roster_id] for s in shards if s.roster_id in rosters}
    pieces: dict[int, list[Columns]] = defaultdict(list)
    rows = Block.objects.filter(shard_id__in=list(roster_of), chunk__gte=0)
    for shard, chunk, data in rows.order_by("shard_id", "chunk").values_list(
        "shard_id", "chunk", "data"
    ):
        tests = roster_of[shard]
        part = tests[blocks.chunk_slice(tests, chunk)]
        pieces[shard].append(blocks.decode(bytes(data), part))
    return {shard: blocks.join(some) for shard, some in pieces.items()}


def parts_of(shards: Sequence[Shard], columns: dict[int, Columns]) -> list[Part]:
    """Say which part of the run each shard's columns speak of."""
    return [
        Part(shard.job, shard.index, shard.attempt, shard.upload_id, columns[shard.pk])
        for shard in shards
        if shard.pk in columns
    ]


def load_orders(columns: dict[int, Columns]) -> dict[int, Order]:
    """Return the order of every shard that has one, by shard id."""
    rows = Block.objects.filter(
        shard_id__in=list(columns), chunk=order_blocks.CHUNK
    ).values_list("shard_id", "data")
    return {
        shard: order_blocks.decode(bytes(data), columns[shard].duration)
        for shard, data in rows
    }
