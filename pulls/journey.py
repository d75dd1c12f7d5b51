"""The failing tests of the default branch over time, and what each fix earned.

Guarantees: four queries, whatever the data. One environment at a time, for numbers of
different suites have no difference; a point is the newest complete run of a commit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pulls.models import Commit, Repository, Tested
from pulls.shapes import JourneyPoint
from results.queries import tested

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from projects.models import Project
    from results.queries.tested import RunAt

MOST_RUNS = 2_000

type _Place = tuple[int, int]  # line and depth


@dataclass(frozen=True, slots=True)
class Journey:
    """`points` are the oldest first; `environments` are those one may ask for."""

    environment: Mapping[str, str]
    environments: list[Mapping[str, str]]
    points: list[JourneyPoint]

    @property
    def changes(self) -> list[JourneyPoint]:
        """The points at which the number changed, with the first one."""
        return [p for n, p in enumerate(self.points) if n == 0 or p.gone or p.come]


def journey(
    project: Project,
    *,
    since: datetime | None = None,
    environment: Mapping[str, str] | None = None,
) -> Journey:
    """Return the journey in one environment: the one asked for, or the most used."""
    row = Repository.objects.filter(project=project).first()
    branches = [project.default_branch, *(row.former if row else [])]
    runs = tested.runs_of_branches(project.pk, branches, since=since, most=MOST_RUNS)
    runs = [run for run in runs if run.complete and not run.left_out]
    names = {run.environment_key: run.environment for run in runs}
    used = Counter(run.environment_key for run in runs)
    wanted = [key for key, _ in used.most_common()]
    if environment is not None:
        wanted = [key for key in wanted if dict(names[key]) == dict(environment)]
    chosen = wanted[0] if wanted else ""
    kept = _one_a_commit([run for run in runs if run.environment_key == chosen])
    return Journey(
        names.get(chosen, {}), list(names.values()), _points(project.pk, kept)
    )


def _one_a_commit(runs: Sequence[RunAt]) -> list[RunAt]:
    """Return the newest run of each commit, in the order the commits came first."""
    newest: dict[str, RunAt] = {}
    for run in runs:  # the newest first
        newest.setdefault(run.commit or f"run {run.id}", run)
    order = list(dict.fromkeys(run.commit or f"run {run.id}" for run in reversed(runs)))
    return [newest[commit] for commit in order]


def _points(project_id: int, runs: Sequence[RunAt]) -> list[JourneyPoint]:
    places = {
        run: (line, depth)
        for run, line, depth in Tested.objects.filter(
            run_id__in=[run.id for run in runs]
        ).values_list("run_id", "commit__line_id", "commit__depth")
    }
    landed = _landed(project_id, {line for line, _ in places.values()})
    points: list[JourneyPoint] = []
    before: RunAt | None = None
    for run in runs:
        among = _between(
            places.get(before.id) if before else None, places.get(run.id), landed
        )
        moved = run.failing - before.failing if before else 0
        points.append(
            JourneyPoint(
                at=run.started_at,
                run=run.id,
                commit=run.commit,
                failing=run.failing,
                tests=run.tests,
                gone=max(-moved, 0),
                come=max(moved, 0),
                pull=among[0] if len(among) == 1 else None,
                among=among if len(among) > 1 else [],
            )
        )
        before = run
    return points


def _landed(project_id: int, lines: set[int]) -> dict[int, list[tuple[int, int]]]:
    """Return, by line, the depths at which pull requests landed, rising."""
    rows = Commit.objects.filter(
        project_id=project_id, pull__isnull=False, line__in=lines
    )
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for line, depth, pull in rows.order_by("depth").values_list(
        "line_id", "depth", "pull"
    ):
        found[line].append((depth, pull or 0))
    return found


def _between(
    older: _Place | None,
    newer: _Place | None,
    landed: Mapping[int, list[tuple[int, int]]],
) -> list[int]:
    """Return what landed after one commit up to another; only what is known."""
    if newer is None:
        return []
    line, depth = newer
    first = depth - 1
    if older is not None and older[0] == line and older[1] < depth:
        first = older[1]
    here = [pull for at, pull in landed.get(line, ()) if first < at <= depth]
    return list(dict.fromkeys(here))
