"""JSON Lines, plain or compressed, with the number of each line.

Guarantees: a last line that was torn off is dropped and noted; any other line that is
no JSON object is `Rejected` with its number; memory is bounded by one line's length.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO

from formats.durations import MOST_SECONDS
from formats.report import Note, Rejected
from formats.unpacking import FILE_WINDOW, BodyError, CutOff, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats.limits import Limits

type Json = str | int | float | bool | list[Json] | dict[str, Json] | None

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BLOCK = 1 << 17
_MOST_LINE = 32 << 20  # bytes of one line
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class JsonLines:
    """The objects of a file; `notes` is complete once they are all read."""

    def __init__(self, stream: BinaryIO, *, limits: Limits) -> None:
        self.notes: list[Note] = []
        self._stream = stream
        self._limits = limits
        self._cut = False  # the compressed data ends too early

    def __iter__(self) -> Iterator[tuple[int, dict[str, Json]]]:
        number = 0
        read = 0
        for number, raw, is_last in self._lines():
            try:
                value = _decode(raw)
            except ValueError as error:
                if is_last and not raw.endswith(b"\n") and read:
                    self._note_torn(number)
                    return
                raise Rejected(_reason(error), line=number) from error
            if value is None:
                continue
            read += 1
            yield number, value
        if not read:
            raise Rejected("the file is empty", line=number or None)
        if self._cut:
            self._note_torn(number)

    def _note_torn(self, number: int) -> None:
        message = "the file ends in the middle of a line, which was left out"
        self.notes.append(Note("torn-line", message, number))

    def _lines(self) -> Iterator[tuple[int, bytes, bool]]:
        """Yield number, line with its end, and whether it is the last one."""
        pending = b""
        number = 0
        for block in self._blocks():
            *lines, rest = block.split(b"\n")
            for line in lines:
                number += 1
                yield number, pending + line + b"\n", False
                pending = b""
            pending = pending + rest if pending else rest
            if len(pending) > _MOST_LINE:
                raise Rejected(
                    f"the line is longer than {_MOST_LINE:,} bytes", line=number + 1
                )
        if pending:
            yield number + 1, pending, True

    def _blocks(self) -> Iterator[bytes]:
        total = 0
        for block in self._unpacked():
            total += len(block)
            if total > self._limits.unpacked:
                raise Rejected(f"unpacks to more than {self._limits.unpacked:,} bytes")
            yield block

    def _unpacked(self) -> Iterator[bytes]:
        stream = self._stream
        stream.seek(0)
        head = stream.read(4)
        stream.seek(0)
        if head.startswith(_GZIP):
            yield from self._from_gzip()
        elif head == _ZSTD:
            yield from self._from_zstd()
        else:
            while block := stream.read(_BLOCK):
                yield block

    def _from_gzip(self) -> Iterator[bytes]:
        with gzip.GzipFile(fileobj=self._stream, mode="rb") as unpacked:
            try:
                while block := unpacked.read1(_BLOCK):
                    yield block
            except EOFError:  # the writer was killed before it closed the file
                self._cut = True
            except (gzip.BadGzipFile, zlib.error) as error:
                raise Rejected(f"damaged gzip file: {error}") from error

    def _from_zstd(self) -> Iterator[bytes]:
        blocks = iter(lambda: self._stream.read(_BLOCK), b"")
        try:
            # One block more than the limit, so that the limit's own words are used.
            most = self._limits.unpacked + _BLOCK
            yield from unpack(blocks, "zstd", most=most, window=FILE_WINDOW)
        except CutOff:
            self._cut = True
        except BodyError as error:
            raise Rejected(f"damaged zstd file: {error.message}") from error


def clean(text: str) -> str:
    """The text without what no database stores: NUL and halves of characters."""
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def number(value: Json) -> float | None:
    """A number of seconds that can be added up and placed in time, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if abs(found) <= MOST_SECONDS else None


def moment(seconds: float | None) -> datetime | None:
    """Unix seconds as a time, None where the calendar has none."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _decode(raw: bytes) -> dict[str, Json] | None:
    text = raw.decode("utf-8-sig").strip()
    if not text:
        return None
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start} of the line"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at column {error.colno}"
    return str(error)
