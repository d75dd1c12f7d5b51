"""Values of the query string, read kindly: nonsense is left out and said, not refused."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_LONGEST = 300


def text(query: Mapping[str, str], name: str) -> str:
    """Return a value without surrounding spaces and NUL bytes, cut at a length."""
    return query.get(name, "").replace("\x00", "").strip()[:_LONGEST]


def number(
    query: Mapping[str, str],
    name: str,
    *,
    default: int,
    low: int = 0,
    high: int = 2**31 - 1,
) -> int:
    """Return a whole number within bounds, else the default."""
    value = text(query, name)
    if not value.isascii() or not value.isdigit() or len(value) > 10:
        return default
    return min(max(int(value), low), high)


def choice(
    query: Mapping[str, str], name: str, allowed: Collection[str], *, default: str = ""
) -> str:
    """Return a value that is allowed, else the default."""
    value = text(query, name)
    return value if value in allowed else default


def day(query: Mapping[str, str], name: str) -> date | None:
    """Return a date such as 2026-05-31, else None."""
    try:
        return date.fromisoformat(text(query, name))
    except ValueError:
        return None
