"""Leaving a run out of statistics, with a reason; and taking it in again.

Its results stay readable. The totals of its day are rebuilt without (or with) it.
"""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from projects import audit
from results.models import Day, Run


def exclude(run_id: int, *, actor: str, reason: str) -> bool:
    """Leave a run out; tell whether it counted until now."""
    return _change(
        run_id,
        counted=True,
        actor=actor,
        action="run.excluded",
        reason=reason,
        excluded_at=timezone.now(),
        excluded_by=actor[:200],
        excluded_reason=reason,
    )


def include(run_id: int, *, actor: str) -> bool:
    """Count a run again; tell whether it was left out."""
    return _change(
        run_id,
        counted=False,
        actor=actor,
        action="run.included",
        reason="",
        excluded_at=None,
        excluded_by="",
        excluded_reason="",
    )


def _change(
    run_id: int,
    *,
    counted: bool,
    actor: str,
    action: str,
    reason: str,
    **values: object,
) -> bool:
    """One of two people who press at once changes it; the other changes nothing."""
    run = Run.objects.select_related("project").get(pk=run_id)
    with transaction.atomic():
        waiting = Run.objects.filter(pk=run_id, excluded_at__isnull=counted)
        if not waiting.update(**values):
            return False
        Day.objects.filter(
            project=run.project, date=run.day, branch_class=run.branch_class
        ).update(dirty=True, not_before=None)
        audit.record(
            run.project,
            actor=actor,
            action=action,
            subject=run.name,
            detail={"reason": reason} if reason else {},
        )
    return True
