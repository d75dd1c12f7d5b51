"""Leaving a run out of statistics, and taking it back in.

Guarantees: the run's results stay as they are; only its days are rebuilt and
its project recounted. Doing it
twice changes nothing.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from projects import audit
from results import days, recounts
from results.models import Run


def exclude(run_id: int, *, reason: str, by: str) -> bool:
    """Leave a run out of statistics; False where it already is, or is no run."""
    change = {
        "excluded_at": timezone.now(),
        "excluded_by": by[:200],
        "excluded_reason": reason,
    }
    return _change(run_id, excluded=False, actor=by, action="run.excluded", **change)


def include(run_id: int, *, by: str) -> bool:
    """Take a run back into statistics; False where it is in them, or is no run."""
    change = {"excluded_at": None, "excluded_by": "", "excluded_reason": ""}
    return _change(run_id, excluded=True, actor=by, action="run.included", **change)


def _change(
    run_id: int,
    *,
    excluded: bool,
    actor: str,
    action: str,
    **change: Any,  # Any: a value of any field of Run
) -> bool:
    with transaction.atomic():
        mine = Run.objects.filter(pk=run_id, excluded_at__isnull=not excluded)
        if not mine.update(**change):
            return False
        run = Run.objects.select_related("project").get(pk=run_id)
        days.mark(run.project_id, {(run.day, run.branch_class)})
        recounts.mark(run.project_id)
        detail = {"run": run.pk, "reason": run.excluded_reason}
        audit.record(
            run.project, actor=actor, action=action, subject=run.name, detail=detail
        )
    return True
