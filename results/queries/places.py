"""In which process, and where in it, the results of a run were made.

Guarantees: where one upload of a part has a trace, process and place come from it,
whichever upload gave the outcome; they are never mixed with assumed ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from results.loading import load_orders

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from results.models import Shard
    from results.order_blocks import Order
    from results.queries.merged import Loaded

    type Place = tuple[str, int | None]  # worker, position

NOWHERE: Place = ("", None)


def places(loaded: Loaded, rows: NDArray[np.intp]) -> list[Place]:
    """Return worker and position of each result, where they are known."""
    columns, source = loaded.merged.columns, loaded.merged.source
    believed = {at: _believed(loaded, at) for at in np.unique(source[rows]).tolist()}
    asked = {shard.pk for some in believed.values() for shard in some}
    orders = load_orders({pk: loaded.columns[pk] for pk in asked})
    known = {
        shard.pk: _Known(shard, loaded.columns[shard.pk].tests, orders[shard.pk])
        for shard in loaded.shards
        if shard.pk in orders
    }
    return [
        _first(
            known[shard.pk].place(int(columns.tests[row]))
            for shard in believed[int(source[row])]
            if shard.pk in known
        )
        for row in rows
    ]


def _believed(loaded: Loaded, at: int) -> list[Shard]:
    """Return the uploads that tell where the results of one upload were made."""
    own = loaded.shards[at]
    part = (own.job, own.index, own.attempt)
    traced = [
        shard
        for shard in loaded.shards
        if (shard.job, shard.index, shard.attempt) == part and shard.order == "traced"
    ]
    return traced or [own]


class _Known:
    """One upload's order, by test number."""

    def __init__(self, shard: Shard, tests: NDArray[np.int32], order: Order) -> None:
        self._tests = tests
        self._at = np.full(len(tests), -1, np.int64)
        self._at[order.rows] = np.arange(len(order.rows))
        self._process = order.process()
        self._position = order.position()
        self._names = shard.processes

    def place(self, test: int) -> Place:
        own = int(np.searchsorted(self._tests, test))
        if own == len(self._tests) or self._tests[own] != test or self._at[own] < 0:
            return NOWHERE
        where = int(self._at[own])
        return self._names[self._process[where]], int(self._position[where])


def _first(found: Iterable[Place]) -> Place:
    return next((place for place in found if place != NOWHERE), NOWHERE)
