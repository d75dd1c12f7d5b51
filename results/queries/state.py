"""What is not done yet."""

from __future__ import annotations

from results.days import waiting as waiting_days


def waiting(project_id: int | None = None) -> dict[str, int]:
    """Stages of this package by name, with how many items wait in each."""
    return {"days": waiting_days(project_id)}
