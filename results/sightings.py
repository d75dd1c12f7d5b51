"""When a test was last seen: moved once a day, not with every run.

Guarantees: `last_seen` never moves back, and is never more than a day behind.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from results.models import TestCase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet
    from numpy.typing import NDArray

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
    numbers = np.fromiter(behind.values_list("number", flat=True), np.int64)
    numbers = np.sort(numbers[numbers < len(rebuilt.seen)])
    places = rebuilt.seen[numbers]
    for place in np.unique(places[places >= 0]).tolist():
        start = rebuilt.starts[place]
        for some in _together(cases, numbers[places == place]):
            some.filter(last_seen__lt=start).update(last_seen=start)


def _together(
    cases: QuerySet[TestCase], numbers: NDArray[np.int64]
) -> Iterator[QuerySet[TestCase]]:
    """Yield the cases of these rising numbers in as few queries as may be.

    A whole suite is one range of numbers, which costs a fifth of naming each.
    """
    ends = np.flatnonzero(np.diff(numbers, append=-1) != 1) + 1
    single: list[int] = []
    for one in np.split(numbers, ends[:-1]):
        if len(one) < _AT_ONCE:
            single += one.tolist()
        else:
            yield cases.filter(number__gte=int(one[0]), number__lte=int(one[-1]))
    for at in range(0, len(single), _AT_ONCE):
        yield cases.filter(number__in=single[at : at + _AT_ONCE])


def _midnight(day: date, zone: str) -> datetime:
    """Return the moment from which `day_of` says this day, or a later one."""
    try:
        return datetime.combine(day, time.min, ZoneInfo(zone)).astimezone(UTC)
    except (ZoneInfoNotFoundError, ValueError, OverflowError):
        return datetime.combine(day, time.min, UTC)
