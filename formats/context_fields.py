"""Checks of single JSON values, each with the name of its field.

Guarantees: what comes back has its type, is within its bounds, and holds no control
character and no half of a surrogate pair, so that every database can store it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

# A decoded JSON value; recursive, so its inner type is left open.
type Json = str | int | float | bool | list[Json] | dict[str, Json] | None

MAX_TEXT = 1_000

_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_COMMIT = re.compile(r"[0-9A-Za-z._-]{1,64}")
_STAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
)
_WEB = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)


class FieldError(Exception):
    """One field is wrong. Its boundary turns this into its own error."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class Number(str):
    """A JSON number as written: `3.10` must not become 3.1."""

    __slots__ = ()


def shown(key: str) -> str:
    """A sender's key, fit to stand in an answer."""
    return _CONTROL.sub("�", key[:100])


def text(field: str, value: Json, *, most: int = MAX_TEXT) -> str:
    """A text without control characters."""
    if not isinstance(value, str) or isinstance(value, Number):
        raise FieldError(field, "must be a text")
    if len(value) > most:
        raise FieldError(field, f"longer than {most} characters")
    if _CONTROL.search(value):
        raise FieldError(field, "holds a control character")
    return value


def scalar(field: str, value: Json) -> str:
    """A text, or a number or truth value as JSON writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return text(field, value)
    raise FieldError(field, "must be a text, a number, true or false")


def integer(field: str, value: Json, *, least: int, most: int = 2**31 - 1) -> int:
    """A JSON integer: neither `true` nor `1.0`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise FieldError(field, "must be an integer")
    if not least <= value <= most:
        raise FieldError(field, f"must be {least} to {most}")
    return value


def boolean(field: str, value: Json) -> bool:
    if not isinstance(value, bool):
        raise FieldError(field, "must be true or false")
    return value


def commit(field: str, value: Json) -> str:
    found = text(field, value)
    if not _COMMIT.fullmatch(found):
        raise FieldError(field, "must be 1 to 64 characters of 0-9 A-Z a-z . _ -")
    return found


def stamp(field: str, value: Json) -> datetime:
    """An RFC 3339 time. Without a zone it would mean another moment everywhere."""
    written = text(field, value)
    match = _STAMP.fullmatch(written)
    if not match:
        raise FieldError(field, "must be an RFC 3339 time with its zone")
    day, clock, fraction, zone = match.groups()
    zone = "+00:00" if zone in "Zz" else zone
    try:
        found = datetime.fromisoformat(f"{day}T{clock}{(fraction or '')[:7]}{zone}")
        return found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise FieldError(field, "is no date of the calendar") from error


def web_address(field: str, value: Json) -> str:
    """An http(s) address: pages link to it, so no other scheme is let in."""
    found = text(field, value, most=2_000)
    if not _WEB.fullmatch(found):
        raise FieldError(field, "must be an http or https address")
    return found
