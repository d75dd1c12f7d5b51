"""The audit log: one line for every change that someone made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from projects.models import AuditEntry

if TYPE_CHECKING:
    from projects.models import Project


def record(
    project: Project | None,
    *,
    actor: str,
    action: str,
    subject: str = "",
    detail: dict[str, Any] | None = None,  # Any: JSON
) -> None:
    """Append an entry. `action` is dotted, such as `token.revoked`."""
    AuditEntry.objects.create(
        project=project,
        actor=actor[:200],
        action=action,
        subject=subject[:300],
        detail=detail or {},
    )
