"""What others decided in a week since somebody looked.

Guarantees: one query each; a person's own decisions are no news to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Max

from review.models import Change, Week

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 20


def newest_of(project_id: int, week: str) -> int:
    """Return the number of the newest decision of a week; 0: there is none."""
    rows = Change.objects.filter(project_id=project_id, week=week, what="review")
    found: int | None = rows.aggregate(newest=Max("pk"))["newest"]
    return found or 0


def news_of(project_id: int, week: str, *, seen: int, without: str) -> Sequence[Change]:
    """Return what others decided after the decision of this number, oldest first."""
    rows = Change.objects.filter(
        project_id=project_id, week=week, what="review", pk__gt=seen
    )
    return list(rows.exclude(by=without[:200]).order_by("pk")[:_MOST])


def closed_by(project_id: int, week: str) -> str:
    """Return who closed a week; "": it is open."""
    rows = Week.objects.filter(
        project_id=project_id, name=week, closed_at__isnull=False
    )
    return rows.values_list("closed_by", flat=True).first() or ""
