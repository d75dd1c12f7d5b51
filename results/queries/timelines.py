"""What each process of a run did, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats.outcomes import BY_CODE, CODE, FAILING
from results.loading import load_orders
from results.models import Run
from results.queries.merged import Loaded, load_runs
from results.queries.rows import names_of
from results.queries.shapes import Lane, Timeline

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from results.models import Shard
    from results.order_blocks import Order

_FAILING = [CODE[outcome] for outcome in FAILING]
_SURENESS = ("traced", "assumed", "unknown")


class _Track:
    """One process of one shard: its results in order of start."""

    def __init__(
        self, shard: Shard, loaded: Loaded, order: Order, process: int
    ) -> None:
        columns = loaded.columns[shard.pk]
        ends = np.cumsum(order.lengths)
        part = slice(int(ends[process] - order.lengths[process]), int(ends[process]))
        rows = order.rows[part]
        self.shard = shard
        self.worker = shard.processes[process]
        self.tests = columns.tests[rows]
        self.outcome = columns.outcome[rows]
        self.seconds = np.nan_to_num(columns.duration[rows])
        self.exact = order.starts is not None
        if order.starts is not None:
            self.starts: NDArray[np.float64] = order.starts[part]
        else:
            self.starts = np.cumsum(self.seconds) - self.seconds


def timeline(run_id: int, *, limit: int = 2_000) -> Timeline | None:
    """Return a run's lanes with its longest and its failing tests."""
    run = (
        Run.objects.filter(pk=run_id).only("order", "project_id", "started_at").first()
    )
    if run is None:
        return None
    loaded = load_runs([run_id])[run_id]
    orders = load_orders(loaded.columns)
    tracks = [
        _Track(shard, loaded, orders[shard.pk], process)
        for shard in _best(loaded.shards, orders)
        for process in range(len(orders[shard.pk].lengths))
        if orders[shard.pk].lengths[process]
    ]
    exact = bool(tracks) and all(track.exact for track in tracks)
    began = min((float(t.starts.min()) for t in tracks), default=0.0) if exact else 0.0
    shown = _shown(tracks, limit)
    names = names_of(
        run.project_id,
        [
            n
            for t, rows in zip(tracks, shown, strict=True)
            for n in t.tests[rows].tolist()
        ],
    )
    return Timeline(
        exact=exact,
        order=run.order,
        started_at=_started_at(run),
        lanes=[
            _lane(track, rows, began if exact else _own_start(track), names)
            for track, rows in zip(tracks, shown, strict=True)
        ],
        shown=sum(len(rows) for rows in shown),
        total=sum(len(track.tests) for track in tracks),
    )


def _started_at(run: Run) -> datetime:
    return run.started_at


def _own_start(track: _Track) -> float:
    return float(track.starts.min()) if track.exact else 0.0


def _best(shards: Sequence[Shard], orders: dict[int, Order]) -> list[Shard]:
    """Of several uploads of one part, the one that knows the order best."""
    best: dict[tuple[str, int, int], Shard] = {}
    for shard in shards:
        if shard.pk not in orders:
            continue
        place = (shard.job, shard.attempt, shard.index)
        other = best.get(place)
        if other is None or _SURENESS.index(shard.order) < _SURENESS.index(other.order):
            best[place] = shard
    return [best[place] for place in sorted(best)]


def _shown(tracks: Sequence[_Track], limit: int) -> list[NDArray[np.intp]]:
    """Choose the failing and then the longest results of all tracks."""
    if not tracks:
        return []
    seconds = np.concatenate([track.seconds for track in tracks])
    failing = np.concatenate([np.isin(track.outcome, _FAILING) for track in tracks])
    chosen = np.zeros(len(seconds), bool)
    chosen[np.lexsort((-seconds, ~failing))[:limit]] = True
    ends = np.cumsum([len(track.tests) for track in tracks])
    return [np.flatnonzero(part) for part in np.split(chosen, ends[:-1])]


def _lane(
    track: _Track,
    rows: NDArray[np.intp],
    began: float,
    names: dict[int, tuple[int, str]],
) -> Lane:
    found = [names.get(n, (0, f"test {n}")) for n in track.tests[rows].tolist()]
    starts = track.starts - began
    return Lane(
        worker=track.worker,
        job=track.shard.job,
        index=track.shard.index,
        attempt=track.shard.attempt,
        tests=len(track.tests),
        busy_s=float(track.seconds.sum()),
        end_s=float((starts + track.seconds).max()),
        starts=starts[rows].round(4).tolist(),
        durations=track.seconds[rows].tolist(),
        outcomes=[BY_CODE[code].value for code in track.outcome[rows]],
        test_ids=[pk for pk, _ in found],
        nodeids=[nodeid for _, nodeid in found],
    )
