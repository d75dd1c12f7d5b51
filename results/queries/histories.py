"""A test's history: its results run by run, read from its own chunk only."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from django.db.models import Count, Exists, Max, Min, OuterRef, Q

from formats.outcomes import BY_CODE, CODE, FAILING
from results import blocks
from results.blocks import Flag
from results.loading import load_rosters
from results.merging import Entries, Merged, job_codes, merge_entries
from results.models import Block, Failure, Run, Shard, TestCase
from results.queries import cursors
from results.queries.leaks import leaking_runs
from results.queries.shapes import CaseFailures, HistoryCell, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_FAILING = [CODE[outcome] for outcome in FAILING]


_BLOCK_FIELDS = (
    "shard__roster_id",
    "shard__run_id",
    "shard__job",
    "shard__index",
    "shard__attempt",
    "shard__upload_id",
)


class _Run(NamedTuple):
    """What a cell shows of its run; the fields' names are the columns'."""

    id: int
    name: str
    started_at: datetime
    branch: str
    commit: str
    pr: int | None
    environment: dict[str, str]
    branch_class: str
    excluded_at: datetime | None


class _Text(NamedTuple):
    failure: int
    outcome: int
    message: str
    group: str


def history(
    case_id: int, *, limit: int = 100, before: str | None = None
) -> Page[HistoryCell]:
    """Return a test's results, one a run, the newest run first.

    A page may hold fewer than `limit` and still have a next one: in some runs of the
    page the test did not take part.
    """
    place = cursors.read_moment(before) if before is not None else None
    case = TestCase.objects.filter(pk=case_id).only("number", "project_id").first()
    if case is None:
        return Page([])
    chunk = case.number // blocks.CHUNK
    runs = Run.objects.filter(_has_chunk(case, chunk), project_id=case.project_id)
    if place:
        moment, pk = place
        runs = runs.filter(Q(started_at__lt=moment) | Q(started_at=moment, pk__lt=pk))
    rows = runs.order_by("-started_at", "-pk").values_list(*_Run._fields)
    found = [_Run(*row) for row in rows[: limit + 1]]
    shown = found[:limit]
    merged = _results(case, chunk, shown)
    texts = _texts(case_id, shown)
    leaking = leaking_runs(case_id, (run.id for run in shown))
    cells = [
        _cell(shown[number], merged, row, texts, leaking)
        for row, number in enumerate(merged.columns.tests.tolist())
    ]
    if len(found) <= limit:
        return Page(cells)
    return Page(cells, cursors.write_moment(shown[-1].started_at, shown[-1].id))


def failures(case_id: int, *, limit: int = 20) -> list[CaseFailures]:
    """Group a test's failures by fingerprint, the newest group first."""
    mine = Failure.objects.filter(test_id=case_id, outcome__in=_FAILING)
    groups = list(
        mine.values("detail__fingerprint")
        .annotate(
            total=Count("pk"),
            first_at=Min("run__started_at"),
            last_at=Max("run__started_at"),
            newest=Max("pk"),
        )
        .order_by("-last_at", "-newest")[:limit]
    )
    newest = {
        failure.pk: failure
        for failure in Failure.objects.select_related("detail").filter(
            pk__in=[group["newest"] for group in groups]
        )
    }
    return [
        CaseFailures(
            group=bytes(group["detail__fingerprint"]).hex(),
            title=newest[group["newest"]].detail.title,
            message=newest[group["newest"]].detail.message,
            total=group["total"],
            first_at=group["first_at"],
            last_at=group["last_at"],
            last_run=newest[group["newest"]].run_id,
            last_failure=group["newest"],
        )
        for group in groups
    ]


def _has_chunk(case: TestCase, chunk: int) -> Exists:
    """Nested, so that each run looks only at its own shards, by whole keys."""
    block = Block.objects.filter(
        project_id=case.project_id, chunk=chunk, shard=OuterRef("pk")
    )
    return Exists(Shard.objects.filter(Exists(block), run=OuterRef("pk")))


def _results(case: TestCase, chunk: int, runs: Sequence[_Run]) -> Merged:
    """Merge the test's results in all these runs at once, numbered by their place."""
    places = {run.id: place for place, run in enumerate(runs)}
    blocks_of = Block.objects.filter(
        project_id=case.project_id, chunk=chunk, shard__run_id__in=list(places)
    )
    rows = list(blocks_of.values_list("data", *_BLOCK_FIELDS))
    rosters = load_rosters({row[1] for row in rows})
    at = {pk: _find(tests, chunk, case.number) for pk, tests in rosters.items()}
    jobs = job_codes(row[3] for row in rows)
    told = [
        (
            *blocks.decode_one(bytes(data), place),
            (places[run_id], jobs[job], index, attempt, upload),
        )
        for data, roster, run_id, job, index, attempt, upload in rows
        if (place := at[roster]) is not None
    ]
    keys = np.array([one[4] for one in told], np.int64).reshape(-1, 5)
    columns = blocks.Columns(
        keys[:, 0].astype(np.int32),
        np.array([one[0] for one in told], np.uint8),
        np.array([one[1] for one in told], np.uint8),
        np.array([one[2] for one in told], np.uint16),
        np.array([one[3] for one in told], np.float64),
    )
    source = np.arange(len(told), dtype=np.int32)
    return merge_entries(
        Entries(columns, keys[:, 1], keys[:, 2], keys[:, 3], keys[:, 4], source)
    )


def _find(tests: NDArray[np.int32], chunk: int, number: int) -> int | None:
    """Return where the test stands in its chunk; None where the roster lacks it."""
    part = tests[blocks.chunk_slice(tests, chunk)]
    at = int(np.searchsorted(part, number))
    return at if at < len(part) and part[at] == number else None


def _texts(case_id: int, runs: Sequence[_Run]) -> dict[int, list[_Text]]:
    """Return the texts of the test's failures by run, the last told last."""
    found: dict[int, list[_Text]] = {}
    rows = Failure.objects.filter(test_id=case_id, run_id__in=[run.id for run in runs])
    for run_id, pk, outcome, message, group in rows.order_by(
        "shard__attempt", "pk"
    ).values_list("run_id", "pk", "outcome", "detail__message", "detail__fingerprint"):
        text = _Text(pk, outcome, message, bytes(group).hex())
        found.setdefault(run_id, []).append(text)
    return found


def _cell(
    run: _Run,
    merged: Merged,
    row: int,
    texts: dict[int, list[_Text]],
    leaking: set[int],
) -> HistoryCell:
    columns = merged.columns
    code, flags = int(columns.outcome[row]), int(columns.flags[row])
    duration = float(columns.duration[row])
    told = texts.get(run.id, [])
    fitting = [text for text in told if text.outcome == code]
    if not fitting and flags & Flag.FLAKY:
        fitting = told
    text = fitting[-1] if fitting else None
    return HistoryCell(
        run=run.id,
        run_name=run.name,
        started_at=run.started_at,
        outcome=BY_CODE[code].value,
        flaky=bool(flags & Flag.FLAKY),
        leaking=run.id in leaking,
        conflict=bool(flags & Flag.CONFLICT),
        attempts=int(columns.attempts[row]),
        duration_s=None if np.isnan(duration) else duration,
        branch=run.branch,
        commit=run.commit,
        pr=run.pr,
        environment=run.environment,
        branch_class=run.branch_class,
        excluded=run.excluded_at is not None,
        message=text.message if text else "",
        failure=text.failure if text else None,
        failure_group=text.group if text else None,
    )
