"""Reading JUnit XML of any producer.

Guarantees: `read_junit` returns all results of a file or raises `Rejected` with line
and column of the original file; it never returns half of a report. A sound file is
read once by a strict streaming parser. Only when that fails is it read again through
`encoding` and `repair`, and whatever had to be repaired is told in a note. Memory is
flat in the size of captured output and of text around the documents.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, cast
from xml.parsers import expat

from formats.cycles import no_collections
from formats.encoding import CHUNK, decoded, find_encoding
from formats.junit_document import HTML, Collector, EncodingDeclared
from formats.junit_search import Search, Source
from formats.limits import DEFAULT_LIMITS, Limits
from formats.repair import Cleaner, replacement_notes
from formats.report import Reading, Rejected
from formats.unpacking import FILE_WINDOW, BodyError, unpack

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 16
_FIRST_PIECE = 1 << 12
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_PAGE = re.compile(rb"[\xef\xbb\xbf\s]*<(!doctype\s+)?html\b", re.IGNORECASE)


def read_junit(stream: BinaryIO, *, limits: Limits = DEFAULT_LIMITS) -> Reading:
    """Read a seekable stream that holds one or more JUnit documents."""
    with no_collections():
        return _read(stream, limits)


def _read(stream: BinaryIO, limits: Limits) -> Reading:
    stream.seek(0)
    head = stream.read(4)
    stream.seek(0)
    if head == _ZSTD:
        return _read_zstd(stream, limits)
    if not head.startswith(_GZIP):
        return _read_plain(stream, limits)
    try:
        with gzip.GzipFile(fileobj=stream, mode="rb") as unpacked:
            _check_size(unpacked, limits)
            return _read_plain(cast(BinaryIO, unpacked), limits)
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise Rejected(f"damaged gzip file: {problem}") from problem


def _read_zstd(stream: BinaryIO, limits: Limits) -> Reading:
    """Read through a file, as a zstd stream cannot be read again from its start."""
    blocks = iter(lambda: stream.read(_CHUNK), b"")
    with TemporaryFile() as plain:
        try:
            for piece in unpack(
                blocks, "zstd", most=limits.unpacked, window=FILE_WINDOW
            ):
                plain.write(piece)
        except BodyError as problem:
            raise Rejected(f"damaged zstd file: {problem.message}") from problem
        return _read_plain(cast(BinaryIO, plain), limits)


def _check_size(unpacked: gzip.GzipFile, limits: Limits) -> None:
    size = 0
    while chunk := unpacked.read(_CHUNK):
        size += len(chunk)
        if size > limits.unpacked:
            raise Rejected(f"unpacks to more than {limits.unpacked:,} bytes")
    unpacked.seek(0)


def _read_plain(stream: BinaryIO, limits: Limits) -> Reading:
    collector = Collector(limits)
    try:
        _read_strictly(stream, collector)
    except EncodingDeclared:
        return _read_repaired(stream, limits, _NotStrict())
    except _NotStrict as first:
        return _read_repaired(stream, limits, first)
    return collector.reading()


class _NotStrict(Exception):
    """The strict parser gave up; a repair may help."""

    def __init__(self, reason: str = "", line: int = 1, column: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


def _read_strictly(stream: BinaryIO, collector: Collector) -> None:
    """Parse a sound file; raises `_NotStrict` when a repair may help."""
    parser = collector.parser()
    feed = _feeder(parser, collector)
    try:
        while chunk := stream.read(_CHUNK):
            feed(chunk)
    except expat.ExpatError as error:
        raise _NotStrict(*_place(error)) from error
    try:
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        if not collector.frames:
            raise _NotStrict(*_place(error)) from error
        raise _cut_off(*_place(error), collector) from error


def _feeder(
    parser: expat.XMLParserType, collector: Collector
) -> Callable[[bytes], None]:
    """Return a function that parses the next bytes and watches the limits."""
    limits = collector.limits
    fed = 0

    def feed(data: bytes) -> None:
        nonlocal fed
        try:
            parser.Parse(data, False)
            collector.flush()
        except Rejected as refused:
            if refused.line is None:
                refused.line = parser.CurrentLineNumber
            raise
        fed += len(data)
        # What the parser was given and has not passed yet is one unfinished token.
        if fed - parser.CurrentByteIndex > limits.token:
            collector.reject(f"a tag or comment is longer than {limits.token:,} bytes")
        if len(collector.elements.list) > limits.cases:
            collector.reject(f"more than {limits.cases:,} cases")

    return feed


def _place(error: expat.ExpatError) -> tuple[str, int, int]:
    return expat.ErrorString(error.code), error.lineno, error.offset + 1


def _cut_off(reason: str, line: int, column: int, collector: Collector) -> Rejected:
    tests = collector.complete_cases()
    cases = "1 complete case was" if tests == 1 else f"{tests:,} complete cases were"
    return Rejected(
        f"not well-formed XML: the report is cut off ({reason}); "
        f"{cases} read before the end",
        line=line,
        column=column,
    )


def _read_repaired(stream: BinaryIO, limits: Limits, first: _NotStrict) -> Reading:
    """Read again, repairing; `first` says why the strict parser gave up."""
    encoding = find_encoding(stream)
    collector = Collector(limits)
    source = Source(decoded(stream, encoding, collector.tally.notes))
    search = Search(source)
    counts: Counter[str] = Counter()
    while search.find():
        if collector.tally.documents >= limits.documents:
            raise Rejected(f"more than {limits.documents:,} documents in one file")
        _read_document(source, collector, Cleaner(counts))
    if not collector.tally.documents:
        raise _no_document(stream, first)
    collector.tally.notes += [
        *encoding.notes,
        *replacement_notes(counts),
        *search.notes(),
    ]
    return collector.reading()


def _no_document(stream: BinaryIO, first: _NotStrict) -> Rejected:
    stream.seek(0)
    if _PAGE.match(stream.read(_FIRST_PIECE)):
        return Rejected(HTML, line=1, column=1)
    stream.seek(0)
    while chunk := stream.read(_CHUNK):
        if chunk.strip(b" \t\r\n\x00\xef\xbb\xbf\xff\xfe"):
            reason = first.reason or "no root element"
            return Rejected(
                f"not well-formed XML: {reason}", line=first.line, column=first.column
            )
    return Rejected("file is empty")


def _read_document(source: Source, collector: Collector, cleaner: Cleaner) -> None:
    """Parse the document at which the source stands; leaves it behind its end."""
    origin = (source.line, source.column)
    parser = collector.parser("utf-8")
    feed = _feeder(parser, collector)
    data = b""
    fed = 0
    size = _FIRST_PIECE  # small, for what lies behind a short document is given back
    last = False
    try:
        while not last:
            text = source.take(size)
            last = not text
            fed += len(data)
            data = cleaner.clean(text, last=last).encode("utf-8")
            feed(data)
            if cleaner.markup_repairs > collector.limits.repairs:
                collector.reject("too much of the markup is not XML")
            size = min(2 * size, CHUNK)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        line, column = _original_place(error, cleaner, origin)
        if collector.root_closed:
            kept = data[: max(0, parser.ErrorByteIndex - fed)].decode("utf-8", "ignore")
            source.give_back(cleaner.give_back(len(kept)), line=line, column=column)
            return
        reason = expat.ErrorString(error.code)
        if last:
            raise _cut_off(reason, line, column, collector) from error
        raise Rejected(
            f"not well-formed XML: {reason}", line=line, column=column
        ) from error


def _original_place(
    error: expat.ExpatError, cleaner: Cleaner, origin: tuple[int, int]
) -> tuple[int, int]:
    line, column = origin
    moved = cleaner.original_column(error.lineno - 1, error.offset)
    if error.lineno == 1:
        return line, column + moved
    return line + error.lineno - 1, moved + 1
