"""The whole lines of a ledger, each as one JSON object, strictly.

Guarantees: what follows the last line feed is dropped and noted, whatever it is; any
other line that is no JSON object by the letter (UTF-8 without byte order mark, no
repeated key, no NaN) is `Rejected` with its number; memory is bounded by one line.
"""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from formats.report import Note, Rejected

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_LINE = 32 << 20  # bytes of one line with its end
_BLOCK = 1 << 20
_BLANK = " \t\r\n"
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


def read_objects(
    stream: BinaryIO, *, notes: list[Note], most: int = MOST_LINE
) -> Iterator[tuple[int, dict[str, Any]]]:  # Any: JSON not yet checked
    """Yield each line's number, from 1, and its object."""
    for number, raw in _whole_lines(stream, notes, most):
        try:
            yield number, _decode(raw)
        except ValueError as error:
            raise Rejected(_reason(error, raw), line=number) from error
        except RecursionError as error:
            raise Rejected("nested too deeply", line=number) from error


def _whole_lines(
    stream: BinaryIO, notes: list[Note], most: int
) -> Iterator[tuple[int, bytes]]:
    stream.seek(0)
    for number in count(1):
        raw = stream.readline(most + 1)
        if raw.endswith(b"\n"):
            yield number, raw
            continue
        if len(raw) > most and _ends_later(stream):
            message = f"the line is longer than {most:,} bytes"
            raise Rejected(message, line=number)
        if raw:
            message = "the file ends in the middle of a line, which was left out"
            notes.append(Note("torn-line", message, number))
        return


def _ends_later(stream: BinaryIO) -> bool:
    while block := stream.readline(_BLOCK):
        if block.endswith(b"\n"):
            return True
    return False


def _decode(raw: bytes) -> dict[str, Any]:
    text = raw.decode("utf-8")
    if text.startswith("\ufeff"):
        raise ValueError("begins with a byte order mark")
    if not text.strip(_BLANK):
        raise ValueError("the line is blank")
    value = _DECODER.decode(text)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {key[:100]!r} stands twice in one object")
            seen.add(key)
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"not JSON: {name} is no JSON value")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def _reason(error: ValueError, raw: bytes) -> str:
    if isinstance(error, UnicodeDecodeError):
        hint = "; it looks compressed" if raw.startswith(_PACKED) else ""
        return f"not UTF-8 at byte {error.start} of the line{hint}"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at column {error.colno}"
    return str(error)
