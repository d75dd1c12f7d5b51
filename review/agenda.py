"""Reading a week's review: a stored snapshot, or the facts as they are.

Guarantees: nothing is written; a fixed number of queries; a week with a snapshot reads
as it was then, whatever happened since; what was not decided stands first in the week
after, until it is decided or nothing speaks of it any more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from findings.filters import LIVE, Filters
from findings.models import Finding
from leaks.models import Leaker, LeakerState, Verdict
from projects.days import today_in
from review.gathering import found_new, gather
from review.models import Choice, Week
from review.pressing import blocked_pulls
from review.shapes import Item, Kind, Review, Section, decides, from_json
from review.standings import held_of
from review.weeks import IsoWeek, week_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from projects.models import Project


class NotYet(LookupError):
    """The week has not begun."""


def current_week(project: Project, *, now: datetime) -> IsoWeek:
    """Return the week that it is in the project's zone."""
    return week_of(today_in(project.zone, now))


def review_of(project: Project, week: IsoWeek, *, now: datetime) -> Review:
    """Return a week's review; raise `NotYet` for one that has not begun."""
    if week.begins(project.zone) > now:
        raise NotYet(f"{week.name} has not begun")
    names = (week.name, week.before.name)
    rows = {
        row.name: row for row in Week.objects.filter(project=project, name__in=names)
    }
    row, before = rows.get(week.name), rows.get(week.before.name)
    choices = _choices(rows.values())
    if row is not None and row.frozen_at is not None:
        agenda = from_json(row.agenda)
    else:
        carried = _carried(project, week, before, choices, now=now)
        since = before.frozen_at if before is not None else None
        agenda = gather(project, week, now=now, since=since, carried=carried)
    return Review(
        week=week,
        agenda=agenda,
        choices=choices.get(week.name, {}),
        row=row,
        stored=row is not None and row.frozen_at is not None,
        past=week.ends(project.zone) <= now,
    )


def weeks_of(project_id: int, *, limit: int = 26) -> list[Week]:
    """Return the weeks that have a snapshot or a decision, the newest first."""
    rows = Week.objects.filter(project_id=project_id).defer("agenda")
    return list(rows.order_by("-name")[:limit])


def _choices(weeks: Iterable[Week]) -> dict[str, dict[str, Choice]]:
    names = {week.pk: week.name for week in weeks}
    found: dict[str, dict[str, Choice]] = {}
    for choice in Choice.objects.filter(week__in=list(names)):
        found.setdefault(names[choice.week_id], {})[choice.subject] = choice
    return found


def _carried(
    project: Project,
    week: IsoWeek,
    before: Week | None,
    choices: dict[str, dict[str, Choice]],
    *,
    now: datetime,
) -> list[Item]:
    """Return what the week before left undecided, the longest carried first."""
    if before is not None and before.frozen_at is not None:
        agenda = from_json(before.agenda)
        items = [item for section, item in agenda.items() if section != Section.FIXED]
    else:
        begins = week.before.begins(project.zone)
        new = found_new(project, since=begins, until=week.begins(project.zone))
        items = [item for some in new.values() for item in some]
    decided = choices.get(week.before.name, {})
    left = [item for item in items if not decides(decided.get(item.subject))]
    once = {item.subject: item for item in reversed(left)}
    live = _live(project, list(once.values())[::-1], now=now)
    again = [replace(item, weeks=item.weeks + 1) for item in live]
    return sorted(again, key=lambda item: -item.weeks)


def _live(project: Project, items: list[Item], *, now: datetime) -> list[Item]:
    """Leave out what nothing speaks of any more, or what was decided elsewhere."""
    tests = {int(i.figures["test"]) for i in items if "test" in i.figures}
    findings = {item.id for item in items if item.kind is Kind.FINDING}
    pulls = {item.id for item in items if item.kind is Kind.PULL}
    leaking = Leaker.objects.filter(test__in=tests, state=LeakerState.OPEN)
    unstable = Verdict.objects.filter(test__in=tests)
    held = held_of(tests, now=now)
    settled = {test for test, one in held.items() if one.state or one.fix_by}
    speaks = {
        *leaking.values_list("test_id", flat=True),
        *unstable.values_list("test_id", flat=True),
    } - settled
    live = Filters(state=LIVE).condition(now=now)
    open_ = Finding.objects.filter(live, project=project, pk__in=findings)
    alive = {
        *(f"test:{test}" for test in speaks),
        *(f"finding:{pk}" for pk in open_.values_list("pk", flat=True)),
        *(f"pull:{number}" for number in blocked_pulls(project, pulls)),
    }
    return [item for item in items if item.subject in alive]
