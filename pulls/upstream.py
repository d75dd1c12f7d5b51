"""Whether what a pull request inherits is gone on the default branch, and since when.

Guarantees: the newest run that says anything decides; what came back after a fix (a
revert) is not gone; the commit that is named is the first with a run that no longer
shows it, and a pull request is named with it only where no other landed in between.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.attribution import Share, Sight, gone_since
from pulls import ancestry, views
from pulls.bases import usable
from pulls.commits import find_commit
from pulls.models import Tested
from pulls.shapes import Gone
from results.queries import tested

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pulls.judging import Lane
    from pulls.models import Commit
    from pulls.shapes import Item
    from pulls.views import View
    from results.queries.tested import RunAt

MOST_RUNS = 400
MOST_READ = 50  # runs whose results are looked at for one item


@dataclass(frozen=True, slots=True, eq=False)
class Newer:
    """The default branch's runs after the base, the newest first, and in which of them
    which tests may fail or leak."""

    project_id: int
    runs: list[RunAt]
    failing: dict[int, set[int]]

    def sights(self, item: Item, look: Callable[[View], Sight]) -> Iterator[Sight]:
        read = 0
        for run in self.runs:
            suspected = item.test is None or item.test in self.failing.get(run.id, ())
            if not suspected and run.complete:
                yield Sight(complete=True)
                continue
            read += 1
            if read > MOST_READ:
                return
            yield look(views.view([run], project_id=self.project_id))


def newer_runs(
    lane: Lane, branches: Sequence[str], base: Commit | None, items: Sequence[Item]
) -> Newer:
    """Read the runs of the default branch after what a lane is compared with."""
    first = lane.ancestors[0][0]
    runs = tested.runs_of_branches(
        lane.project_id,
        branches,
        environments=[lane.key],
        since=None if base is not None else first.started_at,
        most=MOST_RUNS,
    )
    kept = _after(usable(runs), first, base)
    tests = {item.test for item in items if item.test is not None}
    failing = tested.failing_in([run.id for run in kept], tests)
    return Newer(lane.project_id, kept, failing)


def with_upstream(
    item: Item, newer: Newer, base_run: RunAt, look: Callable[[View], Sight]
) -> Item:
    """Say of an inherited item whether it is gone since."""
    place = gone_since(newer.sights(item, look))
    if place is None:
        return item
    run = newer.runs[place]
    older = newer.runs[place + 1] if place + 1 < len(newer.runs) else base_run
    return replace(
        item,
        share=Share.FIXED_UPSTREAM,
        gone=_gone(newer.project_id, older, run),
    )


def _gone(project_id: int, older: RunAt, run: RunAt) -> Gone:
    here = find_commit(project_id, run.commit)
    before = find_commit(project_id, older.commit)
    if here is None:
        return Gone(run.commit, run.id)
    among = [here.pull] if here.pull else []
    if before is not None and before.pk != here.pk:
        among = ancestry.landed_between(before, here)
    single = among[0] if len(among) == 1 else None
    return Gone(here.sha, run.id, single, [] if single else among)


def _after(runs: Sequence[RunAt], first: RunAt, base: Commit | None) -> list[RunAt]:
    """Return the runs after the base, the newest commit first: by first parents where
    they are known, else by time."""
    places = _places(runs)
    kept: list[tuple[int, RunAt]] = []
    line = base.line_id if base is not None else None
    for run in runs:
        at = places.get(run.id)
        if base is not None and at is not None and at[0] == line:
            if at[1] > base.depth:
                kept.append((at[1], run))
        elif run.started_at > first.started_at:
            kept.append((-1, run))
    if any(depth < 0 for depth, _ in kept):
        kept.sort(key=lambda one: (one[1].started_at, one[1].id), reverse=True)
    else:
        kept.sort(key=lambda one: (one[0], one[1].started_at, one[1].id), reverse=True)
    return [run for _, run in kept]


def _places(runs: Sequence[RunAt]) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    rows = Tested.objects.filter(run_id__in=[run.id for run in runs])
    for run, line, depth in rows.values_list(
        "run_id", "commit__line_id", "commit__depth"
    ):
        found[run] = (line, depth)
    return dict(found)
