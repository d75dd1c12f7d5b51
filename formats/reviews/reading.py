"""Reading a review in whichever of its three formats it comes.

Guarantees: any bytes are a `Review` or `Rejected`, in time and memory proportional to
their number; the content decides, not a name.
"""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any, BinaryIO

import zstandard

from formats.report import Rejected
from formats.reviews.fields import load, refuse
from formats.reviews.json_review import review_of
from formats.reviews.markdown import read_markdown
from formats.reviews.review import MOST_BYTES, Review
from formats.reviews.sarif_reading import log_of

_BLOCK = 1 << 20
_BLANK = b"\xef\xbb\xbf \t\r\n"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_ZSTD_WINDOW = 128 << 20


def read_review(stream: BinaryIO) -> Review:
    """Read Markdown, `healthboard.review/1` or SARIF 2.1.0, plain or compressed."""
    raw = _whole(stream)
    text = _text(raw) if raw[:2] in _UTF_16 else None
    start = text.lstrip("\ufeff \t\r\n")[:1] if text is not None else ""
    if start == "{" or raw.lstrip(_BLANK)[:1] == b"{":
        return _from_json(load(text.encode() if text is not None else raw))
    return read_markdown(text if text is not None else _text(raw))


def _from_json(value: Any) -> Review:  # Any: JSON that is being checked
    if isinstance(value, dict) and "schema" not in value:
        if "runs" in value or "version" in value:
            return log_of(value)
        refuse("schema", "missing, and this is no SARIF log either")
    return review_of(value)


def _text(raw: bytes) -> str:
    encoding = "utf-16" if raw[:2] in _UTF_16 else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"not {encoding.removesuffix('-sig').upper()} at byte {error.start}"
        raise Rejected(message, line=line) from error


def _whole(stream: BinaryIO) -> bytes:
    stream.seek(0)
    head = stream.read(4)
    stream.seek(0)
    if head.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=stream, mode="rb") as unpacked:
            try:
                return _capped(unpacked)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise Rejected(f"damaged gzip file: {error}") from error
    if head == b"\x28\xb5\x2f\xfd":
        decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        with decompressor.stream_reader(
            stream, read_across_frames=True, closefd=False
        ) as unpacked:
            try:
                return _capped(unpacked)
            except zstandard.ZstdError as error:
                raise Rejected(f"damaged zstd file: {error}") from error
    return _capped(stream)


def _capped(stream: Any) -> bytes:  # Any: whatever has read(), by three libraries
    kept = io.BytesIO()
    while block := stream.read(_BLOCK):
        if kept.tell() + len(block) > MOST_BYTES:
            raise Rejected(f"larger than {MOST_BYTES:,} bytes")
        kept.write(block)
    return kept.getvalue()
