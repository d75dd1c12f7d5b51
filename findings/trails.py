"""The history of a finding: what reviews did to it, and what people decided.

Guarantees: the newest first; one query, however long it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from findings.models import Decision, Finding
from findings.shapes import Trail

if TYPE_CHECKING:
    from collections.abc import Iterable

_DID = {
    "created": "raised it for the first time",
    "closed": "no longer raised it: resolved",
    "reopened": "raised it again: reopened",
    "moved": "found it elsewhere",
    "renamed": "found it in a renamed file",
    "ambiguous": "cannot be matched for certain",
}


def trail_of(finding_id: int) -> list[Trail]:
    """Return the history of a finding."""
    row = Finding.objects.get(pk=finding_id)
    decisions = Decision.objects.filter(
        course=row.course_id, key__in=[row.key, *row.former]
    )
    entries = [*_reviewed(row), *(_decided(each) for each in decisions)]
    return sorted(entries, key=lambda each: each.at, reverse=True)


def _reviewed(row: Finding) -> Iterable[Trail]:
    for at, upload, what, text in row.history:
        said = _DID.get(what, what)
        yield Trail(
            at=datetime.fromisoformat(at),
            by=row.source,
            text=f"{said}: {text}" if text else said,
            upload=upload,
        )


def _decided(decision: Decision) -> Trail:
    before, after = decision.before, decision.after
    if decision.what == Decision.What.DUE:
        before, after = before[:10], after[:10]
    text = f"{decision.what}: {before or 'nobody'} → {after or 'nobody'}"
    return Trail(decision.at, decision.by, text, decision.reason)
