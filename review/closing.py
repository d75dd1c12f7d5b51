"""Keeping what a week was, and closing its review.

Guarantees: a snapshot is written once and never changed; a review is closed once, by
whoever was first; `review.ready` is written in the transaction that closes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from notify.models import EventType
from notify.outbox import write_event
from projects import audit
from review.agenda import review_of
from review.choices import Closed
from review.minutes import as_markdown, summary
from review.models import Week
from review.shapes import to_json

if TYPE_CHECKING:
    from datetime import datetime

    from projects.models import Project
    from review.shapes import Review
    from review.weeks import IsoWeek

_LONGEST_MINUTES = 40_000  # characters of the event


def close(project: Project, week: IsoWeek, *, by: str, now: datetime) -> Review:
    """Freeze a review and end it; raise `Closed` if somebody did."""
    review = review_of(project, week, now=now)
    if review.closed:
        raise Closed(f"the review of {week.name} is closed already")
    with transaction.atomic():
        row, _ = Week.objects.get_or_create(project=project, name=week.name)
        frozen = {} if row.frozen_at else _frozen(review, now)
        mine = Week.objects.filter(pk=row.pk, closed_at=None)
        if not mine.update(**frozen, closed_at=now, closed_by=by[:200]):
            raise Closed(f"the review of {week.name} is closed already")
        closed = review_of(project, week, now=now)
        audit.record(
            project,
            actor=by,
            action="review.closed",
            subject=week.name,
            detail={"decided": closed.decided, "undecided": len(closed.undecided)},
        )
        _emit(project, closed, by=by, now=now)
    return closed


def freeze(project: Project, week: IsoWeek, *, now: datetime) -> bool:
    """Keep what a week that ended was; False where that was done before."""
    review = review_of(project, week, now=now)
    row, _ = Week.objects.get_or_create(project=project, name=week.name)
    mine = Week.objects.filter(pk=row.pk, frozen_at=None)
    return bool(mine.update(**_frozen(review, now), lease_until=None, error=""))


def _frozen(review: Review, now: datetime) -> dict[str, Any]:  # Any: values of fields
    if review.stored:
        return {}
    return {"agenda": to_json(review.agenda), "frozen_at": now}


def _emit(project: Project, review: Review, *, by: str, now: datetime) -> None:
    minutes = as_markdown(review, project)
    choices = [each for each in review.choices.values() if each.version]
    write_event(
        project.pk,
        EventType.REVIEW_READY,
        f"review/{review.week.name}",
        occurred_at=now,
        data={
            "week": review.week.name,
            "decided": review.decided,
            "undecided": len(review.undecided),
            "sentence": summary(review),
            "closed_by": by,
            "minutes": minutes[:_LONGEST_MINUTES],
            "cut": len(minutes) > _LONGEST_MINUTES,
        },
        path=f"review/{review.week.name}",
        subject=f"review/{review.week.name}",
        owners=sorted({each.owner for each in choices if each.owner}),
    )
