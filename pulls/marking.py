"""Marking pull requests whose verdict is to be made anew.

Guarantees: part of the caller's transaction; a mark that comes while a verdict is being
made is not lost, for the verdict is then not the newest (`Pull.marks`).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import F, Q
from django.db.models.functions import Least
from django.utils import timezone

from formats.phrases import Kind
from pulls.models import Edge, Pull, State

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

AHEAD = timedelta(hours=1)
_AT_ONCE = 500
MOST_WAITING = 10_000


def mark(project_id: int, numbers: Collection[int]) -> int:
    """Let these pull requests be judged anew, before those that only a run of the
    default branch concerns; return how many there are."""
    wanted, done = sorted(set(numbers)), 0
    at = timezone.now() - AHEAD
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        done += _due(Q(project_id=project_id, number__in=some), at)
    return done


def mark_those(condition: Q) -> int:
    """Let the pull requests of a condition be judged anew."""
    return _due(condition, timezone.now())


def mark_waiting(project_id: int, number: int) -> None:
    """Let those that wait for this one, at whatever distance, be judged anew."""
    seen, found = {number}, [number]
    while found and len(seen) < MOST_WAITING:
        edges = Edge.objects.filter(
            project_id=project_id,
            to_number__in=found[:_AT_ONCE],
            to_repository="",
            kind=Kind.BLOCKING,
        )
        before = set(edges.values_list("from_number", flat=True)) - seen
        seen |= before
        found = [*found[_AT_ONCE:], *before]
    mark(project_id, seen - {number})


def open_pulls(project_id: int) -> Q:
    return Q(project_id=project_id, state=State.OPEN)


def _due(condition: Q, at: datetime) -> int:
    """What is being judged now is only marked; of two moments the earlier one counts."""
    rows = Pull.objects.filter(condition)
    once_more = {"marks": F("marks") + 1}
    held = rows.filter(due_at__isnull=False).exclude(lease="")
    due = rows.filter(due_at__isnull=False, lease="")
    resting = rows.filter(due_at=None)
    return (
        held.update(**once_more)
        + due.update(due_at=Least(F("due_at"), at), **once_more)
        + resting.update(due_at=at, attempts=0, failure="", **once_more)
    )
