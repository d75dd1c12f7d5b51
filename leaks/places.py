"""In which runs a test failed, and after whom.

Guarantees: first attempts in whole runs only; "after" means in the same process, in an
order that is known; the oldest run comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from leaks.judging import Judged
    from results.queries.executions import RunFacts


def failing(judged: Judged, test: int) -> list[RunFacts]:
    """Return the run of every part in which a judged test failed."""
    row = _row(judged, test)
    columns = np.flatnonzero(judged.seen.failed[row] == 1)
    return [judged.told.runs[column] for column in columns]


def after(judged: Judged, victim: int, leaker: int) -> list[RunFacts]:
    """Return those of them in which the leaker ran before it in its process."""
    row = _row(judged, victim)
    found = []
    for column in np.flatnonzero(judged.seen.failed[row] == 1).tolist():
        run = judged.history.runs[column]
        begin, end = judged.seen.first[row, column], judged.seen.place[row, column]
        if run.ordered and (run.tests[begin:end] == leaker).any():
            found.append(judged.told.runs[column])
    return found


def _row(judged: Judged, test: int) -> int:
    return int(np.searchsorted(judged.seen.tests, test))
