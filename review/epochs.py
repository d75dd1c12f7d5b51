"""Epochs: "fixed at commit X" starts a new count of a test and keeps the old one.

Guarantees: an epoch is append only; the count that ended is stored with it, as it was
seen then; what is counted anew are the runs of the default branch (of all branches,
where that one has none), by whole days from totals that are kept for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Min

from analysis.fixed import FixProof, proof
from formats.outcomes import FAILING
from projects import audit
from projects.days import today_in
from results.models import Day, Run, TestCase
from results.queries import cursors
from results.queries.histories import history
from results.queries.stretches import Tried, tried_since
from results.storable import storable
from review.deciding import Undecidable
from review.models import Change, Epoch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from projects.models import Project

WINDOW = timedelta(days=90)  # of the count that ends, at the most
_AT_ONCE = 200
_FAILING = frozenset(outcome.value for outcome in FAILING)
_NOT_EXECUTED = frozenset({"skipped", "xfailed"})
_LONGEST = {"commit": 64, "note": 2_000}


@dataclass(frozen=True, slots=True)
class Progress:
    """An epoch with what was seen since, and what that is worth."""

    epoch: Epoch
    nodeid: str
    runs: int
    failed: int
    proof: FixProof


def begin(
    project: Project,
    test_id: int,
    *,
    by: str,
    now: datetime,
    commit: str = "",
    pr: int | None = None,
    note: str = "",
    week: str = "",
) -> Epoch:
    """Say that a test is fixed: from its commit's first run, or now, on it is counted
    anew."""
    for name, text in (("commit", commit), ("note", note)):
        if len(text) > _LONGEST[name]:
            raise Undecidable(f"a {name} has at most {_LONGEST[name]:,} characters")
    case = TestCase.objects.filter(project=project, pk=test_id).first()
    if case is None:
        raise Undecidable("this test is of another project")
    at = _start_of(project, commit.strip()) or now
    ended, today, since = _ended(project, case, at)
    with transaction.atomic():
        row = Epoch.objects.create(
            project=project,
            test=case,
            at=at,
            commit=storable(commit.strip()),
            pr=pr,
            note=storable(note.strip()),
            runs=ended.runs,
            failed=ended.failed,
            runs_that_day=today.runs,
            failed_that_day=today.failed,
            since=since,
            made_at=now,
            made_by=by[:200],
        )
        _tell(row, week=week)
    return row


def progress_of(
    project: Project, rows: Sequence[Epoch], *, until: datetime, kind: str | None
) -> list[Progress]:
    """Return what one class of branches saw since each of these epochs; one query."""
    newest = _newest(rows)
    tried = tried_since(
        project.pk,
        {row.test.number: today_in(project.zone, row.at) for row in newest},
        until=today_in(project.zone, until),
        branch_class=kind,
    )
    return [_progress(row, tried.get(row.test.number, Tried())) for row in newest]


def recent(
    project: Project, *, since: datetime, until: datetime, kind: str | None
) -> list[Progress]:
    """Return the newest epoch of each test that began in a stretch of time."""
    rows = Epoch.objects.filter(project=project, at__gte=since, at__lt=until)
    found = list(rows.select_related("test").order_by("-at", "-pk"))
    return progress_of(project, found, until=until, kind=kind)


def newest_of(project: Project, test_id: int, *, now: datetime) -> Progress | None:
    """Return the newest epoch of a test with what was seen since; None: there is none."""
    rows = Epoch.objects.filter(project=project, test_id=test_id).select_related("test")
    newest = rows.order_by("-at", "-pk").first()
    if newest is None:
        return None
    kind = branch_class(project)
    return progress_of(project, [newest], until=now, kind=kind)[0]


def branch_class(project: Project) -> str | None:
    """Return which branches count: the default one, where it has any totals."""
    has = Day.objects.filter(
        project=project, branch_class="default", data__isnull=False
    )
    return "default" if has.exists() else None


def _newest(rows: Sequence[Epoch]) -> list[Epoch]:
    newest: dict[int, Epoch] = {}
    for row in rows:
        other = newest.setdefault(row.test_id, row)
        if (row.at, row.pk) > (other.at, other.pk):
            newest[row.test_id] = row
    return list(newest.values())


def _progress(row: Epoch, tried: Tried) -> Progress:
    """A day's totals hold what was before the epoch too: that is taken off."""
    failed = max(tried.failed - row.failed_that_day, 0)
    runs = max(tried.runs - row.runs_that_day, failed)
    return Progress(
        epoch=row,
        nodeid=row.test.nodeid,
        runs=runs,
        failed=failed,
        proof=proof(
            old_events=min(row.failed, row.runs),
            old_trials=row.runs,
            relevant=runs,
            failures=failed,
        ),
    )


def _start_of(project: Project, commit: str) -> datetime | None:
    """Return when the first run of a commit started, if one is known."""
    if not commit:
        return None
    of_commit = Run.objects.filter(project=project, commit=commit)
    first: datetime | None = of_commit.aggregate(at=Min("started_at"))["at"]
    return first


def _ended(
    project: Project, case: TestCase, at: datetime
) -> tuple[Tried, Tried, datetime]:
    """Return the count that ends, its part of the last day, and since when it ran."""
    day = today_in(project.zone, at)
    last = Epoch.objects.filter(test=case, at__lte=at).order_by("-at", "-pk").first()
    since = max(last.at, at - WINDOW) if last else at - WINDOW
    first = today_in(project.zone, since)
    kind = branch_class(project)
    number = case.number
    whole = tried_since(project.pk, {number: first}, branch_class=kind)[number]
    later = tried_since(project.pk, {number: day}, branch_class=kind)[number]
    of_day = _before(project, case, at, kind)
    runs = whole.runs - later.runs + of_day.runs
    failed = whole.failed - later.failed + of_day.failed
    if last and last.at >= since:
        runs, failed = runs - last.runs_that_day, failed - last.failed_that_day
    ended = Tried(max(runs, failed, 0), max(failed, 0))
    return ended, of_day, since


def _before(project: Project, case: TestCase, at: datetime, kind: str | None) -> Tried:
    """Count the results of a day up to a moment of it, read one by one."""
    midnight = datetime.combine(
        today_in(project.zone, at), time.min, ZoneInfo(project.zone)
    )
    runs = failed = 0
    cursor: str | None = cursors.write_moment(at, 0)
    while cursor is not None:
        page = history(case.pk, limit=_AT_ONCE, before=cursor)
        for cell in page.items:
            if cell.started_at < midnight:
                return Tried(runs, failed)
            if cell.excluded or (kind and cell.branch_class != kind):
                continue
            runs += cell.outcome not in _NOT_EXECUTED
            failed += cell.outcome in _FAILING
        cursor = page.next
    return Tried(runs, failed)


def _tell(row: Epoch, *, week: str) -> None:
    subject = f"test:{row.test_id}"
    after = row.commit or row.at.isoformat()
    Change.objects.create(
        project_id=row.project_id,
        subject=subject,
        week=week,
        at=row.made_at,
        by=row.made_by,
        what="fixed",
        after=after,
        reason=row.note,
    )
    audit.record(
        row.project,
        actor=row.made_by,
        action="test.fixed",
        subject=subject,
        detail={"at": after, "runs": row.runs, "failed": row.failed},
    )
