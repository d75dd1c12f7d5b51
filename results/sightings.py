"""When a test was last seen: moved once a day, not with every run.

Guarantees: `last_seen` never moves back, and is never more than a day behind.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from results.models import TestCase

if TYPE_CHECKING:
    from results.day_totals import Rebuilt
    from results.models import Day

_AT_ONCE = 500


def move_last_seen(day: Day, rebuilt: Rebuilt) -> None:
    """Move the tests of a day that were not seen on it or later before."""
    if not rebuilt.starts:
        return
    cases = TestCase.objects.filter(project_id=day.project_id)
    # The database says who is behind: for most rebuilds of a day nobody is.
    behind = cases.filter(last_seen__lt=_midnight(day.date, day.project.zone))
    moved: dict[int, list[int]] = defaultdict(list)
    for number in behind.values_list("number", flat=True):
        place = int(rebuilt.seen[number]) if number < len(rebuilt.seen) else -1
        if place >= 0:
            moved[place].append(number)
    for place, numbers in moved.items():
        start = rebuilt.starts[place]
        for at in range(0, len(numbers), _AT_ONCE):
            some = cases.filter(number__in=numbers[at : at + _AT_ONCE])
            some.filter(last_seen__lt=start).update(last_seen=start)


def _midnight(day: date, zone: str) -> datetime:
    """Return the moment from which `day_of` says this day, or a later one."""
    try:
        return datetime.combine(day, time.min, ZoneInfo(zone)).astimezone(UTC)
    except (ZoneInfoNotFoundError, ValueError, OverflowError):
        return datetime.combine(day, time.min, UTC)
