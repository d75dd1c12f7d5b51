"""The kinds of values that filters take, with messages that say what is right.

Guarantees: a time is an RFC 3339 time with its zone or a plain date (midnight UTC),
never a number; a window is whole days; text is not empty and holds no surrogates.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated

from django.utils.dateparse import parse_datetime
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

MAX_WINDOW_DAYS = 400
MAX_PR = 2**31 - 1
MAX_PATH_NUMBER = 2**63 - 1
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_WINDOW = re.compile(r"[1-9]\d{0,3}d")
# A plus sign that was not encoded arrives as a space.
_LOST_PLUS = re.compile(r" (?=\d{2}:\d{2}$)")


def _instant(value: object) -> datetime:
    text = _LOST_PLUS.sub("+", str(value))
    try:
        if _DATE.fullmatch(text):
            return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
        parsed = parse_datetime(text)
        if parsed is None or parsed.tzinfo is None:
            raise ValueError("no time with its zone")
        return parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(
            "must be a date (2026-01-31) or an RFC 3339 time with its zone "
            "(2026-01-31T12:00:00Z)"
        ) from None


def _window(value: object) -> int:
    text = str(value)
    days = int(text[:-1]) if _WINDOW.fullmatch(text) else 0
    if not 0 < days <= MAX_WINDOW_DAYS:
        raise ValueError(f"must be a number of days, 1d to {MAX_WINDOW_DAYS}d")
    return days


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("must be Unicode text") from None
    return value


def _environment(value: str) -> str:
    parts = [part.partition("=") for part in value.split(",")]
    if not all(key.strip() and equals for key, equals, _ in parts):
        raise ValueError("must be key=value, or several of them with commas")
    return value


Instant = Annotated[
    datetime,
    BeforeValidator(_instant),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Days = Annotated[
    int,
    BeforeValidator(_window),
    WithJsonSchema({"type": "string", "pattern": r"^[1-9]\d{0,2}d$"}),
]
Text = Annotated[str, AfterValidator(_text)]
Environment = Annotated[Text, AfterValidator(_environment)]


class ProjectSlug:
    """`owner/name` in a path; an encoded slash was decoded before."""

    regex = r"[^/]+/[^/]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class RowNumber:
    """The id of a row, no larger than a database can hold."""

    regex = r"[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        number = int(value)
        if number > MAX_PATH_NUMBER:
            raise ValueError("larger than any id")
        return number

    def to_url(self, value: int) -> str:
        return str(value)


class NodeId:
    """A test's id or node id at the end of a path, slashes and all."""

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value
