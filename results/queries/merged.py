"""Runs with their results in memory: merged columns and where each came from.

Guarantees: three queries (shards, rosters, blocks) for any number of runs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from results.loading import load_columns, parts_of
from results.merging import merge
from results.models import Shard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from results.blocks import Columns
    from results.merging import Merged


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """`shards[merged.source[i]]` is the one whose result counts for test i."""

    shards: list[Shard]  # those with results
    columns: dict[int, Columns]  # by shard id, as each upload said it
    merged: Merged


def load_runs(
    run_ids: Iterable[int], *, attempt: int | None = None
) -> dict[int, Loaded]:
    """Load runs; of one attempt alone where it is given."""
    ids = list(run_ids)
    shards: dict[int, list[Shard]] = defaultdict(list)
    found = Shard.objects.filter(run_id__in=ids, roster__isnull=False)
    if attempt is not None:
        found = found.filter(attempt=attempt)
    for shard in found.order_by("upload_id"):
        shards[shard.run_id].append(shard)
    columns = load_columns([shard for some in shards.values() for shard in some])
    loaded = {}
    for run_id in ids:
        # Retention deletes blocks before shards.
        mine = [shard for shard in shards[run_id] if shard.pk in columns]
        own = {shard.pk: columns[shard.pk] for shard in mine}
        loaded[run_id] = Loaded(mine, own, merge(parts_of(mine, own)))
    return loaded
