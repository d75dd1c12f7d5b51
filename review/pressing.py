"""What the agenda says of findings, pull requests and what is overdue.

Guarantees: a fixed number of queries; the most pressing first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import F, Q

from findings.filters import LIVE, Filters
from findings.models import Finding
from projects.days import today_in
from pulls.models import State as PullState
from pulls.models import Verdict, Word
from review import wording
from review.models import Standing
from review.shapes import Item, Kind

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import date, datetime

    from projects.models import Project

_MOST = 500
_PRESSING = ("P0", "P1")


def new_findings(project: Project, *, since: datetime, until: datetime) -> list[Item]:
    """Return live P0 and P1 findings that came, or came again, in a stretch."""
    live = Filters(state=LIVE).condition(now=until)
    rows = Finding.objects.filter(
        live,
        project=project,
        severity__in=_PRESSING,
        opened_at__gte=since,
        opened_at__lt=until,
    )
    return [
        finding_item(row, _raised(row)) for row in rows.order_by("rank", "pk")[:_MOST]
    ]


def newly_blocked(project: Project, *, since: datetime, until: datetime) -> list[Item]:
    """Return pull requests that began to wait for others in a stretch of time."""
    rows = Verdict.objects.filter(
        pull__project=project,
        pull__state=PullState.OPEN,
        word=Word.BLOCKED,
        changed_at__gte=since,
        changed_at__lt=until,
    )
    found = rows.select_related("pull").order_by("changed_at", "pk")[:_MOST]
    return [pull_item(row) for row in found]


def blocked_pulls(project: Project, numbers: Collection[int]) -> set[int]:
    """Return those of some pull requests that still wait for others."""
    rows = Verdict.objects.filter(
        pull__project=project,
        pull__state=PullState.OPEN,
        pull__number__in=list(numbers),
        word=Word.BLOCKED,
    )
    return set(rows.values_list("pull__number", flat=True))


def pull_item(row: Verdict, *, weeks: int = 0) -> Item:
    pull = row.pull
    return Item(
        subject=f"pull:{pull.number}",
        kind=Kind.PULL,
        id=pull.number,
        title=f"#{pull.number} {pull.title}".strip(),
        why=row.sentence,
        figures={
            "verdict": row.word,
            "author": pull.author,
            "waits_for": list(row.waits),
        },
        weeks=weeks,
    )


def overdue(project: Project, *, since: datetime, until: datetime) -> list[Item]:
    """Return findings past their due date, tests past their fix-by date, and
    quarantines that ended in the stretch."""
    live = Filters(state=LIVE).condition(now=until)
    late = Finding.objects.filter(live, project=project, due__lt=until)
    items = [
        finding_item(row, f"Due {row.due:%Y-%m-%d}: {_days(row.due, until)} late.")
        for row in late.order_by("due", "rank")[:_MOST]
    ]
    today = today_in(project.zone, until)
    ended = Q(quarantined_until__gte=since, quarantined_until__lte=until)
    rows = Standing.objects.filter(Q(fix_by__lt=today) | ended, project=project)
    found = rows.select_related("test", "test__leaker").order_by(
        F("fix_by").asc(nulls_last=True), "pk"
    )
    return [*(_late_test(row, today) for row in found[:_MOST]), *items]


def finding_item(row: Finding, why: str, *, weeks: int = 0) -> Item:
    return Item(
        subject=f"finding:{row.pk}",
        kind=Kind.FINDING,
        id=row.pk,
        title=row.title,
        why=why,
        figures={
            "severity": row.severity,
            "path": row.path,
            "line": row.line,
            "pr": row.pr,
            "owner": row.owner,
            "due": row.due.isoformat(),
            "state": row.state,
        },
        weeks=weeks,
    )


def _raised(row: Finding) -> str:
    where = f"{row.path}:{row.line}" if row.path and row.line else row.path
    parts = [f"{row.severity}{f' at {where}' if where else ''}"]
    if row.pr:
        parts.append(f"on #{row.pr}")
    parts.append(f"due {row.due:%Y-%m-%d}")
    return ", ".join(parts) + "."


def _days(then: datetime, now: datetime) -> str:
    return wording.counted(max((now - then).days, 0), "day")


def _late_test(row: Standing, today: date) -> Item:
    leaker = getattr(row.test, "leaker", None)
    if row.fix_by is not None and row.fix_by < today:
        late = wording.counted((today - row.fix_by).days, "day")
        whose = f" by {row.owner}" if row.owner else ""
        why = f"To be fixed{whose} until {row.fix_by}: {late} late."
    else:
        why = f"Its quarantine ended on {row.quarantined_until:%Y-%m-%d}."
    return Item(
        subject=f"test:{row.test_id}",
        kind=Kind.LEAKER if leaker else Kind.TEST,
        id=leaker.pk if leaker else row.test_id,
        title=row.test.nodeid,
        why=why,
        figures={
            "test": row.test_id,
            "owner": row.owner,
            "fix_by": row.fix_by.isoformat() if row.fix_by else None,
        },
    )
