"""Which tests fail a run, and how often tests failed since a time: no texts.

Guarantees: a fixed number of queries, whatever the data.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formats.outcomes import CODE, FAILING
from results.models import Failure, Leak
from results.queries.merged import load_runs
from results.queries.rows import names_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_FAILING = [CODE[outcome] for outcome in FAILING]


@dataclass(frozen=True, slots=True)
class Failing:
    """What is red in a run: tests by id with their node ids.

    `raised` leak by the word of an enforced gate; `session_leaks` are of no test.
    """

    failed: dict[int, str]
    raised: dict[int, str]
    session_leaks: int

    @property
    def tests(self) -> dict[int, str]:
        return self.failed | self.raised


def failing_in(run_id: int, project_id: int) -> Failing:
    """Return the tests that fail a run, each by its last attempt."""
    columns = load_runs([run_id])[run_id].merged.columns
    numbers = columns.tests[np.isin(columns.outcome, _FAILING)].tolist()
    told = Leak.objects.filter(
        run_id=run_id, counted=True, enforced=True, opted_out=False
    ).values_list("test_id", "test__nodeid")
    leaks = list(told)
    return Failing(
        failed=dict(names_of(project_id, numbers).values()),
        raised={pk: nodeid for pk, nodeid in leaks if pk},
        session_leaks=sum(not pk for pk, _ in leaks),
    )


def failures_since(moments: Mapping[int, datetime]) -> dict[int, int]:
    """Return in how many runs each test failed that started at its moment or later.

    Excluded runs and those in which most failed do not count.
    """
    if not moments:
        return {}
    found: dict[int, set[int]] = defaultdict(set)
    rows = Failure.objects.filter(
        test_id__in=list(moments),
        attempt=0,
        outcome__in=_FAILING,
        run__started_at__gte=min(moments.values()),
        run__excluded_at=None,
        run__bad=False,
    )
    for test, run, at in rows.values_list("test_id", "run_id", "run__started_at"):
        if at >= moments[test]:
            found[test].add(run)
    return {test: len(found[test]) for test in moments}
