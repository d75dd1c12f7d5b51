"""From one upload's results to what is stored of them, before any transaction.

Guarantees: the columns stand by rising test number; the order holds only results whose
process is known. Nothing here touches a database.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formats.outcomes import BY_CODE, CODE, FAILING, PASSING, Outcome
from results import blocks, order_blocks
from results.blocks import Columns, Flag
from results.order_blocks import Order

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from formats.report import TestResult

_MOST_ATTEMPTS = 65_535
_FAILS = np.array([outcome in FAILING for outcome in BY_CODE])


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """`columns` are as `decode` will give them: durations are rounded already.

    `telling` are the places (in the results) of what may have a text.
    """

    columns: Columns
    roster_digest: bytes
    blocks: list[tuple[int, bytes]]  # (chunk, data); chunk -1 is the order
    telling: list[int]

    def roster(self) -> bytes:
        return blocks.encode_roster(self.columns.tests)

    @property
    def failing(self) -> int:
        return int(_FAILS[self.columns.outcome].sum())


def pack(
    results: Sequence[TestResult],
    numbers: NDArray[np.int32],
    *,
    leaking: Collection[int] = (),
) -> Packed:
    """Pack results; `numbers` are their test cases, aligned and each once.

    `leaking` are the numbers of those that leak by a gate's word.
    """
    by_number = np.argsort(numbers, kind="stable")
    telling = [
        place
        for place, result in enumerate(results)
        if result.outcome is not Outcome.PASSED
        or result.attempts
        or result.flaky
        or result.gated
    ]
    columns = _columns(results, numbers, telling).take(by_number)
    if leaking:
        marked = np.isin(columns.tests, np.fromiter(leaking, np.int64))
        columns.flags[marked] |= np.uint8(Flag.LEAKING)
    packed: list[tuple[int, bytes]] = []
    for chunk, part in blocks.slices(columns.tests):
        data, columns.duration[part] = blocks.encode_rounded(columns.take(part))
        packed.append((chunk, data))
    order = _order(results, by_number)
    if order is not None:
        data = order_blocks.encode(order, columns.duration)
        packed.append((order_blocks.CHUNK, data))
    digest = hashlib.blake2b(columns.tests.tobytes(), digest_size=16).digest()
    return Packed(columns, digest, packed, telling)


def _columns(
    results: Sequence[TestResult], numbers: NDArray[np.int32], telling: Sequence[int]
) -> Columns:
    count = len(results)
    outcome = np.full(count, CODE[Outcome.PASSED], np.uint8)
    attempts = np.ones(count, np.uint16)
    flags = np.zeros(count, np.uint8)
    for place in telling:
        result = results[place]
        outcome[place] = CODE[result.outcome]
        if result.attempts:
            attempts[place] = min(len(result.attempts) + 1, _MOST_ATTEMPTS)
            flags[place] = _history_of(result)
        if result.flaky:
            flags[place] |= Flag.FLAKY
        if result.gated:
            flags[place] |= Flag.GATED
        if result.outcome in FAILING and not (result.message or result.text):
            flags[place] |= Flag.SILENT
    duration = np.array([result.duration for result in results], np.float64)
    return Columns(numbers, outcome, flags, attempts, duration)


def _history_of(result: TestResult) -> int:
    earlier = {attempt.outcome for attempt in result.attempts}
    flags = Flag.HAD_FAILURE if earlier & FAILING else Flag(0)
    return int(flags | (Flag.HAD_PASS if earlier & PASSING else Flag(0)))


def _order(results: Sequence[TestResult], by_number: NDArray[np.intp]) -> Order | None:
    """Return who ran what in which order; None where no process is known."""
    process = np.array([result.process for result in results], np.int32)
    known = np.flatnonzero(process >= 0)
    if not len(known):
        return None
    position = np.array([result.position for result in results], np.int64)[known]
    starts = _starts(results, known)
    ran = known
    # As a report stands in its file: one process, in order.
    if process[known].any() or not (np.diff(position) > 0).all():
        # The place is the source's word; where it gives none the start decides.
        start = np.zeros(len(known)) if starts is None else starts[known]
        ran = known[np.lexsort((known, start, position, process[known]))]
    place = np.empty(len(results), np.int64)
    place[by_number] = np.arange(len(results))
    lengths = np.bincount(process[ran])
    return Order(
        lengths.astype(np.int32),
        place[ran].astype(np.int32),
        None if starts is None else starts[ran],
    )


def _starts(
    results: Sequence[TestResult], known: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """Return when each result started; None unless all known ones say so."""
    if results[known[0]].start is None:
        return None
    starts = np.array([result.start for result in results], np.float64)
    return starts if np.isfinite(starts[known]).all() else None
