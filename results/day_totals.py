"""A day's totals, computed from the runs that started on it.

Guarantees: the same runs give the same totals, in whatever order they came. Runs that
were excluded, and runs in which nearly everything failed, are counted as such and
leave no other trace.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import batched
from typing import TYPE_CHECKING, Any

import numpy as np

from results import day_columns
from results.loading import load_columns, parts_of
from results.merging import merge
from results.models import Run, Shard

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from results.day_columns import DayColumns
    from results.models import Day

_AT_ONCE = 50  # runs whose blocks are in memory together
MOST_DURATIONS = 500


@dataclass(frozen=True, slots=True, eq=False)
class Rebuilt:
    """`seen` says until which of `starts` each test was seen (an index, -1: never)."""

    columns: DayColumns
    totals: dict[str, Any]  # Any: JSON
    starts: list[datetime]
    seen: NDArray[np.int32]


def rebuild(day: Day) -> Rebuilt | None:
    """Compute a day from all its runs; None where retention has left it nothing but
    the totals that it has."""
    runs = list(
        Run.objects.filter(
            project_id=day.project_id, day=day.date, branch_class=day.branch_class
        )
        .order_by("started_at", "pk")
        .only(
            "started_at",
            "outcome",
            "bad",
            "excluded_at",
            "tests",
            "duration_s",
            "facts_deleted",
        )
    )
    if day.rebuilt_at is not None and any(run.facts_deleted for run in runs):
        return None
    sums = day_columns.Sums()
    seen = np.full(0, -1, np.int32)
    places = {run.pk: place for place, run in enumerate(runs)}
    for some in batched(runs, _AT_ONCE):
        for run, columns in _merged(some):
            tests = columns.tests
            if len(tests):
                more = max(int(tests[-1]) + 1 - len(seen), 0)
                seen = np.pad(seen, (0, more), constant_values=-1)
                seen[tests] = places[run.pk]
            if counts(run):
                sums.add(columns)
    columns = sums.columns()
    return Rebuilt(columns, _totals(runs, columns), [r.started_at for r in runs], seen)


def counts(run: Run) -> bool:
    """Tell whether a run stands in statistics."""
    return run.excluded_at is None and not run.bad and run.tests > 0


def _merged(runs: Sequence[Run]) -> Iterable[tuple[Run, Any]]:  # Any: Columns
    shards: dict[int, list[Shard]] = defaultdict(list)
    ids = [run.pk for run in runs]
    for shard in Shard.objects.filter(run_id__in=ids).order_by("upload_id"):
        shards[shard.run_id].append(shard)
    columns = load_columns([shard for some in shards.values() for shard in some])
    for run in runs:
        yield run, merge(parts_of(shards[run.pk], columns)).columns


def _totals(runs: Sequence[Run], columns: DayColumns) -> dict[str, Any]:  # Any: JSON
    counted = [run for run in runs if counts(run)]
    outcomes: dict[str, int] = defaultdict(int)
    for run in counted:
        outcomes[run.outcome] += 1
    sums = {name: int(values.sum()) for name, values in columns.counts.items()}
    failing = columns.counts["failed"] + columns.counts["errors"]
    return {
        "runs": len(counted),
        "excluded_runs": sum(run.excluded_at is not None for run in runs),
        "bad_runs": sum(run.bad and run.excluded_at is None for run in runs),
        "outcomes": dict(sorted(outcomes.items())),
        "tests": len(columns.tests),
        "results": sums.pop("runs"),
        **sums,
        "failed_tests": int(np.count_nonzero(failing)),
        "flaky_tests": int(np.count_nonzero(columns.counts["flaky"])),
        "total_s": round(float(columns.total_s.sum()), 4),
        "durations": _durations([run.duration_s for run in counted]),
    }


def _durations(seconds: list[float]) -> list[float]:
    """Return the runs' durations, rising; of very many an even choice."""
    rising = sorted(seconds)
    if len(rising) > MOST_DURATIONS:
        places = np.linspace(0, len(rising) - 1, MOST_DURATIONS).round().astype(int)
        rising = [rising[place] for place in places]
    return [round(value, 3) for value in rising]
