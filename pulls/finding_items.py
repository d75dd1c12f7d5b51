"""The live findings of a pull request, and whose they are.

A finding is inherited where a review of the default branch (one without a pull
request) raised the same one. Where no such review is known, that is not known either.
"""

from __future__ import annotations

from analysis.attribution import Share
from findings.models import Finding, Review
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
