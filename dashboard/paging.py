"""Pages of rows without counting them all: one row more than shown is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

SIZE = 50


@dataclass(frozen=True, slots=True)
class Page[T]:
    """A page's rows; `previous` and `next` are page numbers, or None at the ends."""

    rows: list[T]
    number: int
    previous: int | None
    next: int | None


def page_of[M: Model](rows: QuerySet[M], wanted: int, *, size: int = SIZE) -> Page[M]:
    """Return one page of a query."""
    start = (wanted - 1) * size
    return cut(list(rows[start : start + size + 1]), wanted, size=size)


def cut[T](rows: list[T], wanted: int, *, size: int = SIZE) -> Page[T]:
    """Make a page from its rows and, where there are more, one row beyond."""
    more = len(rows) > size
    return Page(
        rows=rows[:size],
        number=wanted,
        previous=wanted - 1 if wanted > 1 else None,
        next=wanted + 1 if more else None,
    )
