"""When a test was last seen: moved once a day, not with every run.

Guarantees: `last_seen` never moves back, and is never more than a day behind.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from results.models import TestCase
from results.summary import day_of

if TYPE_CHECKING:
    from results.day_totals import Rebuilt
    from results.models import Day

_AT_ONCE = 500


def move_last_seen(day: Day, rebuilt: Rebuilt) -> None:
    """Move the tests of a day that were not seen on it or later before."""
    if not rebuilt.starts:
        return
    zone = day.project.zone
    cases = TestCase.objects.filter(project_id=day.project_id)
    behind = cases.filter(last_seen__lt=max(rebuilt.starts))
    moved: dict[int, list[int]] = defaultdict(list)
    for number, last_seen in behind.values_list("number", "last_seen"):
        place = int(rebuilt.seen[number]) if number < len(rebuilt.seen) else -1
        if place >= 0 and day_of(last_seen, zone) < day.date:
            moved[place].append(number)
    for place, numbers in moved.items():
        start = rebuilt.starts[place]
        for at in range(0, len(numbers), _AT_ONCE):
            some = cases.filter(number__in=numbers[at : at + _AT_ONCE])
            some.filter(last_seen__lt=start).update(last_seen=start)
