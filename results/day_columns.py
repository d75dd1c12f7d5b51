"""A day's totals of every test as columns, and their bytes.

Guarantees: as `blocks`: versioned, old versions stay readable. Passed holds xpassed,
skipped holds xfailed (so executed = runs - skipped). The edges of the histogram are
fixed, so days add up; its stream is read only by who asks for percentiles.

Version 1 is a header (version, tests, histogram entries, bytes of the first stream),
the deflated columns and the deflated histogram.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.outcomes import CODE, Outcome
from results.blocks import BlockError, Flag, deflate, inflate, shuffle, unshuffle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from results.blocks import Columns

VERSION = 1
_HEADER = struct.Struct("<BxHIII")
_TICK = 1e-4  # seconds
_MOST = 0xFFFF_FFFF
# Half a millisecond to an hour and a half, each bucket 1.41 times as wide.
EDGES = 0.0005 * 2.0 ** (np.arange(47) / 2)
BUCKETS = len(EDGES) + 1
COUNTS = ("runs", "passed", "failed", "errors", "skipped", "flaky")
_CODES = {
    "passed": (CODE[Outcome.PASSED], CODE[Outcome.XPASSED]),
    "failed": (CODE[Outcome.FAILED],),
    "errors": (CODE[Outcome.ERROR],),
    "skipped": (CODE[Outcome.SKIPPED], CODE[Outcome.XFAILED]),
}


@dataclass(frozen=True, slots=True, eq=False)
class DayColumns:
    """Aligned with `tests`, which rise. Times in seconds."""

    tests: NDArray[np.int32]
    counts: dict[str, NDArray[np.int64]]  # by the names in COUNTS
    total_s: NDArray[np.float64]
    max_s: NDArray[np.float64]
    cells: NDArray[np.int64]  # row * BUCKETS + bucket, rising
    cell_counts: NDArray[np.int64]

    def histogram(self, rows: NDArray[Any]) -> NDArray[np.int64]:  # Any: integers
        """Return the (rows, BUCKETS) histogram of some rows."""
        found = np.zeros((len(rows), BUCKETS), np.int64)
        starts = np.searchsorted(self.cells, rows * BUCKETS)
        ends = np.searchsorted(self.cells, (rows + 1) * BUCKETS)
        for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
            buckets = self.cells[start:end] % BUCKETS
            found[place, buckets] = self.cell_counts[start:end]
        return found


class Sums:
    """The sums under construction; a run adds each of its tests once."""

    def __init__(self) -> None:
        self._size = 0
        self._counts = {name: np.zeros(0, np.int64) for name in COUNTS}
        self._total = np.zeros(0)
        self._max = np.zeros(0)
        self._cells = np.zeros((0, BUCKETS), np.int64)

    def add(self, columns: Columns) -> None:
        """Add the merged results of one run."""
        if not len(columns):
            return
        self._grow(int(columns.tests[-1]) + 1)
        tests = columns.tests
        self._counts["runs"][tests] += 1
        for name, codes in _CODES.items():
            self._counts[name][tests] += np.isin(columns.outcome, codes)
        self._counts["flaky"][tests] += (columns.flags & Flag.FLAKY) > 0
        executed = np.isfinite(columns.duration) & ~np.isin(
            columns.outcome, _CODES["skipped"]
        )
        timed, seconds = tests[executed], columns.duration[executed]
        self._total[timed] += seconds
        self._max[timed] = np.maximum(self._max[timed], seconds)
        bucket = np.searchsorted(EDGES, seconds, side="right")
        self._cells[timed, bucket] += 1

    def columns(self) -> DayColumns:
        tests = np.flatnonzero(self._counts["runs"])
        cells = self._cells[tests].ravel()
        some = np.flatnonzero(cells)
        return DayColumns(
            tests.astype(np.int32),
            {name: values[tests] for name, values in self._counts.items()},
            self._total[tests],
            self._max[tests],
            some.astype(np.int64),
            cells[some],
        )

    def _grow(self, size: int) -> None:
        if size <= self._size:
            return
        more = size - self._size
        for name, values in self._counts.items():
            self._counts[name] = np.pad(values, (0, more))
        self._total = np.pad(self._total, (0, more))
        self._max = np.pad(self._max, (0, more))
        self._cells = np.pad(self._cells, ((0, more), (0, 0)))
        self._size = size


def encode(day: DayColumns) -> bytes:
    first = [shuffle((np.diff(day.tests, prepend=-1) - 1).astype("<u4"))]
    first += [shuffle(_capped(day.counts[name])) for name in COUNTS]
    first.append(shuffle(np.rint(day.total_s / _TICK).astype("<u8")))
    first.append(shuffle(_capped(np.rint(day.max_s / _TICK))))
    packed = deflate(b"".join(first))
    cells = shuffle((np.diff(day.cells, prepend=-1) - 1).astype("<u4"))
    histogram = deflate(cells + shuffle(_capped(day.cell_counts)))
    head = _HEADER.pack(VERSION, BUCKETS, len(day.tests), len(day.cells), len(packed))
    return head + packed + histogram


def decode(data: bytes, *, histogram: bool = True) -> DayColumns:
    """Unpack a day; without its histogram, in which all cells are then missing."""
    if len(data) < _HEADER.size or data[0] != VERSION:
        raise BlockError("not a day of a known version")
    _, buckets, count, cells, size = _HEADER.unpack_from(data)
    if buckets != BUCKETS:
        raise BlockError(f"a histogram of {buckets} buckets, {BUCKETS} are known")
    end = _HEADER.size + size
    width = 4 * count
    body = inflate(data[:end], _HEADER.size, width * (len(COUNTS) + 4))
    raw = np.frombuffer(body, np.uint8)
    columns = [
        unshuffle(raw[place * width : (place + 1) * width], "<u4").astype(np.int64)
        for place in range(len(COUNTS) + 1)
    ]
    total_at = (len(COUNTS) + 1) * width
    total = unshuffle(raw[total_at : total_at + 2 * width], "<u8") * _TICK
    longest = unshuffle(raw[total_at + 2 * width :], "<u4") * _TICK
    found = _cells(data, end, cells) if histogram else _cells(b"", 0, 0)
    return DayColumns(
        _risen(columns[0]).astype(np.int32),
        dict(zip(COUNTS, columns[1:], strict=True)),
        total,
        longest,
        *found,
    )


def quantile(histogram: NDArray[np.int64], share: float) -> float | None:
    """Return a quantile of one test's durations, read off its buckets."""
    total = int(histogram.sum())
    if not total:
        return None
    rising = np.cumsum(histogram)
    bucket = int(np.searchsorted(rising, share * total))
    low = 0.0 if bucket == 0 else float(EDGES[bucket - 1])
    high = float(EDGES[min(bucket, len(EDGES) - 1)])
    before = int(rising[bucket - 1]) if bucket else 0
    inside = (share * total - before) / int(histogram[bucket])
    return low + (high - low) * min(max(inside, 0.0), 1.0)


def _cells(
    data: bytes, offset: int, count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not count:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    raw = np.frombuffer(inflate(data, offset, 8 * count), np.uint8)
    gaps = unshuffle(raw[: 4 * count], "<u4").astype(np.int64)
    counts = unshuffle(raw[4 * count :], "<u4").astype(np.int64)
    return _risen(gaps), counts


def _risen(gaps: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(gaps + 1) - 1


def _capped(values: NDArray[Any]) -> NDArray[np.uint32]:  # Any: numbers
    capped: NDArray[np.uint32] = np.minimum(values, _MOST).astype("<u4")
    return capped
