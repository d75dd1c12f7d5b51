"""A shard's order block: its processes, and what each ran in order of start.

Guarantees: as `blocks`; places are exact, starts to 0.1 ms without drift. Results are
named by their place in the shard's roster. One piece a shard (chunk -1): a
permutation costs the same in one piece, and a test's history need not read it.

Version 1 is a header (version, whether starts follow, processes, results), the
deflated lengths and steps (4 bytes), and, with starts, per process its first start as a double
and the deflated gaps (8 bytes): the time between one test's end and the next one's start.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from results.blocks import BlockError, deflate, inflate, shuffle, unshuffle

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = -1
VERSION = 1

_HEADER = struct.Struct("<BBHII")  # version, starts, processes, results, packed bytes
_TICK = 1e-4  # seconds


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """`lengths[p]` results of process p stand together in `rows`, in order of start.

    `rows` are places in the roster. `starts` are Unix seconds, aligned with `rows`,
    or None where the source does not know them.
    """

    lengths: NDArray[np.int32]
    rows: NDArray[np.int32]
    starts: NDArray[np.float64] | None = None

    def process(self) -> NDArray[np.int32]:
        """Return each row's process."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.int32), self.lengths)

    def position(self) -> NDArray[np.int32]:
        """Return each row's place in its process, from 0."""
        return (np.arange(len(self.rows)) - self._firsts()).astype(np.int32)

    def _firsts(self) -> NDArray[np.int64]:
        ends = np.cumsum(self.lengths, dtype=np.int64)
        return np.repeat(ends - self.lengths, self.lengths)


def encode(order: Order, duration: NDArray[np.float64]) -> bytes:
    """Pack an order; `duration` is that of the roster's results, in seconds."""
    steps = _zigzag(_steps(order.rows))
    packed = deflate(
        order.lengths.astype("<u4").tobytes() + shuffle(steps.astype("<u4"))
    )
    head = _HEADER.pack(
        VERSION,
        int(order.starts is not None),
        len(order.lengths),
        len(order.rows),
        len(packed),
    )
    if order.starts is None:
        return head + packed
    first, gaps = _gaps(order, order.starts, duration)
    return head + packed + first.tobytes() + deflate(shuffle(_zigzag(gaps)))


def decode(data: bytes, duration: NDArray[np.float64]) -> Order:
    """Unpack an order; `duration` as the decoded blocks give it."""
    untimed = decode_untimed(data)
    lengths, rows = untimed.lengths, untimed.rows
    _, timed, processes, count, size = _HEADER.unpack_from(data)
    if not timed:
        return untimed
    offset = _HEADER.size + size
    first = np.frombuffer(data, "<f8", processes, offset)
    body = inflate(data, offset + 8 * processes, 8 * count)
    gaps = _unzigzag(unshuffle(np.frombuffer(body, np.uint8), "<u8"))
    return Order(lengths, rows, _starts(lengths, first, gaps, duration[rows]))


def decode_untimed(data: bytes) -> Order:
    """Unpack who ran what in which order, without the starts."""
    if len(data) < _HEADER.size or data[0] != VERSION:
        raise BlockError("not an order block of a known version")
    _, _, processes, count, size = _HEADER.unpack_from(data)
    body = inflate(data[: _HEADER.size + size], _HEADER.size, 4 * processes + 4 * count)
    raw = np.frombuffer(body, np.uint8)
    lengths = raw[: 4 * processes].view("<u4").astype(np.int32)
    steps = _unzigzag(unshuffle(raw[4 * processes :], "<u4").astype("<u8"))
    return Order(lengths, (np.cumsum(steps + 1) - 1).astype(np.int32))


def processes_of(data: bytes) -> int:
    """Return how many processes an order block speaks of."""
    if len(data) < _HEADER.size or data[0] != VERSION:
        raise BlockError("not an order block of a known version")
    return int(_HEADER.unpack_from(data)[2])


def _gaps(
    order: Order, starts: NDArray[np.float64], duration: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return each process's first start, and the gaps in ticks (0 before a first)."""
    heads = _heads(order.lengths)
    first = np.zeros(len(order.lengths), "<f8")
    first[order.lengths > 0] = starts[heads]
    since = np.rint((starts - np.repeat(first, order.lengths)) / _TICK)
    gaps = np.diff(since.astype(np.int64), prepend=0)
    gaps[1:] -= _duration_ticks(duration[order.rows])[:-1]
    gaps[heads] = 0
    return first, gaps


def _starts(
    lengths: NDArray[np.int32],
    first: NDArray[np.float64],
    gaps: NDArray[np.int64],
    duration: NDArray[np.float64],
) -> NDArray[np.float64]:
    steps = gaps.copy()
    steps[1:] += _duration_ticks(duration)[:-1]
    heads = _heads(lengths)
    steps[heads] = 0
    total = np.cumsum(steps)
    base = np.repeat(total[heads], lengths[lengths > 0])
    return np.repeat(first, lengths) + (total - base) * _TICK


def _steps(rows: NDArray[np.int32]) -> NDArray[np.int64]:
    before = np.concatenate(([-1], rows[:-1])) if len(rows) else rows
    return rows.astype(np.int64) - before - 1


def _heads(lengths: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return where each process that ran anything begins."""
    some = lengths[lengths > 0].astype(np.int64)
    return np.cumsum(some) - some


def _duration_ticks(duration: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(np.nan_to_num(duration) / _TICK).astype(np.int64)


def _zigzag(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Fold the sign into the lowest bit, so that small numbers stay small."""
    return ((numbers << 1) ^ (numbers >> 63)).astype("<u8")


def _unzigzag(folded: NDArray[np.uint64]) -> NDArray[np.int64]:
    return (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(
        np.int64
    )
