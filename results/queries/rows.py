"""From model rows to the shapes that queries return."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from results.models import Run, TestCase
from results.queries.shapes import CaseRow, CaseStats, Counts, RunRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

_COUNTS = tuple(field.name for field in fields(Counts))
# What a list needs of a run; the rest may be long.
RUN_FIELDS = (
    "project_id",
    "name",
    "environment",
    "branch",
    "commit",
    "head_sha",
    "pr",
    "ci_url",
    "outcome",
    "instead",
    "failed_outside",
    "leaks",
    "leaks_raised",
    "started_at",
    "started_from",
    "zoneless_start",
    "duration_s",
    "wall_s",
    "order",
    "attempts",
    "excluded_at",
    "bad",
    "branch_class",
    *_COUNTS,
)


def run_row(run: Run) -> RunRow:
    return RunRow(
        id=run.pk,
        project_id=run.project_id,
        name=run.name,
        environment=run.environment,
        branch=run.branch,
        commit=run.commit,
        head_sha=run.head_sha or run.commit,
        pr=run.pr,
        ci_url=run.ci_url,
        outcome=run.outcome,
        instead=run.instead,
        failed_outside=run.failed_outside,
        leaks=run.leaks,
        leaks_raised=run.leaks_raised,
        started_at=run.started_at,
        started_from=run.started_from,
        zoneless_start=run.zoneless_start,
        duration_s=run.duration_s,
        wall_s=run.wall_s,
        order=run.order,
        attempts=run.attempts,
        counts=Counts(**{name: getattr(run, name) for name in _COUNTS}),
        excluded=run.excluded_at is not None,
        bad=run.bad,
    )


def case_row(
    case: TestCase, *, gone_before: datetime, stats: CaseStats | None = None
) -> CaseRow:
    return CaseRow(
        id=case.pk,
        project_id=case.project_id,
        number=case.number,
        nodeid=case.nodeid,
        file=case.file,
        suite=case.suite,
        name=case.name,
        params=case.params,
        line=case.line,
        state="gone" if case.last_seen < gone_before else "active",
        first_seen=case.first_seen,
        last_seen=case.last_seen,
        first_run=case.first_run_id,
        stats=stats or CaseStats(),
    )


def names_of(project_id: int, numbers: Iterable[int]) -> dict[int, tuple[int, str]]:
    """Return (id, node id) of test cases by number; one query."""
    rows = TestCase.objects.filter(
        project_id=project_id, number__in=sorted(set(numbers))
    )
    return {
        number: (pk, nodeid)
        for number, pk, nodeid in rows.values_list("number", "pk", "nodeid")
    }


def nodeids_of(case_ids: Sequence[int]) -> dict[int, str]:
    """Return node ids of test cases by id; one query."""
    rows = TestCase.objects.filter(pk__in=sorted(set(case_ids)))
    return dict(rows.values_list("pk", "nodeid"))
