"""What a person says of a pull request by hand.

Guarantees: each act is in the audit log, in the transaction that does it; what is said
by hand is kept apart from what texts and hooks say, and outlives their edits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from formats.phrase_tokens import MOST_NUMBER
from formats.phrases import Kind
from projects import audit
from pulls import marking, repositories, telling
from pulls.models import Edge, Source, State

if TYPE_CHECKING:
    from projects.models import Project


class ActionError(ValueError):
    """It cannot be done so; the message says why."""


def set_state(project: Project, number: int, state: State, *, by: str) -> None:
    """Say that a pull request is open, closed or merged; a later hook says it anew."""
    with transaction.atomic():
        repositories.hold(project)
        pull = telling.pull_of(project, _checked(number))
        before = pull.state
        telling.change(pull, {"hand_state": state, "hand_at": timezone.now()})
        _record(project, by, "pull.state_set", number, [before, state])


def add_edge(
    project: Project, number: int, to: int, *, by: str, kind: Kind = Kind.BLOCKING
) -> None:
    """Let a pull request wait for, or be related to, another one."""
    if _checked(number) == _checked(to):
        raise ActionError("A pull request cannot wait for itself.")
    with transaction.atomic():
        repositories.hold(project)
        telling.pull_of(project, number)
        _forget(project, number, to, kind)
        _put(project, number, to, kind, denied=False)
        _record(project, by, "pull.edge_added", number, [to, kind])
        _concern(project, number)


def remove_edge(
    project: Project, number: int, to: int, *, by: str, kind: Kind = Kind.BLOCKING
) -> None:
    """Take an edge away: one by hand is gone, one that texts or verdicts tell stays
    denied until it is added by hand."""
    with transaction.atomic():
        repositories.hold(project)
        mine = Edge.objects.filter(
            project=project, from_number=number, to_number=to, kind=kind
        )
        if not mine.exclude(denied=True).exists():
            raise ActionError(f"#{number} does not wait for #{to}.")
        _forget(project, number, to, kind)
        if mine.exists():
            _put(project, number, to, kind, denied=True)
        _record(project, by, "pull.edge_removed", number, [to, kind])
        _concern(project, number)


def _checked(number: int) -> int:
    if not 0 < number <= MOST_NUMBER:
        raise ActionError(f"#{number} is no number of a pull request.")
    return number


def _put(project: Project, number: int, to: int, kind: Kind, *, denied: bool) -> None:
    Edge.objects.create(
        project=project,
        origin=0,
        from_number=number,
        to_number=to,
        kind=kind,
        source=Source.MANUAL,
        denied=denied,
    )


def _forget(project: Project, number: int, to: int, kind: Kind) -> None:
    Edge.objects.filter(
        project=project,
        from_number=number,
        to_number=to,
        to_repository="",
        kind=kind,
        source=Source.MANUAL,
    ).delete()


def _concern(project: Project, number: int) -> None:
    marking.mark(project.pk, [number])
    marking.mark_waiting(project.pk, number)


def _record(
    project: Project, by: str, action: str, number: int, detail: list[object]
) -> None:
    audit.record(
        project, actor=by, action=action, subject=f"#{number}", detail={"to": detail}
    )
