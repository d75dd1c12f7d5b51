"""The live findings of a pull request, and whose they are.

A finding is inherited where a review of the default branch (one without a pull
request) raised the same one. Where no such review is known, that is not known either.
"""

from __future__ import annotations

from analysis.attribution import Share
from findings.models import Course, Finding, Review, Source
from formats.reviews.life import State
from pulls.shapes import FindingItem

MOST_FINDINGS = 500
_LIVE = (State.OPEN, State.REOPENED)
_GONE = (State.RESOLVED, State.FIXED)


def findings_of(project_id: int, number: int) -> list[FindingItem]:
    """Return the live findings, the most pressing first; three queries at most."""
    live = Finding.objects.filter(project_id=project_id, pr=number, state__in=_LIVE)
    rows = list(live.order_by("rank", "pk")[:MOST_FINDINGS])
    if not rows:
        return []
    elsewhere = dict(
        Finding.objects.filter(
            project_id=project_id, pr=None, key__in=[row.key for row in rows]
        ).values_list("key", "state")
    )
    reviewed = Review.objects.filter(course__project=project_id, course__pr=0).exists()
    return [_item(row, elsewhere.get(row.key), reviewed=reviewed) for row in rows]


def version_of(project_id: int, number: int) -> int:
    """Return the version of a pull request's findings; it rises with each change."""
    return versions(project_id, number=number).get(number, 0)


def versions(project_id: int, *, number: int | None = None) -> dict[int, int]:
    """Return these versions by pull request, of one or of all that have findings."""
    courses = Course.objects.filter(project=project_id, source=Source.REVIEW, pr__gt=0)
    if number is not None:
        courses = courses.filter(pr=number)
    return dict(courses.values_list("pr", "version"))


def _item(row: Finding, there: str | None, *, reviewed: bool) -> FindingItem:
    if there is not None:
        share = Share.FIXED_UPSTREAM if there in _GONE else Share.INHERITED
        reason = f"a review of the default branch raised it: {there} there"
    elif reviewed:
        share = Share.INTRODUCED
        reason = "no review of the default branch raised it"
    else:
        share, reason = Share.UNKNOWN, "no review of the default branch is known"
    return FindingItem(
        id=row.pk,
        severity=row.severity,
        state=row.state,
        path=row.path,
        line=row.line,
        title=row.title,
        share=share,
        reason=reason,
        cluster=row.cluster_id,
        owner=row.owner,
        due=row.due.isoformat(),
    )
