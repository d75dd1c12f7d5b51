"""Who ran before a test in its process.

Guarantees: a fixed number of queries, whatever the runs; only orders that are known
(traced, else assumed) tell anything; a test that did not start is nobody's
predecessor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formats.outcomes import BY_CODE, CODE, FAILING, Outcome
from results.loading import load_orders
from results.models import TestCase
from results.queries.merged import load_runs
from results.queries.rows import names_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from results.blocks import Columns
    from results.models import Shard
    from results.order_blocks import Order
    from results.queries.merged import Loaded

LAST = 10
_FAILING = [CODE[outcome] for outcome in FAILING]
_SURENESS = ("traced", "assumed")


@dataclass(frozen=True, slots=True)
class Earlier:
    """A test that started earlier in the process; right before it is `distance` 1."""

    test: int
    nodeid: str
    outcome: str
    distance: int
    suspected: bool


@dataclass(frozen=True, slots=True)
class Lead:
    """What ran before a test in one run. `before` are the last of `position` tests, in
    order; `suspects` are those that were asked for and ran at all, the nearest first."""

    run: int
    worker: str
    order: str
    position: int
    before: list[Earlier]
    suspects: list[Earlier]


def ran_before(
    case_id: int,
    run_ids: Iterable[int],
    *,
    suspects: Collection[int] = (),
    last: int = LAST,
) -> dict[int, Lead]:
    """Return by run what ran before a test, where its order is known."""
    cases = TestCase.objects.filter(pk__in=[case_id, *suspects])
    rows = {
        pk: (project, n) for pk, project, n in cases.values_list(*_ID_PROJECT_NUMBER)
    }
    if case_id not in rows:
        return {}
    project, number = rows[case_id]
    suspected = {n for pk, (_, n) in rows.items() if pk != case_id}
    tracks = _tracks(load_runs(run_ids), [number])
    shown = {run: _shown(some[number], suspected, last) for run, some in tracks.items()}
    named = {n for run, rows in shown.items() for n in _numbers(tracks[run], rows)}
    names = names_of(project, named)
    return {
        run: _lead(run, tracks[run][number], rows, suspected, names, last)
        for run, rows in shown.items()
    }


def order_holds(
    run_id: int, pairs: Collection[tuple[int, int]]
) -> set[tuple[int, int]]:
    """Return those pairs of test ids of which the first ran before the second."""
    cases = TestCase.objects.filter(pk__in={pk for pair in pairs for pk in pair})
    numbers = dict(cases.values_list("pk", "number"))
    seconds = {numbers[second] for _, second in pairs if second in numbers}
    tracks = _tracks(load_runs([run_id]), seconds).get(run_id, {})
    return {
        (first, second)
        for first, second in pairs
        if (track := tracks.get(numbers.get(second, -1))) is not None
        and bool((track.tests == numbers.get(first, -1)).any())
    }


_ID_PROJECT_NUMBER = ("pk", "project_id", "number")
_NOT_STARTED = CODE[Outcome.SKIPPED]


@dataclass(frozen=True, slots=True, eq=False)
class _Track:
    """What started before one test in its process, in order."""

    shard: Shard
    worker: str
    tests: NDArray[np.int32]
    outcome: NDArray[np.uint8]


def _tracks(
    loaded: dict[int, Loaded], numbers: Collection[int]
) -> dict[int, dict[int, _Track]]:
    """Return by run and number the track of each test whose order is known."""
    columns = {pk: one for run in loaded.values() for pk, one in run.columns.items()}
    orders = load_orders(columns)
    found: dict[int, dict[int, _Track]] = {}
    for run, told in loaded.items():
        known = [
            shard
            for shard in told.shards
            if shard.pk in orders and shard.order != "unknown"
        ]
        for number in numbers:
            shard = _believed(known, told.columns, number)
            if shard is None:
                continue
            track = _track(shard, told.columns[shard.pk], orders[shard.pk], number)
            if track is not None:
                found.setdefault(run, {})[number] = track
    return found


def _believed(
    shards: Sequence[Shard], columns: dict[int, Columns], number: int
) -> Shard | None:
    """Of several uploads and attempts the one that saw it fail and knows best."""
    fitting = []
    for shard in shards:
        at = _at(columns[shard.pk], number)
        if at is not None:
            failed = int(columns[shard.pk].outcome[at]) in _FAILING
            rank = (not failed, _SURENESS.index(shard.order), shard.attempt, shard.pk)
            fitting.append((rank, shard))
    return min(fitting, key=lambda one: one[0])[1] if fitting else None


def _at(columns: Columns, number: int) -> int | None:
    at = int(np.searchsorted(columns.tests, number))
    return at if at < len(columns) and columns.tests[at] == number else None


def _track(shard: Shard, columns: Columns, order: Order, number: int) -> _Track | None:
    own = np.flatnonzero(order.rows == _at(columns, number))
    if not len(own):
        return None
    place = int(own[0])
    process = int(order.process()[place])
    first = place - int(order.position()[place])
    rows = order.rows[first:place]
    rows = rows[columns.outcome[rows] != _NOT_STARTED]
    return _Track(
        shard, shard.processes[process], columns.tests[rows], columns.outcome[rows]
    )


def _shown(track: _Track, suspected: set[int], last: int) -> list[int]:
    """Return the places of what is named: the last ones, and every suspect."""
    count = len(track.tests)
    chosen = set(range(max(count - last, 0), count))
    chosen.update(np.flatnonzero(np.isin(track.tests, list(suspected))).tolist())
    return sorted(chosen)


def _numbers(tracks: dict[int, _Track], rows: list[int]) -> list[int]:
    [track] = tracks.values()
    numbers: list[int] = track.tests[rows].tolist()
    return numbers


def _lead(
    run: int,
    track: _Track,
    rows: list[int],
    suspected: set[int],
    names: dict[int, tuple[int, str]],
    last: int,
) -> Lead:
    count = len(track.tests)
    told = []
    for row in rows:
        number = int(track.tests[row])
        pk, nodeid = names.get(number, (0, f"test {number}"))
        outcome = BY_CODE[track.outcome[row]].value
        told.append(Earlier(pk, nodeid, outcome, count - row, number in suspected))
    return Lead(
        run=run,
        worker=track.worker,
        order=track.shard.order,
        position=count,
        before=[one for one in told if one.distance <= last],
        suspects=[one for one in reversed(told) if one.suspected],
    )
