"""Reading what happened on a course, as the telling takes it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from findings.models import ClusterDecision, Decision, Review
from findings.stored import unpack
from findings.telling import Happened, Owned, hand
from formats.reviews.life import Dated, Decided, Reviewed, State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from findings.models import Course

type Decided3 = tuple[list[Decided | Dated], list[Owned]]


def happened_on(
    course: Course, *, but: int = 0, more: Iterable[Reviewed] = ()
) -> Happened:
    """Return the reviews and decisions of a course.

    `but` is an upload whose stored reviews are replaced by `more`.
    """
    rows = Review.objects.filter(course=course).exclude(upload_id=but)
    reviews = [
        Reviewed(at, review_id(upload, file), unpack(bytes(content)))
        for at, upload, file, content in rows.values_list(
            "at", "upload_id", "file", "content"
        )
    ]
    decided, owned = decisions_of(course)
    hands = ClusterDecision.objects.filter(course=course).order_by("at", "pk")
    return Happened(
        [*reviews, *more],
        decided,
        owned,
        [hand(each.hand, each.these, each.those) for each in hands],
    )


def decisions_of(course: Course, *, keys: Collection[str] | None = None) -> Decided3:
    """Return what people decided, of all findings or of those with these keys."""
    rows = Decision.objects.filter(course=course)
    if keys is not None and len(keys) <= 500:
        rows = rows.filter(key__in=keys)
    decided: list[Decided | Dated] = []
    owned = []
    for row in rows.order_by("at", "pk"):
        name = f"decision {row.pk:020}"
        if row.what == Decision.What.STATE:
            decided.append(Decided(row.at, name, row.key, State(row.after), row.reason))
        elif row.what == Decision.What.DUE:
            due = datetime.fromisoformat(row.after)
            decided.append(Dated(row.at, name, row.key, due))
        else:
            owned.append(Owned(row.at, name, row.key, row.after))
    return decided, owned


def review_id(upload_id: int, file: int) -> str:
    return f"review {upload_id:020}-{file:06}"
