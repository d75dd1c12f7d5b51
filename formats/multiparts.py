"""The parts of a multipart/form-data body, one after the other, as it comes in.

Guarantees: memory stays flat in the size of a part; a body that ends before its last
boundary is `Malformed`; the whole of `blocks` is read, so what stands after the last
boundary (ignored, as RFC 2046 says) is still checked by the decoder below.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from multipart import (
    MultipartError,
    MultipartSegment,
    PushMultipartParser,
    parse_options_header,
)

from formats.unpacking import Malformed, Unfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_PARTS = 1_000
MAX_BOUNDARY = 200  # RFC 2046 allows 70
MAX_CONTENT_TYPE = 300
# RFC 7578 forbids the form of RFC 5987; some HTTP libraries send it all the same.
_EXTENDED = re.compile(
    r";\s*filename\*=(utf-8|iso-8859-1)'[^']*'([^;\s]+)", re.IGNORECASE
)


class Part:
    """One part. Its bytes are to be taken before the next part is asked for."""

    def __init__(self, name: str, filename: str, rest: Iterator[bytes]) -> None:
        self.name = name
        self.filename = filename
        self._rest = rest

    def chunks(self) -> Iterator[bytes]:
        """Yield the part's bytes; what is not taken is skipped later."""
        yield from self._rest


def read_parts(blocks: Iterable[bytes], *, content_type: str) -> Iterator[Part]:
    """Yield the parts of an unpacked body with this Content-Type header."""
    parser = PushMultipartParser(_boundary(content_type))
    events = _events(parser, blocks)
    count = 0
    for event in events:
        if not isinstance(event, MultipartSegment):
            continue  # bytes of a part that nobody wanted
        count += 1
        if count > MAX_PARTS:
            raise Unfit(f"the body has more than {MAX_PARTS} parts")
        if not event.name:
            raise Malformed("a part of the body has no name")
        filename = event.filename or _extended_filename(event)
        yield Part(event.name, filename, _payload(events))


def _extended_filename(segment: MultipartSegment) -> str:
    found = _EXTENDED.search(segment.header("Content-Disposition", ""))
    return unquote(found[2], encoding=found[1], errors="replace") if found else ""


def _payload(events: Iterator[MultipartSegment | bytes | None]) -> Iterator[bytes]:
    for event in events:
        if event is None:
            return
        # Between a part's header and its end come only bytes.
        assert isinstance(event, bytes | bytearray)  # noqa: S101
        yield bytes(event)


def _events(
    parser: PushMultipartParser, blocks: Iterable[bytes]
) -> Iterator[MultipartSegment | bytes | None]:
    # The parser's strict mode is not used: whether it minds a line break after the
    # last boundary depends on where the blocks are cut.
    try:
        for block in blocks:
            if block:
                yield from parser.parse(block)
        parser.close()
    except MultipartError as error:
        raise Malformed(f"the multipart body cannot be read: {error}") from error


def _boundary(content_type: str) -> str:
    if len(content_type) > MAX_CONTENT_TYPE:
        raise Malformed("the Content-Type is too long", field="Content-Type")
    kind, options = parse_options_header(content_type)
    if kind != "multipart/form-data":
        raise Malformed(
            f"the body must be multipart/form-data, not {kind[:100] or 'untyped'}",
            field="Content-Type",
        )
    boundary = options.get("boundary", "")
    if not 0 < len(boundary) <= MAX_BOUNDARY or not boundary.isascii():
        raise Malformed("the boundary is missing or unfit", field="Content-Type")
    return str(boundary)
