"""The life of the findings that effects raise.

Guarantees: of the exports that hold an effect the latest counts: what it no longer
raises is resolved; what a person decided is theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from findings.happened import decisions_of
from findings.models import Effect, Finding
from findings.telling import Happened, Told, tell_each
from formats.reviews.identity import OWN_FINGERPRINT
from formats.reviews.life import Reviewed
from formats.reviews.review import Finding as Raised
from formats.reviews.review import Review, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from datetime import datetime

    from findings.models import Course

_AT_ONCE = 500
# Any, below: a value of any field.

type Extra = dict[str, dict[str, Any]]


def affected(upload_id: int, drafts: Iterable[int]) -> set[str]:
    """Return the keys whose findings may change when these drafts are adopted.

    An effect that is worth nothing, and never was, raises no finding.
    """
    mine = Effect.objects.filter(ledger__upload_id=upload_id, finding__isnull=False)
    keys = set(mine.values_list("key", flat=True))
    drafted = Effect.objects.filter(ledger__in=list(drafts))
    settled = set(drafted.filter(finding__isnull=True).values_list("key", flat=True))
    return keys | {
        row.key
        for batch in _batches(settled)
        for row in Finding.objects.filter(course__source="effect", key__in=batch).only(
            "key"
        )
    }


def tell_effects(
    course: Course,
    keys: Collection[str],
    *,
    upload_id: int,
    drafts: Collection[int],
    days: Mapping[Severity, int],
) -> tuple[Told, Extra]:
    """Tell these findings anew, as if the drafts were their upload's ledgers."""
    reviews: list[Reviewed] = []
    extra: dict[str, tuple[datetime, str, dict[str, Any]]] = {}
    for row in _rows(course, keys):
        ledger = row.ledger
        if ledger.upload_id == upload_id and ledger.pk not in drafts:
            continue
        if ledger.upload_id != upload_id and not ledger.current:
            continue
        name = f"{row.key} {ledger.upload_id:020}-{ledger.file:06}"
        reviews.append(Reviewed(ledger.at, name, Review(_raised(row))))
        told = ledger.at, name, {"run_id": ledger.run_id, "effect_id": row.effect_id}
        extra[row.key] = max(extra.get(row.key, told), told, key=lambda each: each[:2])
    decided, owned = decisions_of(course, keys=keys)
    happened = Happened(reviews, decided, owned)
    return (
        tell_each(happened, days=days),
        {key: fields for key, (_, _, fields) in extra.items()},
    )


def _rows(course: Course, keys: Collection[str]) -> Iterator[Effect]:
    for batch in _batches(keys):
        yield from (
            Effect.objects.filter(key__in=batch, ledger__project=course.project_id)
            .select_related("ledger")
            .defer("detail", "targets", "reason")
        )


def _raised(row: Effect) -> tuple[Raised, ...]:
    worth = row.finding
    if worth is None:
        return ()
    return (
        Raised(
            severity=Severity(worth["severity"]),
            path=worth["path"],
            title=worth["title"],
            detail=worth["detail"],
            rule=worth["rule"],
            fingerprints=((OWN_FINGERPRINT, row.key),),
        ),
    )


def _batches(keys: Collection[str]) -> Iterator[list[str]]:
    ordered = sorted(keys)
    for start in range(0, len(ordered), _AT_ONCE):
        yield ordered[start : start + _AT_ONCE]
