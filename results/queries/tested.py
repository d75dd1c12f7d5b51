"""Reads for comparing pull requests with their base: runs at commits, and what each run
shows of its failing and leaking tests.

Guarantees: a fixed number of queries, however many runs are asked for at once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from formats.outcomes import BY_CODE, CODE, FAILING, Outcome
from results.models import Counter, Failure, Leak, Run, RunOutcome, TestCase
from results.queries.merged import load_runs
from results.queries.rows import names_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from django.db.models import QuerySet
    from numpy.typing import NDArray

    from results.queries.merged import Loaded

_FAILING = [CODE[outcome] for outcome in sorted(FAILING)]
_NOT_RUN = [CODE[Outcome.SKIPPED]]
_WHOLE = (RunOutcome.PASSED, RunOutcome.FAILED)
_FIELDS = (
    *("project_id", "name", "branch", "commit", "head_sha", "base_sha", "pr"),
    *("base_branch", "merge_base", "environment", "environment_key", "outcome"),
    *("started_at", "committed_at", "excluded_at", "version", "completeness"),
    *("failed_outside", "facts_deleted", "tests", "failed"),
    "errors",
)


@dataclass(frozen=True, slots=True)
class RunAt:
    """A run and where it ran. `complete`: all its parts are in, none is damaged."""

    id: int
    name: str
    branch: str
    commit: str
    head: str
    base_sha: str
    base_branch: str
    merge_base: str
    pr: int | None
    environment: Mapping[str, str]
    environment_key: str
    outcome: str
    complete: bool
    started_at: datetime
    committed_at: datetime | None
    failed_outside: bool
    left_out: bool  # by a person, or by retention
    version: int
    tests: int
    failing: int
    missing: list[int]
    expected: int


@dataclass(frozen=True, slots=True)
class Failed:
    """One failing test of a run; `fingerprint` "" where it came without a text."""

    test: int
    number: int
    nodeid: str
    kind: str  # failed or error
    fingerprint: str
    title: str
    message: str
    failure: int | None


@dataclass(frozen=True, slots=True)
class Leaked:
    """One leak of a run; `what` is equal for the same leak of the same test."""

    test: int | None
    nodeid: str | None
    what: str
    kind: str
    gate: str
    items: list[str]
    item_count: int
    message: str
    recipe: str
    enforced: bool
    leak: int


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What a run shows. `tests` and `ran` are numbers, rising; a skipped one is in
    `tests` alone."""

    run: int
    version: int
    tests: NDArray[np.int32]
    ran: NDArray[np.int32]
    failed: dict[int, Failed] = field(default_factory=dict)  # by number
    leaked: dict[tuple[int | None, str], Leaked] = field(default_factory=dict)

    def has(self, number: int) -> bool:
        """Tell whether the run has this test, were it skipped."""
        return _holds(self.tests, number)

    def executed(self, number: int) -> bool:
        return _holds(self.ran, number)


def run_at(run_id: int) -> RunAt | None:
    found = runs_by_id([run_id])
    return found[0] if found else None


def runs_by_id(ids: Iterable[int]) -> list[RunAt]:
    """Return runs, the newest first."""
    return _rows(Run.objects.filter(pk__in=list(ids)))


def runs_of_pull(project_id: int, number: int, *, most: int = 60) -> list[RunAt]:
    """Return a pull request's newest runs, the newest first."""
    return _rows(Run.objects.filter(project_id=project_id, pr=number), most=most)


def runs_of_branches(
    project_id: int,
    branches: Collection[str],
    *,
    environments: Collection[str] = (),
    before: datetime | None = None,
    since: datetime | None = None,
    most: int = 60,
) -> list[RunAt]:
    """Return runs of these branches outside of pull requests, the newest first."""
    runs = Run.objects.filter(
        project_id=project_id, branch__in=list(branches), pr__isnull=True
    )
    if environments:
        runs = runs.filter(environment_key__in=list(environments))
    if before is not None:
        runs = runs.filter(started_at__lte=before)
    if since is not None:
        runs = runs.filter(started_at__gte=since)
    return _rows(runs, most=most)


def epoch_of(project_id: int) -> str:
    """Return what a memory of a project's runs is bound to: a restored database has
    another one."""
    mine = Counter.objects.filter(project_id=project_id)
    return mine.values_list("epoch", flat=True).first() or ""


def failing_in(
    run_ids: Collection[int], test_ids: Collection[int]
) -> dict[int, set[int]]:
    """Return which of these tests may be failing or leaking in which of these runs:
    no other one is."""
    found: dict[int, set[int]] = defaultdict(set)
    rows = Failure.objects.filter(
        run_id__in=list(run_ids), test_id__in=list(test_ids), outcome__in=_FAILING
    )
    for run, test in rows.values_list("run_id", "test_id"):
        found[run].add(test)
    leaks = Leak.objects.filter(
        run_id__in=list(run_ids), test_id__in=list(test_ids), counted=True
    )
    for run, test in leaks.exclude(test=None).values_list("run_id", "test_id"):
        found[run].add(test or 0)
    return found


def numbers_of(test_ids: Collection[int]) -> dict[int, int]:
    """Return the numbers of tests by their ids."""
    rows = TestCase.objects.filter(pk__in=list(test_ids))
    return dict(rows.values_list("pk", "number"))


def shown(runs: Collection[RunAt], *, project_id: int) -> dict[int, Shown]:
    """Return what runs show, by their id."""
    versions = {run.id: run.version for run in runs}
    loaded = load_runs(versions)
    failing = {run: _failing(one) for run, one in loaded.items()}
    numbers = {number for some in failing.values() for number in some}
    names = names_of(project_id, numbers)
    texts = _texts(loaded, failing)
    leaks = _leaks(versions)
    return {
        run: Shown(
            run,
            versions[run],
            one.merged.columns.tests,
            one.merged.columns.tests[~np.isin(one.merged.columns.outcome, _NOT_RUN)],
            {
                number: _failed(number, place, names, texts.get((run, number)))
                for number, place in failing[run].items()
            },
            leaks.get(run, {}),
        )
        for run, one in loaded.items()
    }


type _Place = tuple[int, int]  # outcome and shard that count
type _Text = tuple[int, str, str, str]  # failure, fingerprint, title, message


def _rows(runs: QuerySet[Run], *, most: int = 1_000) -> list[RunAt]:
    found = runs.only(*_FIELDS).order_by("-started_at", "-pk")[:most]
    return [_row(run) for run in found]


def _row(run: Run) -> RunAt:
    return RunAt(
        id=run.pk,
        name=run.name,
        branch=run.branch,
        commit=run.commit,
        head=run.head_sha or run.commit,
        base_sha=run.base_sha,
        base_branch=run.base_branch,
        merge_base=run.merge_base,
        pr=run.pr,
        environment=run.environment,
        environment_key=run.environment_key,
        outcome=run.outcome,
        complete=run.outcome in _WHOLE and not run.failed_outside,
        started_at=run.started_at,
        committed_at=run.committed_at,
        failed_outside=run.failed_outside,
        left_out=run.excluded_at is not None or run.facts_deleted,
        version=run.version,
        tests=run.tests,
        failing=run.failed + run.errors,
        missing=run.completeness.get("missing", []),
        expected=run.completeness.get("expected_shards", 0),
    )


def _failing(loaded: Loaded) -> dict[int, _Place]:
    columns, source = loaded.merged.columns, loaded.merged.source
    rows = np.flatnonzero(np.isin(columns.outcome, _FAILING))
    return {
        int(columns.tests[row]): (
            int(columns.outcome[row]),
            loaded.shards[int(source[row])].pk,
        )
        for row in rows
    }


def _texts(
    loaded: Mapping[int, Loaded], failing: Mapping[int, Mapping[int, _Place]]
) -> dict[tuple[int, int], _Text]:
    """Return the texts of the failures that count, by run and number."""
    rows = Failure.objects.filter(
        run_id__in=list(loaded), attempt=0, outcome__in=_FAILING
    )
    fields = ("run_id", "test__number", "outcome", "shard_id", "pk")
    texts = ("detail__fingerprint", "detail__title", "detail__message")
    found = {}
    for run, number, outcome, shard, pk, group, title, message in rows.values_list(
        *fields, *texts
    ):
        if failing[run].get(number) == (outcome, shard):
            found[run, number] = (pk, bytes(group).hex(), title, message)
    return found


def _failed(
    number: int,
    place: _Place,
    names: Mapping[int, tuple[int, str]],
    text: _Text | None,
) -> Failed:
    test, nodeid = names.get(number, (0, f"test {number}"))
    failure, fingerprint, title, message = text or (None, "", "", "")
    kind = BY_CODE[place[0]].value
    return Failed(test, number, nodeid, kind, fingerprint, title, message, failure)


def _leaks(
    run_ids: Iterable[int],
) -> dict[int, dict[tuple[int | None, str], Leaked]]:
    rows = Leak.objects.filter(
        run_id__in=list(run_ids), counted=True, opted_out=False
    ).select_related("test")
    found: dict[int, dict[tuple[int | None, str], Leaked]] = defaultdict(dict)
    for row in rows.order_by("run_id", "shard_id", "place"):
        what = bytes(row.what).hex()
        found[row.run_id].setdefault(
            (row.test.number if row.test else None, what),
            Leaked(
                test=row.test_id,
                nodeid=row.test.nodeid if row.test else None,
                what=what,
                kind=row.kind,
                gate=row.gate,
                items=list(row.items),
                item_count=row.item_count,
                message=row.message,
                recipe=row.recipe,
                enforced=row.enforced,
                leak=row.pk,
            ),
        )
    return found


def _holds(numbers: NDArray[np.int32], number: int) -> bool:
    at = int(np.searchsorted(numbers, number))
    return at < len(numbers) and int(numbers[at]) == number
