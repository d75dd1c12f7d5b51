"""Cursors: where a page of a list ended, as a text that says nothing to its bearer.

Guarantees: `read` gives back what `write` was given, or raises `CursorError`.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from datetime import UTC, datetime

from results.queries.shapes import CursorError


def write(*values: int | str) -> str:
    raw = json.dumps(values, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def read(cursor: str, *kinds: type) -> list[int | str]:
    """Return the values of a cursor; `kinds` are the types that they must have."""
    try:
        raw = base64.b64decode(
            cursor.encode("ascii") + b"=" * (-len(cursor) % 4), b"-_", validate=True
        )
        values = json.loads(raw)
    except (ValueError, binascii.Error, RecursionError) as error:
        raise CursorError(f"no cursor of this list: {cursor[:80]!r}") from error
    if not isinstance(values, list) or [type(one) for one in values] != list(kinds):
        raise CursorError(f"no cursor of this list: {cursor[:80]!r}")
    if any(isinstance(one, int) and abs(one) >= 2**63 for one in values):
        raise CursorError(f"no cursor of this list: {cursor[:80]!r}")
    return values


def read_number(text: str, cursor: str) -> float:
    """Return the float that a cursor holds as a text of `float.hex`."""
    try:
        number = float.fromhex(text)
    except (ValueError, OverflowError) as error:
        raise CursorError(f"no cursor of this list: {cursor[:80]!r}") from error
    if not math.isfinite(number):
        raise CursorError(f"no cursor of this list: {cursor[:80]!r}")
    return number


def write_moment(moment: datetime, pk: int) -> str:
    return write(moment.isoformat(), pk)


def read_moment(cursor: str) -> tuple[datetime, int]:
    text, pk = read(cursor, str, int)
    try:
        moment = datetime.fromisoformat(str(text))
        if moment.tzinfo is None:
            raise ValueError("a moment has its zone")
        moment = moment.astimezone(UTC)  # a zone may lead out of the calendar
    except (ValueError, OverflowError) as error:
        raise CursorError(f"no cursor of this list: {cursor[:80]!r}") from error
    return moment, int(pk)
