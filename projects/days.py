"""A project's days: they begin at midnight in its time zone. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from datetime import date, datetime


def today_in(zone: str, now: datetime) -> date:
    """Return the date of `now` in this zone."""
    return now.astimezone(ZoneInfo(zone)).date()
