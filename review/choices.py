"""Deciding in a review: one subject of one week.

Guarantees: a choice is made on what was shown, or not at all (`Stale` says who was
first); what is chosen holds at once for the test, leaker or finding itself, in the
same transaction; nothing is decided in a closed review.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db import transaction

from projects import audit
from results.storable import storable
from review import carrying_out
from review.deciding import Stale, Undecidable, written
from review.models import Change, Choice, Week
from review.weeks import read_week

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime

    from projects.models import Project
    from review.weeks import IsoWeek

_LONGEST = {"owner": 200, "reason": 2_000, "note": 2_000, "commit": 64}


class Decision(StrEnum):
    """What a row of the agenda can be decided to be; none of them is a note."""

    ASSIGN = "assign"  # somebody fixes it
    MUTE = "mute"
    QUARANTINE = "quarantine"
    ACCEPT = "accept"
    FIXED = "fixed"


class Closed(RuntimeError):
    """The review is closed; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Pick:
    """What is decided of a subject; it replaces what was decided of it this week: a
    mute, a quarantine or an acceptance that is no longer chosen no longer holds."""

    decision: Decision | None = None
    owner: str = ""
    fix_by: date | None = None
    until: date | None = None
    failures: int | None = None
    commit: str = ""
    reason: str = ""
    note: str = ""


def choose(
    project: Project,
    week: IsoWeek,
    subject: str,
    pick: Pick,
    *,
    version: int,
    by: str,
    now: datetime,
) -> Choice:
    """Decide on a subject whose choice was shown in this version (0: none yet)."""
    pick = _clean(pick)
    with transaction.atomic():
        row = _held(project, week)
        made, _ = Choice.objects.get_or_create(
            week=row, subject=subject, defaults={"at": now, "by": ""}
        )
        if made.version != version:
            raise Stale(made.by, made.version)
        mine = Choice.objects.filter(pk=made.pk, version=version)
        values = {
            "decision": pick.decision.value if pick.decision else "",
            "owner": pick.owner,
            "fix_by": pick.fix_by,
            "until": pick.until,
            "failures": pick.failures,
            "reason": pick.reason,
            "note": pick.note,
        }
        if not mine.update(**values, version=version + 1, at=now, by=by[:200]):
            raise Stale("", version + 1)
        carrying_out.carry_out(
            project,
            week.name,
            subject,
            pick,
            before=made.decision,
            by=by,
            now=now,
        )
        _tell(project, week, subject, made, values, by=by, now=now)
    return Choice.objects.get(pk=made.pk)


def _clean(pick: Pick) -> Pick:
    for name, longest in _LONGEST.items():
        text = storable(getattr(pick, name)).strip()
        if len(text) > longest:
            raise Undecidable(f"a {name} has at most {longest:,} characters")
        pick = replace(pick, **{name: text})  # type: ignore[arg-type] # all are texts
    if pick.decision is None and (pick.owner or pick.fix_by):
        pick = replace(pick, decision=Decision.ASSIGN)
    if pick.decision is Decision.ASSIGN and not (pick.owner or pick.fix_by):
        raise Undecidable("say who fixes it, or by when")
    if pick.decision is Decision.QUARANTINE and pick.until is None:
        raise Undecidable("a quarantine needs the day on which it ends")
    if pick.decision is Decision.MUTE and pick.until is None and pick.failures is None:
        raise Undecidable("a mute needs its last day, or a number of failures")
    if pick.decision is Decision.ACCEPT and not pick.reason:
        raise Undecidable("accepting needs a reason")
    return pick


def _held(project: Project, week: IsoWeek) -> Week:
    row, _ = Week.objects.get_or_create(project=project, name=read_week(week.name).name)
    # Held until the transaction ends, so that nobody closes it meanwhile.
    if not Week.objects.filter(pk=row.pk, closed_at=None).update(name=row.name):
        raise Closed(f"the review of {week.name} is closed")
    return row


def _tell(
    project: Project,
    week: IsoWeek,
    subject: str,
    before: Choice,
    after: Mapping[str, object],
    *,
    by: str,
    now: datetime,
) -> None:
    old = {name: getattr(before, name) for name in after}
    told = {
        name: [written(old[name]), written(value)]
        for name, value in after.items()
        if old[name] != value
    }
    Change.objects.create(
        project=project,
        subject=subject,
        week=week.name,
        at=now,
        by=by[:200],
        what="review",
        before=str(old["decision"]),
        after=str(after["decision"]),
        reason=str(after["reason"] or after["note"]),
    )
    audit.record(
        project,
        actor=by,
        action="review.decided",
        subject=f"{week.name} {subject}",
        detail=told,
    )
