"""What runs show, several of one commit together; what was read is kept for a while.

Guarantees: of two runs at one commit the newer one counts for each test that ran in it;
a run is read once as long as it does not change.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from results.queries import tested

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from results.queries.tested import Failed, Leaked, RunAt, Shown

MOST_KEPT = 64  # runs; one of 12,000 tests is 100 KB

type LeakKey = tuple[int | None, str]


class _Kept:
    """The newest runs that were read, by epoch, id and version."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._found: OrderedDict[tuple[str, int, int], Shown] = OrderedDict()

    def get(self, epoch: str, run: RunAt) -> Shown | None:
        key = (epoch, run.id, run.version)
        with self._guard:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def put(self, epoch: str, shown: Iterable[Shown]) -> None:
        with self._guard:
            for one in shown:
                self._found[epoch, one.run, one.version] = one
            while len(self._found) > MOST_KEPT:
                self._found.popitem(last=False)


kept = _Kept()


def shown(runs: Sequence[RunAt], *, project_id: int) -> dict[int, Shown]:
    """Return what these runs show, by their id."""
    epoch = tested.epoch_of(project_id)
    found = {run.id: one for run in runs if (one := kept.get(epoch, run)) is not None}
    missing = [run for run in runs if run.id not in found]
    if missing:
        read = tested.shown(missing, project_id=project_id)
        kept.put(epoch, read.values())
        found |= read
    return found


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The runs of one commit and environment, the newest first."""

    runs: list[RunAt]
    shown: list[Shown]

    @property
    def complete(self) -> bool:
        """Whether all of the suite is there: each run is complete, or a newer one that
        is has all of its tests."""
        for place, run in enumerate(self.runs):
            if run.complete:
                continue
            mine = self.shown[place].tests
            if not any(
                newer.complete and bool(np.isin(mine, self.shown[n].tests).all())
                for n, newer in enumerate(self.runs[:place])
            ):
                return False
        return bool(self.runs)

    @property
    def tests(self) -> int:
        found: int = len(np.unique(np.concatenate([one.tests for one in self.shown])))
        return found

    def failed(self) -> dict[int, tuple[Failed, RunAt]]:
        """Return the tests that fail, by number, each by its newest run."""
        found: dict[int, tuple[Failed, RunAt]] = {}
        for place, one in enumerate(self.shown):
            for number, failure in one.failed.items():
                if not any(newer.executed(number) for newer in self.shown[:place]):
                    found[number] = (failure, self.runs[place])
        return found

    def leaked(self) -> dict[LeakKey, tuple[Leaked, RunAt]]:
        """Return the leaks, each by the newest run with its test."""
        found: dict[LeakKey, tuple[Leaked, RunAt]] = {}
        for place, one in enumerate(self.shown):
            for key, leak in one.leaked.items():
                number = key[0]
                newer = self.shown[:place]
                if number is None:
                    hidden = any(run.complete for run in self.runs[:place])
                else:
                    hidden = any(shown.executed(number) for shown in newer)
                if not hidden:
                    found[key] = (leak, self.runs[place])
        return found

    def has(self, number: int) -> bool:
        return any(one.has(number) for one in self.shown)

    def executed(self, number: int) -> bool:
        return any(one.executed(number) for one in self.shown)

    def ever_failed(self, number: int) -> list[tuple[Failed, RunAt]]:
        """Return how a test failed in any of the runs."""
        return [
            (one.failed[number], run)
            for one, run in zip(self.shown, self.runs, strict=True)
            if number in one.failed
        ]

    def ever_leaked(self, key: LeakKey) -> RunAt | None:
        """Return a run in which this leak was seen."""
        return next(
            (
                run
                for one, run in zip(self.shown, self.runs, strict=True)
                if key in one.leaked
            ),
            None,
        )


def view(runs: Sequence[RunAt], *, project_id: int) -> View:
    """Read runs of one commit and environment; they are given newest first."""
    read = shown(runs, project_id=project_id)
    return View(list(runs), [read[run.id] for run in runs])
