"""The agenda of a week from the facts as they are.

Guarantees: a fixed number of queries, whatever the data; nothing is written; what is
new is what became so after the last snapshot before the week, so that nothing falls
between two reviews.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from review import leaking, pressing, proving
from review.epochs import branch_class
from review.shapes import Agenda, Section
from review.trending import trends_of

if TYPE_CHECKING:
    from datetime import datetime

    from projects.models import Project
    from review.shapes import Item
    from review.weeks import IsoWeek

SHOWN = 50  # items of a section that are listed


def gather(
    project: Project,
    week: IsoWeek,
    *,
    now: datetime,
    since: datetime | None = None,
    carried: list[Item] | None = None,
) -> Agenda:
    """Return the agenda as of now, or of the week's end where that is earlier."""
    begins, ends = week.begins(project.zone), week.ends(project.zone)
    as_of = min(now, ends)
    since = min(since or begins, begins)
    kind = branch_class(project)
    sections = {
        Section.CARRIED: carried or [],
        **found_new(project, since=since, until=as_of),
        Section.COST: leaking.worst_by_cost(project),
        Section.OVERDUE: pressing.overdue(project, since=since, until=as_of),
        Section.FIXED: proving.fixed(project, until=as_of, kind=kind),
    }
    told = trends_of(project, week, kind=kind)
    return Agenda(
        week=week.name,
        as_of=as_of,
        since=since,
        sections={name: sections[name][:SHOWN] for name in Section},
        totals={name: len(sections[name]) for name in Section},
        trends=told.trends,
        bad_runs=told.bad_runs,
        runs=told.runs,
    )


def found_new(
    project: Project, *, since: datetime, until: datetime
) -> dict[Section, list[Item]]:
    """Return what is new in a stretch of time."""
    return {
        Section.LEAKERS: leaking.new_leakers(project, since=since, until=until),
        Section.FLAKY: leaking.newly_flaky(project, since=since, until=until),
        Section.BLOCKED: pressing.newly_blocked(project, since=since, until=until),
        Section.FINDINGS: pressing.new_findings(project, since=since, until=until),
    }
