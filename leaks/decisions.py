"""What people decide of a leaker: its state, its fix, its ticket, its owner, a note.

Guarantees: all of a decision or nothing of it is stored, with who, when and why, in
the trail and in the audit log; nothing that somebody else decided meanwhile is
overwritten; only a leaker of the named project is touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from leaks.models import Leaker, LeakerDecision, LeakerState
from leaks.writing import tell
from projects import audit
from results import recounts
from results.storable import storable

if TYPE_CHECKING:
    from datetime import datetime

    from projects.models import Project

# What a person may say; the other states come from the facts.
BY_HAND = (
    LeakerState.OPEN,
    LeakerState.MUTED,
    LeakerState.DISMISSED,
    LeakerState.FIXED,
)
_FIXED = (LeakerState.FIXED, LeakerState.VERIFIED_FIXED)
_SUSPICION = LeakerState.SUSPECTED
LONGEST_NOTE = 10_000
LONGEST_COMMIT, LONGEST_OWNER, LONGEST_TICKET = 64, 200, 2_000


class Undecidable(ValueError):
    """What was asked for makes no sense; the message says why."""


class Overtaken(RuntimeError):
    """Somebody else, or a new run, changed the leaker meanwhile; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is decided; None: it stays as it is. Empty: nobody, no ticket."""

    state: LeakerState | None = None
    commit: str = ""  # that fixed it
    ticket: str | None = None
    owner: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Change:
    what: LeakerDecision.What
    before: str
    after: str


def decide(
    project: Project, leaker_id: int, wish: Wish, *, seen: str, by: str, now: datetime
) -> bool:
    """Decide on a leaker whose state the page showed as `seen`; tell what changed.

    Raise `Undecidable`, or `Overtaken` where the state is another one by now.
    """
    mine = Leaker.objects.filter(project=project, pk=leaker_id)
    note = storable(wish.note).strip()[:LONGEST_NOTE]
    with transaction.atomic():
        row = mine.select_for_update().select_related("test").first()
        if row is None:
            raise Undecidable("there is no such leaker")
        if wish.state is not None and row.state != seen:
            raise Overtaken(row.state)
        changes, fields = _changes(row, wish, note=note, now=now)
        if note and not changes:
            changes = [_Change(LeakerDecision.What.NOTE, "", "")]
        if not changes:
            return False
        if fields:
            mine.update(**fields)
            before = LeakerState(row.state)
            row.refresh_from_db()
            tell(row, before, at=now)
        _record(project, row, changes, note=note, by=by, now=now)
        if fields.get("state") == LeakerState.OPEN:
            recounts.mark(project.pk)  # whether anything still speaks of it
    return True


def _changes(
    row: Leaker, wish: Wish, *, note: str, now: datetime
) -> tuple[list[_Change], dict[str, Any]]:  # Any: a value of any field
    kinds = LeakerDecision.What
    changes: list[_Change] = []
    fields: dict[str, Any] = {}
    if wish.state is not None and wish.state != row.state:
        commit = storable(wish.commit).strip()
        fields |= _state(row, wish.state, commit=commit, note=note, now=now)
        changes.append(_Change(kinds.STATE, row.state, wish.state.value))
        if wish.state is LeakerState.FIXED:
            changes.append(_Change(kinds.FIX, row.fixed_commit, commit))
    for what, value, longest in (
        (kinds.TICKET, wish.ticket, LONGEST_TICKET),
        (kinds.OWNER, wish.owner, LONGEST_OWNER),
    ):
        told = None if value is None else storable(value).strip()
        before = getattr(row, what.value)
        if told is None or told == before:
            continue
        if len(told) > longest:
            raise Undecidable(f"the {what} has at most {longest:,} characters")
        fields[what.value] = told
        changes.append(_Change(what, before, told))
    return changes, fields


def _state(
    row: Leaker, state: LeakerState, *, commit: str, note: str, now: datetime
) -> dict[str, Any]:  # Any: a value of any field
    """Return the fields of a new state, or say why it cannot be."""
    if state not in BY_HAND:
        raise Undecidable(f"{state} is for the runs to say")
    if state is LeakerState.OPEN and row.state == _SUSPICION:
        raise Undecidable("a suspicion is opened by evidence, or by a proof")
    if state in (LeakerState.MUTED, LeakerState.DISMISSED) and not note:
        raise Undecidable("say why in the note")
    fields: dict[str, Any] = {"state": state.value, "updated_at": now}
    if state is LeakerState.FIXED:
        if not commit or len(commit) > LONGEST_COMMIT:
            raise Undecidable("name the commit that fixed it")
        return fields | {"fixed_at": now, "fixed_commit": commit}
    if state is LeakerState.OPEN and row.state in _FIXED:
        fields |= {"reopened_at": now}
    return fields | {"fixed_at": None, "fixed_commit": ""}


def _record(
    project: Project,
    row: Leaker,
    changes: list[_Change],
    *,
    note: str,
    by: str,
    now: datetime,
) -> None:
    LeakerDecision.objects.bulk_create(
        LeakerDecision(
            leaker=row,
            at=now,
            by=by[:200],
            what=change.what,
            before=change.before,
            after=change.after,
            note=note if place == 0 else "",
        )
        for place, change in enumerate(changes)
    )
    detail = {str(change.what): [change.before, change.after] for change in changes}
    audit.record(
        project,
        actor=by,
        action="leaker.decided",
        subject=row.test.nodeid,
        detail={"leaker": row.pk, "note": note[:300]} | detail,
    )
