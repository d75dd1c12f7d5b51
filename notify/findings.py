"""New P0 findings, told when they are stored.

Guarantees: one event a finding, also after its file was renamed; a finding that a
person had decided on before is not told of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils import timezone

from findings.models import Finding
from formats.reviews.life import State
from notify.models import EventType
from notify.outbox import write_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from findings.models import Course

# Any, below: what a signal carries.


def findings_were_written(*, course: Course, rows: Sequence[Finding], **_: Any) -> None:
    """Take note of findings that are new or changed."""
    pressing = [row.key for row in rows if row.severity == "P0"]
    if not pressing:
        return
    stored = Finding.objects.filter(course=course, key__in=pressing, severity="P0")
    for row in stored.filter(state__in=(State.OPEN, State.REOPENED)).order_by("pk"):
        _write(course, row)


def _write(course: Course, row: Finding) -> None:
    first = row.former[0] if row.former else row.key
    write_event(
        row.project_id,
        EventType.FINDING_P0,
        f"finding/{course.pk}/{first}",
        occurred_at=timezone.now(),
        data={
            "finding": row.pk,
            "severity": row.severity,
            "title": row.title,
            "detail": row.detail[:2000],
            "path": row.path or None,
            "line": row.line,
            "pr": row.pr,
            "owner": row.owner or None,
            "reviewers": row.reviewers,
        },
        path=f"findings/{row.pk}",
        subject=f"pull/{row.pr}" if row.pr else "",
        severity=row.severity,
        owners=[row.owner] if row.owner else [],
        paths=[row.path] if row.path else [],
    )
