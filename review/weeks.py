"""ISO weeks: their names, days and moments. Pure.

Guarantees: a week begins on Monday at midnight in the project's zone, ends with the
next one, and has a name such as 2026-W01 that sorts as the weeks do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_NAME = re.compile(r"(\d{4})-W(\d{2})")
_FIRST_YEAR, _LAST_YEAR = 2000, 9998


class NotAWeek(ValueError):
    """The text is no name of an ISO week."""


@dataclass(frozen=True, slots=True, order=True)
class IsoWeek:
    first: date  # its Monday

    @property
    def name(self) -> str:
        year, number, _ = self.first.isocalendar()
        return f"{year:04}-W{number:02}"

    @property
    def last(self) -> date:
        return self.first + timedelta(days=6)

    @property
    def before(self) -> IsoWeek:
        return IsoWeek(self.first - timedelta(days=7))

    @property
    def after(self) -> IsoWeek:
        return IsoWeek(self.first + timedelta(days=7))

    def begins(self, zone: str) -> datetime:
        """Return the moment with which it begins."""
        local = datetime.combine(self.first, time.min, ZoneInfo(zone))
        return local.astimezone(UTC)

    def ends(self, zone: str) -> datetime:
        """Return the moment with which the next one begins."""
        return self.after.begins(zone)


def read_week(text: str) -> IsoWeek:
    """Read 2026-W10; raise `NotAWeek` for anything else."""
    found = _NAME.fullmatch(text)
    if not found or not _FIRST_YEAR <= int(found[1]) <= _LAST_YEAR:
        raise NotAWeek(f"{text[:40]!r} is no ISO week such as 2026-W10")
    try:
        return IsoWeek(date.fromisocalendar(int(found[1]), int(found[2]), 1))
    except ValueError:
        raise NotAWeek(f"{found[1]} has no week {found[2]}") from None


def week_of(day: date) -> IsoWeek:
    """Return the week of a day."""
    return IsoWeek(day - timedelta(days=day.weekday()))
