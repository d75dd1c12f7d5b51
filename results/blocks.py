"""Column blocks: the results of one shard for 1,024 test numbers, and rosters.

Guarantees: a block says its own version and how many results it holds, is written
once, and every version ever written stays readable. The numbers of the tests are
not in the block: they are the roster's, in order (`slices`). Pure: bytes and arrays.

Version 1 of a block is a header of 5 bytes (version, unit of the durations, count)
and one raw deflate stream of the columns: outcome (1 byte), flags (1), attempts (2),
duration (4). Numbers of several bytes are shuffled: all first bytes, all second ….
Version 1 of a roster is a header of 5 bytes (version, count) and the deflated gaps.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from enum import IntFlag
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

CHUNK = 1024
VERSION = 1

_BLOCK = struct.Struct("<BBxH")  # version, unit, count
_ROSTER = struct.Struct("<BI")  # version, count
_UNITS = (1e-3, 1e-4)  # seconds; the index is stored
_UNKNOWN = 0xFFFF_FFFF
_LONGEST = 0xFFFF_FFFE
_WHOLE = 1e-3  # a millisecond count this near a whole one is whole


class BlockError(ValueError):
    """Bytes that are no block, or of a version from the future."""


class Flag(IntFlag):
    """Marks beside an outcome. Stored: append only, never renumber."""

    FLAKY = 1  # attempts disagree
    LEAKING = 2  # a gate says so
    CONFLICT = 4  # two uploads of one part differ
    DUPLICATE = 8  # stands in several shards or jobs
    HAD_FAILURE = 16  # an earlier attempt in the same upload failed
    HAD_PASS = 32  # an earlier attempt in the same upload passed
    GATED = 64  # a gate's failure was taken from it
    SILENT = 128  # failed without a word, as in a trace


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Results, aligned, by rising test number. Durations in seconds, NaN: not known."""

    tests: NDArray[np.int32]
    outcome: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    attempts: NDArray[np.uint16]
    duration: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.tests)

    def take(self, rows: NDArray[Any] | slice) -> Columns:  # Any: indices or booleans
        return Columns(
            self.tests[rows],
            self.outcome[rows],
            self.flags[rows],
            self.attempts[rows],
            self.duration[rows],
        )


def empty() -> Columns:
    return Columns(
        np.empty(0, np.int32),
        np.empty(0, np.uint8),
        np.empty(0, np.uint8),
        np.empty(0, np.uint16),
        np.empty(0, np.float64),
    )


def join(parts: list[Columns]) -> Columns:
    """Put columns one after the other."""
    if not parts:
        return empty()
    if len(parts) == 1:
        return parts[0]
    return Columns(
        np.concatenate([part.tests for part in parts]),
        np.concatenate([part.outcome for part in parts]),
        np.concatenate([part.flags for part in parts]),
        np.concatenate([part.attempts for part in parts]),
        np.concatenate([part.duration for part in parts]),
    )


def slices(tests: NDArray[np.int32]) -> Iterator[tuple[int, slice]]:
    """Yield (chunk, its slice) for sorted test numbers; no empty slice."""
    if not len(tests):
        return
    chunks = tests // CHUNK
    starts = np.flatnonzero(np.diff(chunks, prepend=-1))
    ends = np.append(starts[1:], len(tests))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield int(chunks[start]), slice(start, end)


def chunk_slice(tests: NDArray[np.int32], chunk: int) -> slice:
    """Return where the numbers of one chunk stand in sorted test numbers."""
    start, end = np.searchsorted(tests, (chunk * CHUNK, (chunk + 1) * CHUNK))
    return slice(int(start), int(end))


def encode(columns: Columns) -> bytes:
    """Pack the results of one chunk; durations are rounded to the unit that fits."""
    return encode_rounded(columns)[0]


def encode_rounded(columns: Columns) -> tuple[bytes, NDArray[np.float64]]:
    """Pack the results of one chunk; return the durations as `decode` gives them, too."""
    ticks, unit = _ticks(columns.duration)
    body = b"".join(
        (
            columns.outcome.astype(np.uint8).tobytes(),
            columns.flags.astype(np.uint8).tobytes(),
            shuffle(columns.attempts.astype("<u2")),
            shuffle(ticks),
        )
    )
    data = _BLOCK.pack(VERSION, unit, len(columns)) + deflate(body)
    return data, _durations(ticks, _UNITS[unit])


def decode(data: bytes, tests: NDArray[np.int32]) -> Columns:
    """Unpack a block; `tests` are its numbers, from the roster."""
    count, unit = _header(data)
    if count != len(tests):
        raise BlockError(f"the block holds {count} results, its roster {len(tests)}")
    body = inflate(data, _BLOCK.size, 8 * count)
    raw = np.frombuffer(body, np.uint8)
    ticks = unshuffle(raw[4 * count :], "<u4")
    return Columns(
        tests,
        raw[:count],
        raw[count : 2 * count],
        unshuffle(raw[2 * count : 4 * count], "<u2"),
        _durations(ticks, unit),
    )


def decode_outcomes(
    data: bytes, count: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint16]]:
    """Unpack outcome, flags and attempts alone: the durations cost as much again."""
    said, _ = _header(data)
    if said != count:
        raise BlockError(f"the block holds {said} results, its roster {count}")
    raw = np.frombuffer(inflate_start(data, _BLOCK.size, 4 * count), np.uint8)
    attempts = unshuffle(raw[2 * count :], "<u2")
    return raw[:count], raw[count : 2 * count], attempts


def decode_one(data: bytes, at: int) -> tuple[int, int, int, float]:
    """Return outcome, flags, attempts and duration of the result at one place."""
    count, unit = _header(data)
    if not 0 <= at < count:
        raise BlockError(f"the block holds {count} results, none at {at}")
    body = inflate(data, _BLOCK.size, 8 * count)
    attempts = body[2 * count + at] | body[3 * count + at] << 8
    ticks = int.from_bytes(body[4 * count + at :: count], "little")
    duration = float("nan") if ticks == _UNKNOWN else ticks * unit
    return body[at], body[count + at], attempts, duration


def encode_roster(tests: NDArray[np.int32]) -> bytes:
    """Pack rising test numbers: a roster without holes costs a few bytes."""
    gaps = np.diff(tests, prepend=-1) - 1
    return _ROSTER.pack(VERSION, len(tests)) + deflate(shuffle(gaps.astype("<u4")))


def decode_roster(data: bytes) -> NDArray[np.int32]:
    """Return the test numbers of a roster, read-only."""
    if len(data) < _ROSTER.size or data[0] != VERSION:
        raise BlockError("not a roster of a known version")
    count = _ROSTER.unpack_from(data)[1]
    raw = np.frombuffer(inflate(data, _ROSTER.size, 4 * count), np.uint8)
    numbers = np.cumsum(unshuffle(raw, "<u4").astype(np.int64) + 1) - 1
    tests = numbers.astype(np.int32)
    tests.flags.writeable = False
    return tests


def shuffle(numbers: NDArray[Any]) -> bytes:  # Any: integers of any width
    """Put all first bytes first, then all second ones …: small numbers deflate well."""
    width = numbers.dtype.itemsize
    return numbers.view(np.uint8).reshape(-1, width).T.tobytes()


def unshuffle(raw: NDArray[np.uint8], dtype: str) -> NDArray[Any]:  # Any: as `dtype`
    width = np.dtype(dtype).itemsize
    return np.ascontiguousarray(raw.reshape(width, -1).T).view(dtype).reshape(-1)


def deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(body) + packer.flush()


def inflate(data: bytes, offset: int, size: int) -> bytes:
    """Unpack exactly `size` bytes; anything else is no block of ours."""
    unpacker = zlib.decompressobj(-15)
    try:
        body = unpacker.decompress(memoryview(data)[offset:], size + 1)
    except zlib.error as error:
        raise BlockError(f"not deflated: {error}") from error
    if len(body) != size:
        raise BlockError(f"{len(body)} bytes where {size} were said")
    return body


def inflate_start(data: bytes, offset: int, size: int) -> bytes:
    """Unpack the first `size` bytes and no more."""
    unpacker = zlib.decompressobj(-15)
    try:
        body = unpacker.decompress(memoryview(data)[offset:], max(size, 1))
    except zlib.error as error:
        raise BlockError(f"not deflated: {error}") from error
    if len(body) < size:
        raise BlockError(f"{len(body)} bytes where {size} were said")
    return body[:size]


def _header(data: bytes) -> tuple[int, float]:
    if len(data) < _BLOCK.size or data[0] != VERSION or data[1] >= len(_UNITS):
        raise BlockError("not a block of a known version")
    _, unit, count = _BLOCK.unpack_from(data)
    return count, _UNITS[unit]


def _durations(ticks: NDArray[np.uint32], unit: float) -> NDArray[np.float64]:
    duration = (ticks * unit).astype(np.float64, copy=False)
    duration[ticks == _UNKNOWN] = np.nan
    return duration


def _ticks(duration: NDArray[np.float64]) -> tuple[NDArray[np.uint32], int]:
    """Return durations as counts of a unit: whole milliseconds, else tenths."""
    known = np.nan_to_num(duration, nan=0.0, posinf=_LONGEST, neginf=0.0)
    known = np.maximum(known, 0.0)
    in_ms = known * 1e3
    whole = np.abs(in_ms - np.rint(in_ms)) < _WHOLE
    too_long = known.max(initial=0.0) > _LONGEST * _UNITS[1]
    unit = 0 if too_long or bool(whole.all()) else 1
    ticks = np.minimum(np.rint(known / _UNITS[unit]), _LONGEST).astype("<u4")
    ticks[np.isnan(duration)] = _UNKNOWN
    return ticks, unit
