"""When the last day of something ends, in the project's zone. Pure but for the zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from projects.models import Project


def end_of_day(project: Project, day: date) -> datetime:
    """Return the last second of a day."""
    local = datetime.combine(day, time(23, 59, 59), ZoneInfo(project.zone))
    return local.astimezone(UTC)
