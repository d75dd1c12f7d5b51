"""The body of a webhook: the bare payload, or `{"context": {…}, "payload": …}`.

Guarantees: memory stays flat in the size of the payload; what the body is, is decided by
its first key alone, so the same bytes are always the same parts; a payload that is a
string is unescaped (Markdown, JSON Lines), any other value is given byte for byte, and
what is wrong inside it is left to its reader; the whole of `blocks` is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from formats.multiparts import MAX_CONTENT_TYPE, Part
from formats.unpacking import Malformed, Unfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CONTEXT, PAYLOAD = "context", "payload"
HEAD = 4096  # within so many bytes the first key shows what the body is

_FORM = "application/x-www-form-urlencoded"
_FORM_FIELD = b"payload="
_WRAPPED = re.compile(
    rb'(?:\xef\xbb\xbf)?[ \t\r\n]*\{[ \t\r\n]*"(?:context|payload)"[ \t\r\n]*:'
)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb'"((?:[^"\\]|\\.){0,200})"', re.DOTALL)
_SCALAR = re.compile(rb"[^ \t\r\n,}\]]*+")
# Up to the next bracket outside a string; strings that end in the block are skipped.
_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+([{}\[\]])', re.DOTALL)
_PLAIN = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
# Whole characters of a string; half of an escape waits for the next block.
_WHOLE = re.compile(
    rb"(?:[^\"\\\x00-\x1f]++|\\[\"\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+"
)
_ESCAPE = re.compile(
    rb"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u([0-9a-fA-F]{4})|\\(.)"
)
_LONE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")
_UNKNOWN = "\N{REPLACEMENT CHARACTER}".encode()
_PAIR = 12  # bytes of the longest escape
_SHORT = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def read_payload(
    blocks: Iterable[bytes], *, name: str, filename: str, content_type: str
) -> Iterator[Part]:
    """Yield the context, if there is one, and the payload as a part of this name."""
    form = _is_form(content_type) and name == "github"
    text = _Text(_form_field(blocks) if form else iter(blocks))
    text.fill(HEAD)
    if not _WRAPPED.match(text.block):
        yield Part(name, filename, text.rest())
        return
    seen: set[str] = set()
    for key in _members(text):
        if key not in (CONTEXT, PAYLOAD):
            shown = key[:100]
            known = f"{CONTEXT} and {PAYLOAD}"
            raise Unfit(f"{shown}: unknown key; there are {known}", field=shown)
        if key in seen:
            raise Malformed(f"{key}: given twice", field=key)
        seen.add(key)
        value = _value(text, unescape=key == PAYLOAD)
        named = (name, filename) if key == PAYLOAD else (CONTEXT, "")
        yield Part(*named, value)
        for _ in value:  # what nobody took
            pass
    if PAYLOAD not in seen:
        raise Unfit(f"{PAYLOAD}: missing", field=PAYLOAD)


def _is_form(content_type: str) -> bool:
    """Tell a form; raise for what no payload can come in."""
    if len(content_type) > MAX_CONTENT_TYPE:
        raise Malformed("the Content-Type is too long", field="Content-Type")
    kind = content_type.partition(";")[0].strip().lower()
    if kind.startswith("multipart/"):
        message = "a route takes the payload itself, not a multipart body"
        raise Malformed(message, field="Content-Type")
    return kind == _FORM


def _form_field(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the field `payload` of a form; a body that is no form is yielded as it is."""
    text = _Text(iter(blocks))
    text.fill(len(_FORM_FIELD))
    if text.block.lstrip()[:1] in (b"{", b"["):
        yield from text.rest()
        return
    if not text.block.startswith(_FORM_FIELD):
        raise Unfit("payload: the form has no such field", field=PAYLOAD)
    text.at = len(_FORM_FIELD)
    kept, ended = b"", False
    for block in text.rest():
        if ended:
            continue
        value, ampersand, _ = (kept + block).partition(b"&")
        ended = bool(ampersand)
        cut = len(value) if ended else _before_half_escape(value)
        kept = value[cut:]
        yield unquote_to_bytes(value[:cut].replace(b"+", b" "))
    if not ended:
        yield unquote_to_bytes(kept)


def _before_half_escape(value: bytes) -> int:
    percent = value.rfind(b"%", max(0, len(value) - 2))
    return len(value) if percent < 0 else percent


@dataclass(slots=True)
class _Text:
    """A body as it comes in: one block of it, and how far that was read."""

    source: Iterator[bytes]
    block: bytes = b""
    at: int = 0

    def more(self) -> bool:
        """Append the next block to what is left; False at the end of the body."""
        found = next((block for block in self.source if block), b"")
        if found:
            self.block, self.at = self.block[self.at :] + found, 0
        return bool(found)

    def fill(self, size: int) -> None:
        while len(self.block) - self.at < size and self.more():
            pass

    def need(self) -> None:
        if not self.more():
            raise Malformed("the body is not JSON: it ends too early")

    def rest(self) -> Iterator[bytes]:
        yield self.block[self.at :]
        self.block, self.at = b"", 0
        yield from self.source

    def take(self, end: int) -> bytes:
        taken, self.at = self.block[self.at : end], end
        return taken

    def peek(self) -> bytes:
        """Return the next byte that is no space, or nothing at the end."""
        while True:
            found = _SPACE.match(self.block, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.block):
                return self.block[self.at : self.at + 1]
            if not self.more():
                return b""

    def expect(self, wanted: bytes) -> bytes:
        found = self.peek()
        if not found:
            self.need()
        if found not in wanted:
            shown = found.decode("ascii", "replace")
            expected = " or ".join(chr(byte) for byte in wanted)
            raise Malformed(f"the body is not JSON: {shown!r} instead of {expected}")
        self.at += 1
        return found


def _members(text: _Text) -> Iterator[str]:
    """Yield each key of the object; its value is to be read before the next."""
    if text.block.startswith(b"\xef\xbb\xbf"):
        text.at = 3
    text.expect(b"{")
    while True:
        yield _key(text)
        if text.expect(b",}") == b"}":
            break
    if text.peek():
        raise Malformed("the body is not JSON: something follows the object")


def _key(text: _Text) -> str:
    text.expect(b'"')
    text.at -= 1
    while not (found := _KEY.match(text.block, text.at)):
        if len(text.block) - text.at > 2 * HEAD:
            raise Unfit("a key of the body is too long")
        text.need()
    text.at = found.end()
    text.expect(b":")
    return found[1].decode("utf-8", "replace")


def _value(text: _Text, *, unescape: bool) -> Iterator[bytes]:
    first = text.peek()
    if first == b'"' and unescape:
        text.at += 1
        yield from _string(text)
    elif first in (b"{", b"["):
        yield from _nested(text)
    elif first == b'"':
        text.at += 1
        yield b'"'
        yield from _raw_string(text)
    else:
        yield from _scalar(text)


def _scalar(text: _Text) -> Iterator[bytes]:
    size = 0
    while found := _SCALAR.match(text.block, text.at):
        piece = text.take(found.end())
        size += len(piece)
        yield piece
        if text.at < len(text.block):
            break
        text.need()
    if not size:
        raise Malformed("the body is not JSON: a value is missing")


def _nested(text: _Text) -> Iterator[bytes]:
    """Yield an object or an array with all that it holds, as it stands."""
    depth = 0
    while True:
        start, at = text.at, text.at
        while found := _BRACKET.match(text.block, at):
            at = found.end()
            depth += 1 if found[1] in b"{[" else -1
            if not depth:
                yield text.take(at)
                return
        plain = _PLAIN.match(text.block, at)
        text.at = plain.end() if plain else at
        if text.at < len(text.block):  # at a string that does not end in this block
            text.at += 1
            yield text.block[start : text.at]
            yield from _raw_string(text)
            continue
        yield text.block[start : text.at]
        text.need()


def _raw_string(text: _Text) -> Iterator[bytes]:
    """Yield the rest of a string with its closing quote, as it stands."""
    while True:
        found = _IN_STRING.match(text.block, text.at)
        yield text.take(found.end() if found else text.at)
        if text.block[text.at : text.at + 1] == b'"':
            yield text.take(text.at + 1)
            return
        text.need()


def _string(text: _Text) -> Iterator[bytes]:
    """Yield what a string says, up to its closing quote."""
    while True:
        found = _WHOLE.match(text.block, text.at)
        piece = text.take(found.end() if found else text.at)
        if piece:
            yield _ESCAPE.sub(_unescaped, piece)
        left = text.block[text.at : text.at + _PAIR]
        if left[:1] == b'"':
            text.at += 1
            return
        if left[:1] != b"\\" and left:
            raise Malformed("the body is not JSON: a control character in a string")
        if len(left) < _PAIR and text.more():
            continue
        if not _LONE.match(left):
            message = "it ends too early" if len(left) < 2 else "an unknown escape"
            raise Malformed(f"the body is not JSON: {message}")
        text.at += 6
        yield _UNKNOWN


def _unescaped(found: re.Match[bytes]) -> bytes:
    high, low, single, short = found.groups()
    if high:
        code = 0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00)
        return chr(code).encode()
    if single:
        code = int(single, 16)
        return _UNKNOWN if 0xDC00 <= code <= 0xDFFF else chr(code).encode()
    return _SHORT.get(short, short)
