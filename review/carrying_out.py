"""Making a choice of a review hold for what it is about.

Guarantees: the caller's transaction is open; a subject of another project is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findings import actions as findings
from findings.models import Finding
from formats.reviews.life import State
from formats.reviews.life import Undecidable as FindingUndecidable
from leaks import decisions as leakers
from leaks.models import Leaker, LeakerState
from results.models import TestCase
from review import deciding, epochs
from review.deciding import Undecidable
from review.ends import end_of_day

if TYPE_CHECKING:
    from datetime import datetime

    from projects.models import Project
    from review.choices import Pick

_UNDOABLE = ("mute", "quarantine", "accept")
_BY_HAND = "decided in the review"


def carry_out(
    project: Project,
    week: str,
    subject: str,
    pick: Pick,
    *,
    before: str,
    by: str,
    now: datetime,
) -> None:
    """Do what was chosen; raise `Undecidable` where that cannot be.

    `before` is the decision that it replaces: what it did is undone.
    """
    undone = before if before in _UNDOABLE and before != pick.decision else ""
    kind, _, number = subject.partition(":")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise Undecidable(f"{subject[:60]!r} is nothing to decide on")
    if kind == "test":
        _test(project, week, int(number), pick, undone=undone, by=by, now=now)
    elif kind == "finding":
        _finding(project, int(number), pick, undone=undone, by=by, now=now)
    elif kind == "pull":
        if pick.decision in ("mute", "quarantine", "fixed"):
            raise Undecidable(f"a pull request cannot be decided to {pick.decision}")
    else:
        raise Undecidable(f"{subject[:60]!r} is nothing to decide on")


def _test(
    project: Project,
    week: str,
    test_id: int,
    pick: Pick,
    *,
    undone: str,
    by: str,
    now: datetime,
) -> None:
    if not TestCase.objects.filter(project=project, pk=test_id).exists():
        raise Undecidable("there is no such test")
    until = end_of_day(project, pick.until) if pick.until else None
    muted, held = pick.decision == "mute", pick.decision == "quarantine"
    wish = deciding.Wish(
        owner=pick.owner or None,
        fix_by=pick.fix_by,
        quarantine_until=until if held else None,
        mute_until=until if muted else None,
        mute_failures=pick.failures if muted else None,
        accept=pick.decision == "accept",
        reason=pick.reason or pick.note,
        lift=frozenset({undone} - {""}),
    )
    deciding.decide(project, test_id, wish, by=by, now=now, week=week)
    leaker = Leaker.objects.filter(project=project, test_id=test_id).first()
    if leaker is not None:
        _leaker(project, leaker, pick, undone=undone, by=by, now=now)
    if pick.decision == "fixed":
        epochs.begin(
            project,
            test_id,
            by=by,
            now=now,
            commit=pick.commit,
            note=pick.reason or pick.note,
            week=week,
        )


def _leaker(
    project: Project,
    leaker: Leaker,
    pick: Pick,
    *,
    undone: str,
    by: str,
    now: datetime,
) -> None:
    """A test that is a leaker has a state of its own: it follows."""
    state = None
    if undone == "mute" and leaker.state == LeakerState.MUTED:
        state = LeakerState.OPEN
    if pick.decision == "mute" and leaker.state != LeakerState.SUSPECTED:
        state = LeakerState.MUTED
    if pick.decision == "fixed" and pick.commit:
        state = LeakerState.FIXED
    wish = leakers.Wish(
        state=state,
        commit=pick.commit,
        owner=pick.owner or None,
        note=pick.reason or pick.note or (_BY_HAND if state else ""),
    )
    try:
        leakers.decide(project, leaker.pk, wish, seen=leaker.state, by=by, now=now)
    except leakers.Undecidable as error:
        raise Undecidable(str(error)) from error
    except leakers.Overtaken as error:
        raise deciding.Stale("a new run", 0) from error


def _finding(
    project: Project,
    pk: int,
    pick: Pick,
    *,
    undone: str,
    by: str,
    now: datetime,
) -> None:
    if pick.decision in ("mute", "quarantine"):
        raise Undecidable(
            f"a finding is accepted or fixed: there is no {pick.decision}"
        )
    if not Finding.objects.filter(project=project, pk=pk).exists():
        raise Undecidable("there is no such finding")
    states = {"accept": State.ACCEPTED, "fixed": State.FIXED}
    wish = findings.Wish(
        state=states.get(pick.decision or "", State.OPEN if undone else None),
        reason=pick.reason or pick.note,
        owner=pick.owner or None,
        due=end_of_day(project, pick.fix_by) if pick.fix_by else None,
    )
    try:
        findings.apply(project, [pk], wish, by=by, now=now)
    except FindingUndecidable as error:
        raise Undecidable(str(error)) from error
