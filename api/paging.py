"""Lists in pieces: opaque cursors that are checked when they come back.

Guarantees: a cursor is only taken by the kind of list that gave it; anything else is a
422 that names `cursor`. Pages never repeat or skip a row that was there throughout.
"""

from __future__ import annotations

import base64
import binascii
import json

from ninja import Field, Schema

from api.problems import FieldError, Invalid

MAX_LIMIT = 500
DEFAULT_LIMIT = 100
_BAD = FieldError("cursor", "not a cursor of this list; start again without one")

type Place = tuple[str | int, ...]


class Paged(Schema):
    """The parameters that every list takes."""

    cursor: str | None = Field(None, description="next of the page before")
    limit: int = Field(
        DEFAULT_LIMIT,
        ge=1,
        le=MAX_LIMIT,
        description=f"1 to {MAX_LIMIT}, {DEFAULT_LIMIT} without it",
    )


def encode(kind: str, place: Place) -> str:
    """Return the cursor for the place after which the next page starts."""
    text = json.dumps([kind, *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(kind: str, cursor: str | None, *, shape: tuple[type, ...]) -> Place | None:
    """Return the place that a cursor of this kind names, or None without a cursor."""
    if cursor is None:
        return None
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        values = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
    except (ValueError, binascii.Error, RecursionError):
        raise Invalid(_BAD) from None
    if not isinstance(values, list) or [kind, *shape] != [
        *values[:1],
        *(type(value) for value in values[1:]),
    ]:
        raise Invalid(_BAD)
    return tuple(values[1:])
