"""What changed between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats.outcomes import BY_CODE, CODE, FAILING, Outcome
from results.models import Run
from results.queries.merged import load_runs
from results.queries.rows import names_of, run_row
from results.queries.shapes import ChangeRow, Changes, Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from results.blocks import Columns

MOST_ROWS = 100
SLOWER_BY = 0.1  # seconds, and
SLOWER_SHARE = 0.5  # this share of what it took before
_ABSENT = 255
_FAILING = np.array([CODE[outcome] for outcome in FAILING])
_SKIPS = np.array([CODE[Outcome.SKIPPED], CODE[Outcome.XFAILED]])


class _Sides:
    """Both runs over all their tests, aligned."""

    def __init__(self, base: Columns, run: Columns) -> None:
        self.tests = np.union1d(base.tests, run.tests)
        self.before, self.before_s = self._spread(base)
        self.after, self.after_s = self._spread(run)

    def _spread(
        self, columns: Columns
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        outcome = np.full(len(self.tests), _ABSENT, np.uint8)
        seconds = np.full(len(self.tests), np.nan)
        at = np.searchsorted(self.tests, columns.tests)
        outcome[at], seconds[at] = columns.outcome, columns.duration
        return outcome, seconds


def compare(run_id: int, base_id: int) -> Comparison | None:
    """Compare a run with another one; None where one of them does not exist."""
    runs = Run.objects.in_bulk([run_id, base_id])
    if run_id not in runs or base_id not in runs:
        return None
    loaded = load_runs([run_id, base_id])
    sides = _Sides(loaded[base_id].merged.columns, loaded[run_id].merged.columns)
    kinds = _kinds(sides)
    shown = {name: rows[:MOST_ROWS] for name, rows in kinds.items()}
    numbers = sides.tests[np.concatenate(list(shown.values()))]
    # Numbers of two projects mean different tests: only one project is compared.
    names = names_of(runs[run_id].project_id, numbers.tolist())
    changes = {
        name: Changes(
            len(kinds[name]), [_row(sides, int(row), names) for row in shown[name]]
        )
        for name in kinds
    }
    return Comparison(run=run_row(runs[run_id]), base=run_row(runs[base_id]), **changes)


def _kinds(sides: _Sides) -> dict[str, NDArray[np.intp]]:
    before, after = sides.before, sides.after
    failed_before, fails = np.isin(before, _FAILING), np.isin(after, _FAILING)
    in_both = (before != _ABSENT) & (after != _ABSENT)
    ran = in_both & ~failed_before & ~fails
    with np.errstate(invalid="ignore"):
        lost = sides.after_s - sides.before_s
        slower = ran & (lost > SLOWER_BY) & (lost > SLOWER_SHARE * sides.before_s)
        faster = ran & (-lost > SLOWER_BY) & (-lost > SLOWER_SHARE * sides.after_s)
    slow, fast = np.flatnonzero(slower), np.flatnonzero(faster)
    return {
        "newly_failing": np.flatnonzero(fails & ~failed_before),
        "fixed": np.flatnonzero(in_both & failed_before & ~fails),
        "still_failing": np.flatnonzero(fails & failed_before),
        "added": np.flatnonzero(before == _ABSENT),
        "removed": np.flatnonzero(after == _ABSENT),
        "newly_skipped": np.flatnonzero(
            in_both & np.isin(after, _SKIPS) & ~np.isin(before, _SKIPS)
        ),
        "slower": slow[np.argsort(-lost[slow], kind="stable")],
        "faster": fast[np.argsort(lost[fast], kind="stable")],
    }


def _row(sides: _Sides, row: int, names: dict[int, tuple[int, str]]) -> ChangeRow:
    pk, nodeid = names.get(int(sides.tests[row]), (0, f"test {sides.tests[row]}"))
    return ChangeRow(
        test=pk,
        nodeid=nodeid,
        before=_named(sides.before[row]),
        after=_named(sides.after[row]),
        before_s=_seconds(sides.before_s[row]),
        after_s=_seconds(sides.after_s[row]),
    )


def _named(code: int) -> str | None:
    return None if code == _ABSENT else BY_CODE[code].value


def _seconds(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
