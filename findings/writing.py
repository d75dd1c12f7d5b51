"""Writing what was told: findings and clusters of one course.

Guarantees: runs inside the caller's transaction, which holds the course; rows that did
not change are not written; a finding keeps its row, and so its address, when its file
was renamed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from findings.models import Cluster, Finding
from findings.ranks import rank_of
from findings.rows import facts_of_row, fields_of
from findings.signals import findings_written
from findings.telling import facts_of
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from findings.models import Course
    from findings.telling import Told
    from formats.reviews.clusters import Cluster as Group

_AT_ONCE = 500
# Any, below: a value of any field.


def write(
    course: Course,
    told: Told,
    *,
    extra: Mapping[str, Mapping[str, Any]] | None = None,
    keys: Collection[str] | None = None,
) -> None:
    """Store the findings of a course; with `keys`, of these alone."""
    rows = Finding.objects.filter(course=course)
    stored = {
        row.key: row for row in (rows if keys is None else _with_keys(rows, keys))
    }
    _follow_renames(stored, told)
    clusters = _write_clusters(course, told)
    changed = []
    for key, values in _all_fields(course, told, clusters, extra or {}).items():
        row = stored.pop(key, None)
        if row is None or _differs(row, values):
            changed.append(
                Finding(course=course, project_id=course.project_id, key=key, **values)
            )
    _upsert(changed)
    if changed:
        findings_written.send(Finding, course=course, rows=changed)
    gone = [row.pk for row in stored.values()]
    Finding.objects.filter(pk__in=gone).delete()
    Cluster.objects.filter(course=course, members=None).delete()


def rerank(clusters: Iterable[int]) -> None:
    """Sort clusters anew after one of their findings was decided on."""
    members: dict[int, list[Finding]] = {}
    chosen = sorted(set(clusters))
    found = Finding.objects.filter(cluster__in=chosen).select_related("cluster")
    for row in found:
        members.setdefault(row.cluster_id or 0, []).append(row)
    for pk, rows in members.items():
        for row in rows:
            reviewers = row.cluster.reviewers if row.cluster else row.reviewers
            rank = rank_of(facts_of_row(row, reviewers=reviewers))
            if rank != row.rank:
                row.rank = rank
                Finding.objects.filter(pk=row.pk).update(rank=rank)
        Cluster.objects.filter(pk=pk).update(rank=min(row.rank for row in rows))


def _with_keys(rows: Any, keys: Collection[str]) -> list[Finding]:  # Any: a query
    ordered = sorted(keys)
    return [
        row
        for start in range(0, len(ordered), _AT_ONCE)
        for row in rows.filter(key__in=ordered[start : start + _AT_ONCE])
    ]


def _follow_renames(stored: dict[str, Finding], told: Told) -> None:
    for key, former in told.former.items():
        if key in stored or key not in told.known:
            continue
        was = next((old for old in reversed(former) if old in stored), None)
        if was is not None and was not in told.known:
            row = stored.pop(was)
            Finding.objects.filter(pk=row.pk).update(key=key)
            row.key = key
            stored[key] = row


def _ranks(told: Told, groups: Iterable[Group]) -> dict[str, str]:
    return {
        key: rank_of(
            facts_of(
                told.known[key],
                reviewers=group.reviewers,
                confidence=told.confidence.get(key),
            )
        )
        for group in groups
        for key in group.members
    }


def _write_clusters(course: Course, told: Told) -> dict[str, tuple[int, str]]:
    """Store the clusters; return each finding's cluster and rank."""
    ranks = _ranks(told, told.clusters)
    rows = [
        Cluster(
            course=course,
            project_id=course.project_id,
            key=group.key,
            severity=group.severity.value,
            rank=min(ranks[key] for key in group.members),
            reviewers=[storable(name) for name in group.reviewers],
            size=len(group.members),
            links=[
                {"left": each.left, "right": each.right, "why": storable(each.why)}
                for each in group.links
            ],
            by_hand=group.by_hand,
        )
        for group in told.clusters
    ]
    Cluster.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["course", "key"],
        update_fields=["severity", "rank", "reviewers", "size", "links", "by_hand"],
        batch_size=_AT_ONCE,
    )
    keys = [group.key for group in told.clusters]
    stored = Cluster.objects.filter(course=course)
    if len(keys) <= _AT_ONCE:
        stored = stored.filter(key__in=keys)
    ids = dict(stored.values_list("key", "pk"))
    return {
        key: (ids[group.key], ranks[key])
        for group in told.clusters
        for key in group.members
    }


def _all_fields(
    course: Course,
    told: Told,
    clusters: Mapping[str, tuple[int, str]],
    extra: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    found = {}
    for key, known in told.known.items():
        cluster, rank = clusters[key]
        confidence = told.confidence.get(key)
        found[key] = {
            **fields_of(known),
            "source": course.source,
            "pr": course.pr or None,
            "cluster_id": cluster,
            "rank": rank,
            "former": told.former.get(key, []),
            "owner": told.owners.get(key, ""),
            "history": [
                [storable(part) if isinstance(part, str) else part for part in event]
                for event in told.history.get(key, [])
            ],
            "score": confidence.score if confidence else None,
            "out_of": confidence.of if confidence else None,
            **extra.get(key, {}),
        }
    return found


def _differs(row: Finding, values: Mapping[str, Any]) -> bool:
    return any(getattr(row, name) != value for name, value in values.items())


def _upsert(rows: list[Finding]) -> None:
    if not rows:
        return
    own = {"id", "course", "project", "key"}
    names = [f.name for f in Finding._meta.concrete_fields if f.name not in own]
    Finding.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["course", "key"],
        update_fields=names,
        batch_size=_AT_ONCE,
    )
