"""Reading a file whole, plain or packed, up to a bound.

Guarantees: memory is bounded by `most` bytes, whatever the file unpacks to; a damaged
or larger file is `Rejected`.
"""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any, BinaryIO

import zstandard

from formats.report import Rejected

_BLOCK = 1 << 20
_ZSTD_WINDOW = 128 << 20


def read_whole(stream: BinaryIO, *, most: int) -> bytes:
    """Return the unpacked bytes of a seekable stream: plain, gzip or zstd."""
    stream.seek(0)
    head = stream.read(4)
    stream.seek(0)
    if head.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=stream, mode="rb") as unpacked:
            try:
                return _capped(unpacked, most)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise Rejected(f"damaged gzip file: {error}") from error
    if head == b"\x28\xb5\x2f\xfd":
        decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        with decompressor.stream_reader(
            stream, read_across_frames=True, closefd=False
        ) as unpacked:
            try:
                return _capped(unpacked, most)
            except zstandard.ZstdError as error:
                raise Rejected(f"damaged zstd file: {error}") from error
    return _capped(stream, most)


def _capped(stream: Any, most: int) -> bytes:  # Any: whatever has read(), of three
    kept = io.BytesIO()
    while block := stream.read(_BLOCK):
        if kept.tell() + len(block) > most:
            raise Rejected(f"larger than {most:,} bytes")
        kept.write(block)
    return kept.getvalue()
