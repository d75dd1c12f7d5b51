"""Reading findings and reviews: for the pages, the API and the exports.

Guarantees: a fixed number of queries each, whatever the data; findings come ranked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, OuterRef, Q

from findings.filters import LIVE, Filters
from findings.models import Cluster, Finding, Review
from findings.rows import facts_of_row, finding_of
from findings.shapes import ClusterRow, FindingRow, Page, ReviewRow, Totals
from formats.reviews.life import State
from formats.reviews.ranking import rank
from formats.reviews.review import MOST_FINDINGS, Severity, Suppression
from formats.reviews.sarif_writing import write_sarif
from results.queries import cursors
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from typing import Any

    from django.db.models import QuerySet

    from formats.reviews.review import Finding as Raised

# What an export leaves out unless it is asked for: it is gone.
_GONE = (State.RESOLVED, State.FIXED)
_SUPPRESSED = (State.ACCEPTED, State.FALSE_POSITIVE, State.WONT_FIX)


def list_findings(
    project_id: int,
    filters: Filters,
    *,
    now: datetime,
    cursor: str | None = None,
    limit: int = 100,
) -> Page[FindingRow]:
    """Return findings, the most pressing first."""
    found = _chosen(project_id, filters, now=now)
    if cursor is not None:
        place, pk = cursors.read(cursor, str, int)
        place = storable(str(place))
        found = found.filter(Q(rank__gt=place) | Q(rank=place, pk__gt=pk))
    rows = list(found.select_related("cluster")[: limit + 1])
    shown = rows[:limit]
    more = cursors.write(shown[-1].rank, shown[-1].pk) if len(rows) > limit else None
    return Page(finding_rows(shown, now=now), more)


def list_clusters(
    project_id: int, filters: Filters, *, now: datetime, start: int, size: int
) -> list[ClusterRow]:
    """Return clusters with a member that is asked for, the most pressing first."""
    wanted = Finding.objects.filter(filters.condition(now=now), project=project_id)
    clusters = list(
        Cluster.objects.filter(
            Exists(wanted.filter(cluster=OuterRef("pk"))), project=project_id
        ).order_by("rank", "pk")[start : start + size]
    )
    members = wanted.filter(cluster__in=[each.pk for each in clusters])
    rows: dict[int, list[Finding]] = {}
    for row in members.select_related("cluster").order_by("rank", "pk"):
        rows.setdefault(row.cluster_id or 0, []).append(row)
    return _cluster_rows(clusters, rows, now=now)


def get_cluster(project_id: int, pk: int, *, now: datetime) -> ClusterRow | None:
    """Return a cluster with all its members."""
    cluster = Cluster.objects.filter(project=project_id, pk=pk)
    members = Finding.objects.filter(cluster=pk).select_related("cluster")
    rows = {pk: list(members.order_by("rank", "pk"))}
    found = _cluster_rows(cluster, rows if rows[pk] else {}, now=now)
    return found[0] if found else None


def get_finding(project_id: int, pk: int, *, now: datetime) -> FindingRow | None:
    row = (
        Finding.objects.filter(project=project_id, pk=pk)
        .select_related("cluster")
        .first()
    )
    return finding_rows([row], now=now)[0] if row else None


def count(project_id: int, *, now: datetime) -> Totals:
    """Return how many findings there are, in one query."""
    live = Filters(state=LIVE).condition(now=now)
    told = Finding.objects.filter(project=project_id).aggregate(
        all=Count("pk"),
        overdue=Count("pk", filter=live & Q(due__lt=now)),
        **{
            each.value: Count("pk", filter=live & Q(severity=each.value))
            for each in Severity
        },
    )
    return Totals(
        {each.value: told[each.value] for each in Severity},
        told["overdue"],
        told["all"],
    )


def everything(
    project_id: int, filters: Filters, *, now: datetime
) -> Iterator[FindingRow]:
    """Yield all findings that are asked for, for an export."""
    rows = _chosen(project_id, filters, now=now).select_related("cluster")
    yield from finding_rows(list(rows[:MOST_FINDINGS]), now=now)


def as_sarif(
    project_id: int, filters: Filters, *, now: datetime, version: str = ""
) -> dict[str, Any]:  # Any: JSON
    """Return findings as a SARIF log; what a person put aside is suppressed in it.

    Without a state in the filters, what is resolved or fixed is left out.
    """
    rows = _chosen(project_id, filters, now=now)
    if not filters.state:
        rows = rows.exclude(state__in=_GONE)
    return write_sarif(
        (_exported(row) for row in rows[:MOST_FINDINGS]), version=version
    )


def list_reviews(
    project_id: int,
    *,
    pr: int | None = None,
    cursor: str | None = None,
    limit: int = 100,
) -> Page[ReviewRow]:
    """Return reviews, the newest first."""
    found = Review.objects.filter(course__project=project_id)
    if pr is not None:
        found = found.filter(course__pr=pr)
    if cursor is not None:
        at, pk = cursors.read_moment(cursor)
        found = found.filter(Q(at__lt=at) | Q(at=at, pk__lt=pk))
    rows = list(
        found.select_related("course")
        .defer("content")
        .order_by("-at", "-pk")[: limit + 1]
    )
    shown = rows[:limit]
    more = (
        cursors.write_moment(shown[-1].at, shown[-1].pk) if len(rows) > limit else None
    )
    return Page([_review_row(row) for row in shown], more)


def finding_rows(rows: Sequence[Finding], *, now: datetime) -> list[FindingRow]:
    """Make rows with their clusters into values, in their order."""
    agreeing = {
        row.pk: row.cluster.reviewers if row.cluster else row.reviewers for row in rows
    }
    facts = [facts_of_row(row, reviewers=agreeing[row.pk]) for row in rows]
    reasons = {each.key: each.reason for each in rank(facts, now=now)}
    return [
        _finding_row(row, agreeing[row.pk], reasons[str(row.pk)], now=now)
        for row in rows
    ]


def _chosen(project_id: int, filters: Filters, *, now: datetime) -> QuerySet[Finding]:
    found = Finding.objects.filter(filters.condition(now=now), project=project_id)
    return found.order_by("rank", "pk")


def _finding_row(
    row: Finding, agreeing: Sequence[str], reason: str, *, now: datetime
) -> FindingRow:
    return FindingRow(
        id=row.pk,
        key=row.key,
        source=row.source,
        severity=row.severity,
        path=row.path,
        line=row.line,
        end_line=row.end_line,
        title=row.title,
        detail=row.detail,
        rule=row.rule,
        reviewers=row.reviewers,
        state=row.state,
        reason=row.reason,
        owner=row.owner,
        pr=row.pr,
        run=row.run_id,
        effect_id=row.effect_id,
        first_seen=row.first_seen,
        last_seen=row.last_seen,
        seen_count=row.seen_count,
        raised_since_fixed=row.raised_since_fixed,
        due=row.due,
        due_by_hand=row.due_by_hand,
        overdue=row.due < now and row.state in (State.OPEN, State.REOPENED),
        cluster=row.cluster_id,
        cluster_size=row.cluster.size if row.cluster else 1,
        agreeing=agreeing,
        rank_reason=reason,
        also_at=[(line, end) for line, end in row.also_at],
    )


def _cluster_rows(
    clusters: Iterable[Cluster], members: dict[int, list[Finding]], *, now: datetime
) -> list[ClusterRow]:
    shown = [each for each in clusters if each.pk in members]
    facts = [
        replace(
            facts_of_row(members[each.pk][0], reviewers=each.reviewers),
            key=str(each.pk),
        )
        for each in shown
    ]
    ranked = {each.key: each for each in rank(facts, now=now)}
    return [
        ClusterRow(
            id=each.pk,
            severity=members[each.pk][0].severity,
            reviewers=each.reviewers,
            size=each.size,
            by_hand=each.by_hand,
            why=list(dict.fromkeys(link["why"] for link in each.links)),
            reason=ranked[str(each.pk)].reason,
            behind=ranked[str(each.pk)].behind,
            members=finding_rows(members[each.pk], now=now),
        )
        for each in shown
    ]


def _review_row(row: Review) -> ReviewRow:
    return ReviewRow(
        id=row.pk,
        upload=row.upload_id,
        file=row.file,
        pr=row.course.pr or None,
        commit=row.commit,
        at=row.at,
        score=row.score,
        out_of=row.out_of,
        provenance=row.provenance,
        unparsed=row.unparsed,
        notes=row.notes,
        partial=row.partial,
        complete=row.complete,
        reviewers=row.reviewers,
        raised=row.raised,
        counts=row.counts,
        moves=row.moves,
        ambiguous=row.ambiguous,
    )


def _exported(row: Finding) -> Raised:
    finding = finding_of(row)
    if row.state not in _SUPPRESSED:
        return finding
    said = Suppression("external", "accepted", row.reason or row.state)
    return replace(finding, suppressions=(said,))
