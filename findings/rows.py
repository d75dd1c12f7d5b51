"""From values of the pure packages to rows, and back.

Guarantees: `known_of(row)` is what `fields_of` made the row from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formats.reviews.identity import OWN_FINGERPRINT
from formats.reviews.life import Known, State
from formats.reviews.ranking import Facts
from formats.reviews.review import (
    Confidence,
    Finding,
    Place,
    Severity,
    Suppression,
)
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from findings.models import Finding as Row

# Any, below: a value of any field.


def fields_of(known: Known) -> dict[str, Any]:
    """Return the fields of the row of a finding; of all but rank and cluster."""
    finding = known.finding
    return {
        "severity": finding.severity.value,
        "path": storable(finding.path),
        "line": _at_most(finding.line),
        "end_line": _at_most(finding.end_line),
        "also_at": [
            [_at_most(each.line), _at_most(each.end_line)] for each in finding.also_at
        ],
        "title": storable(finding.title),
        "detail": storable(finding.detail),
        "rule": storable(finding.rule),
        "reviewers": [storable(name) for name in finding.reviewers],
        "suppressions": [
            [each.kind, each.status, storable(each.reason)]
            for each in finding.suppressions
        ],
        "state": known.state.value,
        "reason": storable(known.reason),
        "first_seen": known.first_seen,
        "last_seen": known.last_seen,
        "opened_at": known.opened_at,
        "due": known.due,
        "due_by_hand": known.due_by_hand,
        "seen_count": known.seen_count,
        "raised_since_fixed": known.raised_since_fixed,
    }


def _at_most(line: int | None) -> int | None:
    """A line that no database holds is as good as the last that one does."""
    return line if line is None else min(line, 2**63 - 1)


def known_of(row: Row) -> Known:
    """Return the finding as the rules of its life take it."""
    return Known(
        key=row.key,
        pr=row.pr,
        finding=finding_of(row),
        first_seen=row.first_seen,
        last_seen=row.last_seen,
        opened_at=row.opened_at,
        due=row.due,
        state=State(row.state),
        reason=row.reason,
        seen_count=row.seen_count,
        due_by_hand=row.due_by_hand,
        raised_since_fixed=row.raised_since_fixed,
    )


def finding_of(row: Row) -> Finding:
    """Return the finding as it is exported: it keeps its key wherever it goes."""
    return Finding(
        severity=Severity(row.severity),
        path=row.path,
        title=row.title,
        line=row.line,
        end_line=row.end_line,
        detail=row.detail,
        reviewers=tuple(row.reviewers),
        rule=row.rule,
        also_at=tuple(Place(*each) for each in row.also_at),
        fingerprints=((OWN_FINGERPRINT, row.key),),
        suppressions=tuple(Suppression(*each) for each in row.suppressions),
    )


def confidence_of(row: Row) -> Confidence | None:
    if row.score is None or row.out_of is None:
        return None
    return Confidence(row.score, row.out_of)


def facts_of_row(row: Row, *, reviewers: Iterable[str]) -> Facts:
    """Return what a stored finding is ranked by; `reviewers` are its cluster's."""
    return Facts(
        key=str(row.pk),
        severity=Severity(row.severity),
        blocks=None,
        reviewers=tuple(reviewers),
        confidence=confidence_of(row),
        due=row.due,
        path=row.path,
        line=row.line,
    )
