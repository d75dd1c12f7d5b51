"""What people decide of a test: owner, fix by, quarantine, mute, accept, epoch.

Guarantees: a decision is made on the state that was shown, or not at all (`Stale`
carries what holds instead); all of a call or nothing of it is stored, with who, when
and why, here and in the audit log; a quarantine always ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction

from projects import audit
from results.storable import storable
from review.models import Change, Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date, datetime

    from projects.models import Project

LONGEST_QUARANTINE = timedelta(days=366)
MOST_FAILURES = 1_000_000
_LONGEST_NAME = 200
_LONGEST_TICKET = 500
_LONGEST_REASON = 2_000
LIFTABLE = ("quarantine", "mute", "accept", "fix_by", "owner", "ticket")


class Undecidable(ValueError):
    """The decision makes no sense; nothing was stored."""


class Stale(RuntimeError):
    """Another person decided meanwhile; nothing was stored."""

    def __init__(self, by: str, version: int) -> None:
        super().__init__(f"{by or 'somebody'} changed this in the meantime")
        self.by = by
        self.version = version


@dataclass(frozen=True, slots=True)
class Wish:
    """What is decided; None: it stays as it is. `lift` names what no longer holds.

    A mute has an end, a number of failures, or both.
    """

    owner: str | None = None
    fix_by: date | None = None
    quarantine_until: datetime | None = None
    mute_until: datetime | None = None
    mute_failures: int | None = None
    accept: bool = False
    ticket: str | None = None
    reason: str = ""
    lift: frozenset[str] = field(default_factory=frozenset)


def decide(
    project: Project,
    test_id: int,
    wish: Wish,
    *,
    by: str,
    now: datetime,
    version: int | None = None,
    week: str = "",
) -> int:
    """Decide on one test; return its version now. `version` is what was shown.

    Without a version it is decided on whatever holds: for bulk actions.
    """
    check(wish, now=now)
    with transaction.atomic():
        row = _held(project, test_id, by=by, now=now)
        if version is not None and row.version != version:
            raise Stale(row.updated_by, row.version)
        changed = _fields(row, wish, now=now)
        told = {
            name: value
            for name, value in changed.items()
            if getattr(row, name) != value
        }
        if not told:
            return row.version
        before = {name: getattr(row, name) for name in told}
        mine = Standing.objects.filter(pk=row.pk, version=row.version)
        if not mine.update(
            **told, version=row.version + 1, updated_at=now, updated_by=by[:200]
        ):
            raise Stale("", row.version + 1)
        _tell(project, test_id, before, told, wish, by=by, now=now, week=week)
    return row.version + 1


def decide_all(
    project: Project, test_ids: Iterable[int], wish: Wish, *, by: str, now: datetime
) -> int:
    """Decide the same on several tests, all of them or none; return how many."""
    ids = sorted(set(test_ids))
    with transaction.atomic():
        for test_id in ids:  # in one order, so that two people never wait in a ring
            decide(project, test_id, wish, by=by, now=now)
    return len(ids)


def check(wish: Wish, *, now: datetime) -> None:
    """Raise `Undecidable` for what makes no sense, whatever it is decided on."""
    if wish.quarantine_until is not None:
        if wish.quarantine_until <= now:
            raise Undecidable("a quarantine ends in the future")
        if wish.quarantine_until > now + LONGEST_QUARANTINE:
            raise Undecidable("a quarantine lasts a year at most")
    if wish.mute_until is not None and wish.mute_until <= now:
        raise Undecidable("a mute ends in the future")
    if wish.mute_failures is not None and not 0 <= wish.mute_failures <= MOST_FAILURES:
        raise Undecidable(f"failures are a number from 0 to {MOST_FAILURES:,}")
    if wish.accept and not wish.reason.strip():
        raise Undecidable("accepting needs a reason")
    for name, text, most in (
        ("an owner", wish.owner, _LONGEST_NAME),
        ("a ticket", wish.ticket, _LONGEST_TICKET),
        ("a reason", wish.reason, _LONGEST_REASON),
    ):
        if text is not None and len(text) > most:
            raise Undecidable(f"{name} has at most {most:,} characters")
    if unknown := wish.lift - set(LIFTABLE):
        raise Undecidable(f"{', '.join(sorted(unknown))} is nothing that is decided")


def _held(project: Project, test_id: int, *, by: str, now: datetime) -> Standing:
    row, _ = Standing.objects.get_or_create(
        test_id=test_id,
        defaults={"project": project, "updated_at": now, "updated_by": by[:200]},
    )
    if row.project_id != project.pk:
        raise Undecidable("this test is of another project")
    return row


def _fields(row: Standing, wish: Wish, *, now: datetime) -> dict[str, Any]:  # values
    """Return what is to be stored; a mute that goes on keeps when it began."""
    reason = storable(wish.reason).strip()
    found: dict[str, Any] = _lifted(wish.lift)
    if wish.owner is not None:
        found["owner"] = storable(wish.owner).strip()
    if wish.ticket is not None:
        found["ticket"] = storable(wish.ticket).strip()
    if wish.fix_by is not None:
        found["fix_by"] = wish.fix_by
    if wish.quarantine_until is not None:
        found["quarantined_until"] = wish.quarantine_until
        found["quarantine_reason"] = reason or row.quarantine_reason
    if wish.mute_until is not None or wish.mute_failures is not None:
        same = (row.muted_until, row.muted_failures) == (
            wish.mute_until,
            wish.mute_failures,
        )
        found["muted_at"] = row.muted_at if same and row.muted_at else now
        found["muted_until"] = wish.mute_until
        found["muted_failures"] = wish.mute_failures
    if wish.accept:
        found["accepted_at"] = row.accepted_at or now
        found["accepted_reason"] = reason
    return found


def _lifted(lift: frozenset[str]) -> dict[str, Any]:  # Any: empty values
    empty: dict[str, dict[str, Any]] = {
        "quarantine": {"quarantined_until": None, "quarantine_reason": ""},
        "mute": {"muted_at": None, "muted_until": None, "muted_failures": None},
        "accept": {"accepted_at": None, "accepted_reason": ""},
        "fix_by": {"fix_by": None},
        "owner": {"owner": ""},
        "ticket": {"ticket": ""},
    }
    return {k: v for name in sorted(lift) for k, v in empty[name].items()}


def _tell(
    project: Project,
    test_id: int,
    before: Mapping[str, object],
    after: Mapping[str, object],
    wish: Wish,
    *,
    by: str,
    now: datetime,
    week: str,
) -> None:
    subject = f"test:{test_id}"
    Change.objects.bulk_create(
        Change(
            project=project,
            subject=subject,
            week=week,
            at=now,
            by=by[:200],
            what=name,
            before=written(before[name]),
            after=written(value),
            reason=storable(wish.reason).strip(),
        )
        for name, value in sorted(after.items())
    )
    detail = {name: [written(before[name]), written(after[name])] for name in after}
    audit.record(
        project, actor=by, action="test.decided", subject=subject, detail=detail
    )


def written(value: object) -> str:
    """Write a value as the trail keeps it; nothing is an empty text."""
    if value is None:
        return ""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
