"""Finding out in which encoding a text really is, whatever it declares.

Guarantees: the bytes decide before the declaration does. Text that is not valid UTF-8
and holds no valid multi-byte sequence is read as windows-1252; else each bad byte
becomes a lone surrogate (U+DC80-U+DCFF) for the next stage to replace and count.
Reading is incremental: memory does not grow with the file.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from formats.report import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 1 << 18
_HEAD = 1 << 16
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z][A-Za-z0-9._:-]{0,40})[\"']"
)
# Text encodings in which `<`, `>` and quotes are the ASCII bytes.
_LEGACY = re.compile(
    r"(?:iso[-_]?8859[-_]\d+|latin[-_]?\d+|(?:windows|cp)[-_]?\d+|koi8[-_][rtu]"
    r"|mac[-_]?\w+|shift[-_]?jis|sjis|euc[-_]?(?:jp|kr)|gb2312|gbk|gb18030|big5"
    r"|tis[-_]?620)\Z",
    re.IGNORECASE,
)
_WIDE = re.compile(r"(?:utf|ucs)[-_]?(?:16|32|2|4)", re.IGNORECASE)
_UTF8 = re.compile(r"utf[-_]?8\Z", re.IGNORECASE)
_MULTIBYTE = re.compile("[^\x00-\x7f\udc80-\udcff]")
_BAD_BYTE = re.compile("[\udc80-\udcff]")
# A surrogate written as three bytes: somebody's UTF-8 encoder, not windows-1252.
_SURROGATE = re.compile("\udced[\udca0-\udcbf][\udc80-\udcbf]")


@dataclass(frozen=True, slots=True)
class Encoding:
    """How to decode a file, and what is to be told about that choice."""

    codec: str
    errors: str = "replace"
    skip: int = 0  # bytes of a byte order mark
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class _Profile:
    multibyte: bool
    bad: bool


def find_encoding(stream: BinaryIO) -> Encoding:
    """Decide how to read a stream; leaves it at no particular place."""
    stream.seek(0)
    head = stream.read(_HEAD)
    match = _DECLARED.search(head)
    declared = match[1].decode("ascii") if match else ""
    for mark, codec in _BOMS:
        if head.startswith(mark):
            if codec == "utf-8":
                return _utf8(stream, declared, skip=len(mark))
            return Encoding(codec, skip=len(mark))
    for start, codec in ((b"<\x00", "utf-16-le"), (b"\x00<", "utf-16-be")):
        if head.startswith(start):
            return Encoding(codec)
    if not _LEGACY.match(declared) or not _known(declared):
        return _utf8(stream, declared)
    profile = _profile(stream, stop_early=False)
    if profile.multibyte and not profile.bad:
        text = f"declared as {declared}, but the text is UTF-8 and was read as such"
        return Encoding("utf-8", notes=(Note("encoding-declaration", text),))
    return Encoding(declared)


def _known(name: str) -> bool:
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True


def _utf8(stream: BinaryIO, declared: str, *, skip: int = 0) -> Encoding:
    """Tell UTF-8 with bad bytes from a legacy encoding that nobody declared."""
    profile = _profile(stream, stop_early=True)
    if profile.bad and not profile.multibyte and not skip:
        text = (
            "not valid UTF-8 and without any multi-byte sequence: read as windows-1252"
        )
        return Encoding("cp1252", notes=(Note("windows-1252", text),))
    notes: tuple[Note, ...] = ()
    if declared and not _UTF8.match(declared) and declared.lower() != "us-ascii":
        kind = "UTF-16" if _WIDE.match(declared) else declared
        text = f"declared as {kind}, but the text is not: read as UTF-8"
        notes = (Note("encoding-declaration", text),)
    return Encoding("utf-8", "surrogateescape", skip, notes)


def _profile(stream: BinaryIO, *, stop_early: bool) -> _Profile:
    """Look for valid multi-byte sequences and for bad bytes."""
    stream.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    multibyte = bad = False
    carried = ""
    while chunk := stream.read(CHUNK):
        if chunk.isascii() and not decoder.getstate()[0]:
            continue
        text = carried + decoder.decode(chunk)
        carried = text[-2:]
        multibyte = multibyte or bool(_MULTIBYTE.search(text))
        multibyte = multibyte or bool(_SURROGATE.search(text))
        bad = bad or bool(_BAD_BYTE.search(text))
        if stop_early and multibyte:
            return _Profile(multibyte=True, bad=bad)
    bad = bad or bool(_BAD_BYTE.search(decoder.decode(b"", final=True)))
    return _Profile(multibyte=multibyte, bad=bad)


def decoded(stream: BinaryIO, encoding: Encoding, notes: list[Note]) -> Iterator[str]:
    """Yield a stream's text piece by piece, without NULs at its end (notes them)."""
    stream.seek(encoding.skip)
    decoder = codecs.getincrementaldecoder(encoding.codec)(encoding.errors)
    zeros = 0
    while chunk := stream.read(CHUNK):
        text = decoder.decode(chunk)
        kept = text.rstrip("\x00")
        if kept:
            yield from _runs_of_zeros(zeros)
            zeros = 0
            yield kept
        zeros += len(text) - len(kept)
    if rest := decoder.decode(b"", final=True):
        yield from _runs_of_zeros(zeros)
        yield rest
    elif zeros:
        notes.append(
            Note("trailing-nul", f"{zeros:,} NUL characters at the end ignored")
        )


def _runs_of_zeros(number: int) -> Iterator[str]:
    while number:
        size = min(number, CHUNK)
        yield "\x00" * size
        number -= size
