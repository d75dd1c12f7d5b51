"""Which commit of a pull request a verdict speaks of, and the runs there."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from formats.context import matches_commit
from pulls.models import Commit
from results.queries import tested

if TYPE_CHECKING:
    from pulls.models import Pull
    from results.queries.tested import RunAt

MOST_RUNS = 20  # of one head and environment


@dataclass(frozen=True, slots=True)
class Head:
    """`runs` by environment, the newest first. `untested`: the head as its host tells
    it, where no run there is known; the verdict then speaks of an older one."""

    sha: str = ""
    runs: dict[str, list[RunAt]] = field(default_factory=dict)
    untested: str = ""
    queued: bool = False

    @property
    def newest(self) -> RunAt | None:
        every = [run for some in self.runs.values() for run in some]
        return max(every, key=lambda run: (run.started_at, run.id), default=None)


def head_of(pull: Pull) -> Head:
    """Return the head that a verdict can speak of."""
    runs = [
        run
        for run in tested.runs_of_pull(pull.project_id, pull.number)
        if not run.left_out and run.head
    ]
    queue = _queued(pull)
    runs += queue
    runs.sort(key=lambda run: (run.started_at, run.id), reverse=True)
    told = pull.head_sha
    if not runs:
        return Head(told, {}, told)
    newest = runs[0]
    at_told = [run for run in runs if told and matches(run.head, told)]
    if newest in queue or (at_told and not queue):
        sha = newest.head if newest in queue else told
    elif at_told:
        sha = told
    elif told and pull.refs_at is not None and newest.started_at <= pull.refs_at:
        return Head(newest.head, _by_environment(runs, newest.head), told)
    else:
        sha = newest.head
    return Head(sha, _by_environment(runs, sha), "", queued=newest in queue)


def matches(one: str, other: str) -> bool:
    """Tell whether both name one commit, whichever is the shorter."""
    return matches_commit(one, other) or matches_commit(other, one)


def _queued(pull: Pull) -> list[RunAt]:
    """Return the runs with which a merge queue tried this one."""
    if pull.state != "open":
        return []
    tried = Commit.objects.filter(project_id=pull.project_id, queued=pull.number)
    ids = list(tried.values_list("runs__run_id", flat=True))
    found = tested.runs_by_id([one for one in ids if one])
    return [run for run in found if not run.left_out]


def _by_environment(runs: list[RunAt], sha: str) -> dict[str, list[RunAt]]:
    found: dict[str, list[RunAt]] = defaultdict(list)
    for run in runs:
        if matches(run.head, sha) and len(found[run.environment_key]) < MOST_RUNS:
            found[run.environment_key].append(run)
    return {key: some for key, some in found.items() if some}
