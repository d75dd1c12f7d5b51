"""Content encodings of a body, undone as it comes in.

Guarantees: memory stays flat whatever the body unpacks to; nothing is yielded beyond
`most` bytes; a body that is cut off, damaged or followed by garbage is `Malformed`,
wherever the blocks happen to be cut.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol

import zstandard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ENCODINGS = ("gzip", "zstd")
BLOCK = 128 * 1024

# RFC 9659: a window of more than 8 MiB is not allowed over HTTP. Files may have more.
_ZSTD_WINDOW = 8 * 2**20
FILE_WINDOW = 128 * 2**20
# Four bytes of a zstd frame can stand for 128 KiB; this bounds one step to 16 MiB.
_ZSTD_STEP = 512
_GZIP_WRAPPED = zlib.MAX_WBITS | 16


class BodyError(Exception):
    """A body that is refused; `status` is HTTP's, `field` what it is about."""

    status = 400

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class Malformed(BodyError):
    """Unreadable: cut off, damaged, or not what its headers say."""


class CutOff(Malformed):
    """The packed data ends before its end."""


class TooLarge(BodyError):
    status = 413


class UnknownEncoding(BodyError):
    status = 415


class Unfit(BodyError):
    """Readable but wrong."""

    status = 422


class _Decoder(Protocol):
    def feed(self, block: bytes) -> Iterator[bytes]: ...

    def finish(self) -> None: ...


def known_encoding(header: str) -> str:
    """Return "gzip", "zstd" or "" for a Content-Encoding header."""
    name = header.strip().lower()
    if name in ("", "identity"):
        return ""
    if name == "x-gzip":
        return "gzip"
    if name not in ENCODINGS:
        raise UnknownEncoding(
            f"the encoding {header[:100]!r} is not known here; use gzip, zstd or none",
            field="Content-Encoding",
        )
    return name


def unpack(
    blocks: Iterable[bytes], encoding: str, *, most: int, window: int = _ZSTD_WINDOW
) -> Iterator[bytes]:
    """Yield the unpacked body, at most `most` bytes; `encoding` is a known one."""
    total = 0
    for piece in _decoded(blocks, encoding, window):
        total += len(piece)
        if total > most:
            raise TooLarge(f"the body is larger than {most} bytes when unpacked")
        yield piece


def _decoded(blocks: Iterable[bytes], encoding: str, window: int) -> Iterator[bytes]:
    if not encoding:
        yield from blocks
        return
    decoder: _Decoder = _Gzip() if encoding == "gzip" else _Zstd(window)
    for block in blocks:
        yield from decoder.feed(block)
    decoder.finish()


class _Gzip:
    """Any number of members, followed by nothing but zeros."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_WRAPPED)
        self._begun = False  # the current member has bytes
        self._whole = False  # one member at least is complete
        self._padding = False

    def feed(self, block: bytes) -> Iterator[bytes]:
        data = block
        while data:
            if self._whole and not self._begun:
                data = self._between_members(data)
                if not data:
                    return
            self._begun = True
            try:
                piece = self._member.decompress(data, BLOCK)
            except zlib.error as error:
                raise Malformed(f"the gzip data is damaged: {error}") from error
            if piece:
                yield piece
            if self._member.eof:
                data = self._member.unused_data
                self._member = zlib.decompressobj(_GZIP_WRAPPED)
                self._begun, self._whole = False, True
            else:
                data = self._member.unconsumed_tail

    def _between_members(self, data: bytes) -> bytes:
        rest = data.lstrip(b"\0")
        self._padding = self._padding or len(rest) < len(data)
        if rest and self._padding:
            raise Malformed("the gzip data is followed by something else")
        return rest

    def finish(self) -> None:
        # What zlib still holds back once the input ends belongs to a member that
        # never reached its trailer.
        if self._begun or not self._whole:
            raise CutOff("the gzip data is cut off")


class _Zstd:
    """Any number of frames."""

    def __init__(self, window: int) -> None:
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=window)
        self._frame = self._decompressor.decompressobj()
        self._begun = False
        self._whole = False

    def feed(self, block: bytes) -> Iterator[bytes]:
        view = memoryview(block)
        for start in range(0, len(block), _ZSTD_STEP):
            data = bytes(view[start : start + _ZSTD_STEP])
            while data:
                self._begun = True
                try:
                    piece = self._frame.decompress(data)
                except zstandard.ZstdError as error:
                    raise Malformed(f"the zstd data is damaged: {error}") from error
                if piece:
                    yield piece
                data = b""
                if self._frame.eof:
                    data = self._frame.unused_data
                    self._frame = self._decompressor.decompressobj()
                    self._begun, self._whole = False, True

    def finish(self) -> None:
        if self._begun or not self._whole:
            raise CutOff("the zstd data is cut off")
