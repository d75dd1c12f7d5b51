"""What holds of tests by decision, now.

Guarantees: a fixed number of queries, whatever the data; a mute that ran out, by its
time or by its failures, does not hold, and neither does a quarantine that ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from results.queries.failing import failures_since
from review.models import Change, Epoch, Standing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import date, datetime

    from django.db.models import QuerySet


class State(StrEnum):
    """The one word for a test's decisions: the first of these that holds."""

    QUARANTINED = "quarantined"
    MUTED = "muted"
    ACCEPTED = "accepted"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Held:
    """The decisions on one test. `failures` are those since it was muted."""

    test: int
    version: int = 0
    owner: str = ""
    fix_by: date | None = None
    quarantined_until: datetime | None = None
    quarantined: bool = False
    quarantine_reason: str = ""
    muted: bool = False
    muted_until: datetime | None = None
    muted_failures: int | None = None
    failures: int = 0
    accepted: bool = False
    accepted_reason: str = ""
    ticket: str = ""
    fixed_at: datetime | None = None
    fixed_commit: str = ""
    updated_at: datetime | None = None
    updated_by: str = ""

    @property
    def state(self) -> State | None:
        for state, holds in (
            (State.QUARANTINED, self.quarantined),
            (State.MUTED, self.muted),
            (State.ACCEPTED, self.accepted),
            (State.FIXED, self.fixed_at is not None),
        ):
            if holds:
                return state
        return None


@dataclass(frozen=True, slots=True)
class EpochRow:
    """A count that ended: `failed` of `runs` before it was said to be fixed."""

    id: int
    test: int
    at: datetime
    commit: str
    pr: int | None
    note: str
    runs: int
    failed: int
    since: datetime | None
    made_at: datetime
    made_by: str


def held_of(test_ids: Collection[int], *, now: datetime) -> dict[int, Held]:
    """Return what holds of those of some tests on which something was decided."""
    marks = Epoch.objects.filter(test_id__in=list(test_ids))
    found = list(Standing.objects.filter(test_id__in=list(test_ids)))
    fixed = {
        test: (at, commit)
        for test, at, commit in marks.order_by("at", "pk").values_list(
            "test_id", "at", "commit"
        )
    }
    limited = {
        row.test_id: row.muted_at
        for row in found
        if row.muted_failures is not None and row.muted_at is not None
    }
    failures = failures_since(limited)
    held = {
        row.test_id: _held(row, failures.get(row.test_id, 0), fixed, now=now)
        for row in found
    }
    for test, (at, commit) in fixed.items():
        if test not in held:
            held[test] = Held(test, fixed_at=at, fixed_commit=commit)
    return held


def quarantined(project_id: int, test_ids: Iterable[int], *, now: datetime) -> set[int]:
    """Return those of some tests whose failures fail no build now."""
    ids = list(test_ids)
    rows = Standing.objects.filter(
        project_id=project_id, test_id__in=ids, quarantined_until__gt=now
    )
    return set(rows.values_list("test_id", flat=True)) if ids else set()


def epochs_of(test_id: int) -> list[EpochRow]:
    """Return a test's epochs, the newest first."""
    return epoch_rows(Epoch.objects.filter(test_id=test_id))


def epoch_rows(rows: QuerySet[Epoch]) -> list[EpochRow]:
    return [
        EpochRow(
            id=row.pk,
            test=row.test_id,
            at=row.at,
            commit=row.commit,
            pr=row.pr,
            note=row.note,
            runs=row.runs,
            failed=row.failed,
            since=row.since,
            made_at=row.made_at,
            made_by=row.made_by,
        )
        for row in rows.order_by("-at", "-pk")
    ]


def changes_of(project_id: int, subject: str, *, limit: int = 50) -> Sequence[Change]:
    """Return what was decided of a subject, the newest first."""
    rows = Change.objects.filter(project_id=project_id, subject=subject)
    return list(rows.order_by("-pk")[:limit])


def _held(
    row: Standing,
    failures: int,
    fixed: dict[int, tuple[datetime, str]],
    *,
    now: datetime,
) -> Held:
    in_time = row.muted_until is None or row.muted_until > now
    few = row.muted_failures is None or failures <= row.muted_failures
    at, commit = fixed.get(row.test_id, (None, ""))
    return Held(
        test=row.test_id,
        version=row.version,
        owner=row.owner,
        fix_by=row.fix_by,
        quarantined_until=row.quarantined_until,
        quarantined=row.quarantined_until is not None and row.quarantined_until > now,
        quarantine_reason=row.quarantine_reason,
        muted=row.muted_at is not None and in_time and few,
        muted_until=row.muted_until,
        muted_failures=row.muted_failures,
        failures=failures,
        accepted=row.accepted_at is not None,
        accepted_reason=row.accepted_reason,
        ticket=row.ticket,
        fixed_at=at,
        fixed_commit=commit,
        updated_at=row.updated_at,
        updated_by=row.updated_by,
    )
