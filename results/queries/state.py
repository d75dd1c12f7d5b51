"""What is not done yet."""

from __future__ import annotations

from results.days import waiting as waiting_days
from results.models import Counter
from results.reclassifying import waiting as waiting_classes


def waiting(project_id: int | None = None) -> dict[str, int]:
    """Stages of this package by name, with how many items wait in each."""
    return {"classes": waiting_classes(project_id), "days": waiting_days(project_id)}


def epoch_of(project_id: int) -> str:
    """Return what makes a project's numbering itself; empty while it has no tests."""
    found = Counter.objects.filter(project=project_id).values_list("epoch", flat=True)
    return found.first() or ""
