"""The stage that deletes old exports of effects, with the effects in them.

Guarantees: findings and what people decided stay, for ever, and with them the exports
that were decided on, since a decision is told after what it decides; so do reviews,
since a pull request's story is told from all of them. Rows go in small transactions, so that
no upload waits; a stage that is killed goes on where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef
from django.utils import timezone

from findings.models import Decision, Effect, Ledger, Source
from projects import options
from projects.models import Project

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

_ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Export:
    """An export that is past its project's time."""

    ledger_id: int

    def __str__(self) -> str:
        return f"export {self.ledger_id}"


def claim(now: datetime) -> Export | None:
    """Return an export to delete. Two workers that take the same do no harm."""
    for project in Project.objects.order_by("pk"):
        first = _old(project, now).values_list("pk", flat=True).first()
        if first is not None:
            return Export(first)
    return None


def work(export: Export) -> None:
    """Delete its effects, then the export itself."""
    effects = Effect.objects.filter(ledger=export.ledger_id).order_by("number")
    while ids := list(effects.values_list("pk", flat=True)[:_ROWS_AT_ONCE]):
        Effect.objects.filter(pk__in=ids).delete()
    Ledger.objects.filter(pk=export.ledger_id).delete()


def give_back(export: Export, error: str) -> None:
    """Nothing is held: the same export is found again."""


def waiting(project_id: int | None = None) -> int:
    """Count the exports past their time."""
    projects = Project.objects.all()
    if project_id is not None:
        projects = projects.filter(pk=project_id)
    now = timezone.now()
    return sum(_old(project, now).count() for project in projects)


def _old(project: Project, now: datetime) -> QuerySet[Ledger]:
    before = now - timedelta(days=options.read(project).keep_facts_days)
    decisions = Decision.objects.filter(
        course__project=project, course__source=Source.EFFECT
    )
    decided = Effect.objects.filter(
        ledger=OuterRef("pk"), key__in=decisions.values("key")
    )
    # A draft is another worker's.
    old = Ledger.objects.filter(project=project, current=True, at__lt=before)
    return old.filter(~Exists(decided)).order_by("at", "pk")
