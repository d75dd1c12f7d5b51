"""What ran where, in which order, and what became of it: the input of the analysis.

Guarantees: a `Run` that was built is consistent (lengths, offsets, ranges are
checked once, here), so every other module indexes without looking.
Test numbers are dense (0 .. n_tests - 1) within one project.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

type Ints = NDArray[np.int32]
type Bytes = NDArray[np.int8]
type Floats = NDArray[np.float64]
type Bools = NDArray[np.bool_]

BAD_DAY = 0.80  # a run with a larger share of failures says nothing about a test


class HistoryError(ValueError):
    """The arrays of a run contradict each other."""


class State(IntEnum):
    """What one execution says. A test that never started is not an execution."""

    PASSED = 0
    FAILED = 1
    UNOBSERVED = 2  # started (it may leak), but says nothing: xfail, skip in the body


_STATES = {
    "passed": State.PASSED,
    "failed": State.FAILED,
    "error": State.FAILED,
    "rerun": State.FAILED,  # pytest-rerunfailures: this attempt failed
    "xfailed": State.UNOBSERVED,
    "xpassed": State.UNOBSERVED,
}


def state_of(outcome: str, *, phase: str = "call") -> State | None:
    """The state of one line of an order trace; None = it did not start.

    A test skipped in set-up (by a marker) never ran its body and cannot leak; one
    skipped halfway did run.
    """
    if outcome == "skipped":
        return None if phase == "setup" else State.UNOBSERVED
    return _STATES[outcome]


@dataclass(frozen=True, eq=False)
class Run:
    """One run: its executions grouped by process, each group in order of start.

    tests     (m,) int32  test number of each execution
    states    (m,) int8   `State` of each execution
    offsets   (P + 1,) int32  process p holds executions offsets[p]:offsets[p + 1]
    attempts  (m,) int8   1 = first attempt; later ones ran in the same run again
    ordered   the order inside each process is known (traced or assumed)
    traced    the order was recorded; an assumed one alone never confirms a claim
    whole     a run of the suite; False = a rerun of failures or a hand-made subset,
              which turns every brittle red and every victim green
    commit    place in the order of commits (equal = same code)
    stretch   stratum of constant code state; contrasts count only inside one
    environment, shard  small non-negative ids
    starts, stops  (m,) float64 seconds since any epoch, None where not recorded
    collected (P,) arrays of file numbers imported in each process, None = unknown
    """

    tests: Ints
    states: Bytes
    offsets: Ints
    attempts: Bytes | None = None
    ordered: bool = True
    traced: bool = True
    whole: bool = True
    commit: int = 0
    stretch: int = 0
    environment: int = 0
    shard: int = 0
    starts: Floats | None = None
    stops: Floats | None = None
    collected: tuple[Ints, ...] | None = None

    def __post_init__(self) -> None:
        size = len(self.tests)
        if len(self.states) != size:
            raise HistoryError("states and tests differ in length")
        for column in (self.attempts, self.starts, self.stops):
            if column is not None and len(column) != size:
                raise HistoryError("a column and tests differ in length")
        if len(self.offsets) < 1 or self.offsets[0] != 0 or self.offsets[-1] != size:
            raise HistoryError("offsets do not cover the executions")
        if np.any(np.diff(self.offsets) < 0):
            raise HistoryError("offsets go backwards")
        if self.collected is not None and len(self.collected) != self.processes:
            raise HistoryError("collected files are not one list a process")

    @cached_property
    def repeats(self) -> bool:
        """Some test was executed more than once."""
        return len(self.tests) > 0 and int(np.bincount(self.tests).max()) > 1

    @property
    def processes(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def bad_day(self) -> bool:
        """More than 80 % of what was observed failed."""
        observed = self.states != State.UNOBSERVED
        seen = int(np.count_nonzero(observed))
        failed = int(np.count_nonzero(self.states == State.FAILED))
        return seen > 0 and failed > BAD_DAY * seen


@dataclass(frozen=True, eq=False)
class History:
    """The runs of one configuration, in order of time, and where the tests live.

    files, folders  (n_tests,) int32: number of the test's file and folder; None =
    not known, then nearness gives no prior.
    """

    runs: tuple[Run, ...]
    n_tests: int
    files: Ints | None = None
    folders: Ints | None = None

    def __post_init__(self) -> None:
        for column in (self.files, self.folders):
            if column is not None and len(column) != self.n_tests:
                raise HistoryError("files and folders are one number a test")
        for run in self.runs:
            if len(run.tests) and (
                int(run.tests.min()) < 0 or int(run.tests.max()) >= self.n_tests
            ):
                raise HistoryError("a run holds a test number out of range")


def keep_failures(history: History, test: int, *, runs: Set[int]) -> History:
    """The history in which `test` failed only in these runs (indices).

    Two failure signatures of one test may have two causes: judge each with the other
    signature's failures taken out (they say neither passed nor failed).
    """
    made = []
    for index, run in enumerate(history.runs):
        other = (run.tests == test) & (run.states == State.FAILED)
        if index in runs or not other.any():
            made.append(run)
            continue
        states = np.where(other, State.UNOBSERVED, run.states).astype(np.int8)
        made.append(replace(run, states=states))
    return replace(history, runs=tuple(made))


def make_run(
    processes: Sequence[Sequence[tuple[int, State]]],
    *,
    commit: int = 0,
    ordered: bool = True,
    traced: bool = True,
    environment: int = 0,
) -> Run:
    """A run from plain lists, one list of (test, state) per process, in order."""
    flat = [pair for process in processes for pair in process]
    lengths = [len(process) for process in processes]
    return Run(
        tests=np.array([test for test, _ in flat], dtype=np.int32),
        states=np.array([state for _, state in flat], dtype=np.int8),
        offsets=np.concatenate(([0], np.cumsum(lengths))).astype(np.int32),
        commit=commit,
        ordered=ordered,
        traced=traced,
        environment=environment,
    )
