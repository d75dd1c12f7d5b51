"""The results of one run: merged, the worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formats.outcomes import BY_CODE, CODE, FAILING, SEVERITY, Outcome
from results.blocks import Flag
from results.models import Failure, Run, TestCase
from results.queries import cursors
from results.queries.leaks import leaking_tests
from results.queries.merged import Loaded, load_runs
from results.queries.places import places
from results.queries.rows import names_of
from results.queries.shapes import Page, ResultRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from results.blocks import Columns

_BADNESS = np.array([5 - SEVERITY[outcome] for outcome in BY_CODE], np.int64)


def list_results(
    run_id: int,
    *,
    outcome: str | None = None,
    q: str | None = None,
    attempt: int | None = None,
    cursor: str | None = None,
    limit: int = 100,
) -> Page[ResultRow]:
    """List results, the worst first. `outcome` may be "failing" or "flaky" too.

    `q` is part of a node id; `attempt` gives what one attempt said, before merging.
    """
    after = cursors.read(cursor, int, int) if cursor is not None else None
    project_id = Run.objects.values_list("project_id", flat=True).filter(pk=run_id)
    project = project_id.first()
    if project is None:
        return Page([])
    loaded = load_runs([run_id], attempt=attempt)[run_id]
    columns = loaded.merged.columns
    rows = _chosen(columns, outcome, None if q is None else _matching(project, q))
    badness = _BADNESS[columns.outcome[rows]]
    rows = rows[np.lexsort((columns.tests[rows], badness))]
    if after is not None:
        rows = _after(columns, rows, int(after[0]), int(after[1]))
    shown = rows[:limit]
    items = _items(run_id, project, loaded, shown)
    if len(rows) <= limit:
        return Page(items)
    last = int(shown[-1])
    badness_of_last = int(_BADNESS[columns.outcome[last]])
    return Page(items, cursors.write(badness_of_last, int(columns.tests[last])))


def _chosen(
    columns: Columns, outcome: str | None, numbers: NDArray[np.int32] | None
) -> NDArray[np.intp]:
    fits = np.ones(len(columns), bool)
    if outcome == "flaky":
        fits &= (columns.flags & Flag.FLAKY) > 0
    elif outcome == "failing":
        fits &= np.isin(columns.outcome, [CODE[one] for one in FAILING])
    elif outcome is not None:
        fits &= columns.outcome == CODE[Outcome(outcome)]
    if numbers is not None:
        fits &= np.isin(columns.tests, numbers)
    return np.flatnonzero(fits)


def _matching(project_id: int, q: str) -> NDArray[np.int32]:
    found = TestCase.objects.filter(project_id=project_id, nodeid__icontains=q)
    return np.array(list(found.values_list("number", flat=True)), np.int32)


def _after(
    columns: Columns, rows: NDArray[np.intp], badness: int, number: int
) -> NDArray[np.intp]:
    own = _BADNESS[columns.outcome[rows]]
    later = (own > badness) | ((own == badness) & (columns.tests[rows] > number))
    kept: NDArray[np.intp] = rows[later]
    return kept


_PASSED = CODE[Outcome.PASSED]
_FAILURE_FIELDS = (
    "pk",
    "test__number",
    "shard_id",
    "attempt",
    "outcome",
    "detail__message",
    "detail__fingerprint",
)


@dataclass(frozen=True, slots=True)
class _Told:
    failure: int
    message: str
    group: str


def _items(
    run_id: int, project_id: int, loaded: Loaded, rows: NDArray[np.intp]
) -> list[ResultRow]:
    columns = loaded.merged.columns.take(rows)
    names = names_of(project_id, columns.tests.tolist())
    told = _told(run_id, loaded, rows, [pk for pk, _ in names.values()])
    where = places(loaded, rows)
    leaking = leaking_tests(run_id)
    items = []
    for at, (number, code, flags) in enumerate(
        zip(columns.tests.tolist(), columns.outcome, columns.flags, strict=True)
    ):
        pk, nodeid = names.get(number, (0, f"test {number}"))
        text = told.get(number)
        duration = float(columns.duration[at])
        worker, position = where[at]
        items.append(
            ResultRow(
                test=pk,
                nodeid=nodeid,
                outcome=BY_CODE[code].value,
                flaky=bool(flags & Flag.FLAKY),
                leaking=pk in leaking,
                conflict=bool(flags & Flag.CONFLICT),
                duplicate=bool(flags & Flag.DUPLICATE),
                attempts=int(columns.attempts[at]),
                duration_s=None if np.isnan(duration) else duration,
                worker=worker,
                position=position,
                message=text.message if text else "",
                failure_group=text.group if text else None,
                failure=text.failure if text else None,
            )
        )
    return items


def _told(
    run_id: int, loaded: Loaded, rows: NDArray[np.intp], case_ids: Sequence[int]
) -> dict[int, _Told]:
    """Return the text that belongs to each result: of the one that counts, else (of a
    flaky pass) of the latest failed attempt."""
    columns, source = loaded.merged.columns, loaded.merged.source
    counts = {
        int(columns.tests[row]): (
            int(columns.outcome[row]),
            loaded.shards[source[row]].pk,
            bool(columns.flags[row] & Flag.FLAKY),
        )
        for row in rows
    }
    attempts = {shard.pk: shard.attempt for shard in loaded.shards}
    found: dict[int, tuple[tuple[bool | int, ...], _Told]] = {}
    failures = Failure.objects.filter(run_id=run_id, test_id__in=case_ids)
    for pk, number, shard, attempt, outcome, message, group in failures.values_list(
        *_FAILURE_FIELDS
    ):
        if number not in counts or shard not in attempts:
            continue
        merged_outcome, counted, flaky = counts[number]
        if outcome != merged_outcome and not flaky:
            continue
        if outcome == _PASSED and shard != counted:
            continue  # a gate's words about another attempt
        rank = (
            outcome == merged_outcome,
            shard == counted,
            attempts[shard],
            attempt == 0,
            attempt,
            pk,
        )
        if number not in found or rank > found[number][0]:
            found[number] = rank, _Told(pk, message, bytes(group).hex())
    return {number: told for number, (_, told) in found.items()}
