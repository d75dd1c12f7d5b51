"""One part of a run, executed on paper: what ran where, in which order, how it ended.

The order is shuffled and spread over two workers by file, anew for each run, so that a
victim sometimes runs after the leaker in its process, and sometimes not: only then it
can fail. Guarantees: the same for the same run, part and attempt. Pure.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from healthboard.demo.history import OLDER, Leak
from healthboard.demo.suite import Case, Part, suite

if TYPE_CHECKING:
    from healthboard.demo.history import Run

WORKERS = ("gw0", "gw1")
_HARM = 0.97  # how often a victim fails right after the leaker
_HARM_LASTS = 300  # tests, until the harm has faded to a third
_FLAKES = 0.11
_RERUNS = 2
_OVERHEAD_S = 0.004


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    RERUN = "rerun"  # failed, and another attempt follows


class Cause(StrEnum):
    """Why a test failed; its text follows from it."""

    NONE = ""
    LEAK = "leak"
    FLAKE = "flake"
    REGRESSION = "regression"
    OWN = "own"  # of the pull request


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of one test; `start` is in seconds since the run began."""

    case: Case
    outcome: Outcome
    cause: Cause
    worker: str
    pid: int
    position: int
    start: float
    seconds: float
    number: int = 0

    @property
    def end(self) -> float:
        return self.start + self.seconds


@dataclass(slots=True)
class _Worker:
    name: str
    pid: int
    clock: float
    position: int = 0
    leaked_at: int | None = None


def execute(run: Run, *, shard: int | None, attempt: int = 1) -> list[Attempt]:
    """Run a shard, or all tests; return the attempts in the order in which they end."""
    rng = random.Random(f"{run.commit.sha} {run.python} {shard} {attempt}")
    first_pid = rng.randint(2_100, 2_900)
    workers = [
        _Worker(name, first_pid + 3 * index, clock=rng.uniform(1.5, 2.5))
        for index, name in enumerate(WORKERS)
    ]
    done: list[Attempt] = []
    for cases in _shuffled(run, shard, rng):
        worker = min(workers, key=lambda one: one.clock)
        for case in cases:
            done += _attempts(run, case, worker, rng)
    return sorted(done, key=lambda one: (one.end, one.worker))


def _shuffled(run: Run, shard: int | None, rng: random.Random) -> list[list[Case]]:
    files: dict[str, list[Case]] = {}
    for case in suite():
        missing = case.part is Part.LEAKER and run.leak is Leak.ABSENT
        if shard in (None, case.shard) and not missing:
            files.setdefault(case.file, []).append(case)
    shuffled = list(files.values())
    rng.shuffle(shuffled)
    for cases in shuffled:
        rng.shuffle(cases)
    return shuffled


def _attempts(
    run: Run, case: Case, worker: _Worker, rng: random.Random
) -> list[Attempt]:
    done = []
    for number in range(_RERUNS + 1):
        outcome, cause = _outcome(run, case, worker, rng)
        again = case.part is Part.FLAKY and outcome is Outcome.FAILED
        if again and number < _RERUNS:
            outcome = Outcome.RERUN
        seconds = _seconds(run, case, outcome, rng)
        done.append(
            Attempt(
                case,
                outcome,
                cause,
                worker.name,
                worker.pid,
                worker.position,
                worker.clock,
                seconds,
                number,
            )
        )
        worker.clock += seconds + _OVERHEAD_S
        worker.position += 1
        if case.part is Part.LEAKER and run.leak is Leak.LIVE:
            worker.leaked_at = worker.position
        if outcome is not Outcome.RERUN:
            break
    return done


def _outcome(
    run: Run, case: Case, worker: _Worker, rng: random.Random
) -> tuple[Outcome, Cause]:
    chance = rng.random()  # always drawn, so that one fault does not move the others
    match case.part:
        case Part.SKIPPED:
            return Outcome.SKIPPED, Cause.NONE
        case Part.NEWER_ONLY if run.python == OLDER:
            return Outcome.SKIPPED, Cause.NONE
        case Part.XFAIL:
            return Outcome.XFAILED, Cause.NONE
        case Part.REGRESSED if run.broken:
            return Outcome.FAILED, Cause.REGRESSION
        case Part.FLAKY if chance < _FLAKES:
            return Outcome.FAILED, Cause.FLAKE
        case Part.VICTIM if chance < _harm(worker):
            in_setup = case.name.startswith("test_resume")
            return Outcome.ERROR if in_setup else Outcome.FAILED, Cause.LEAK
    if run.breaks == case.file and "_s" in case.name.removeprefix("test_"):
        return Outcome.FAILED, Cause.OWN
    return Outcome.PASSED, Cause.NONE


def _harm(worker: _Worker) -> float:
    if worker.leaked_at is None:
        return 0.0
    between = worker.position - worker.leaked_at
    return _HARM * math.exp(-between / _HARM_LASTS)


def _seconds(run: Run, case: Case, outcome: Outcome, rng: random.Random) -> float:
    noise = rng.lognormvariate(0.0, 0.12)
    if outcome is Outcome.SKIPPED:
        return 0.0004 * noise
    drift = 1.0
    if "/e2e/" in case.file:
        drift += 0.35 * run.elapsed
    elif case.file == "tests/storage/test_migrations.py":
        drift += 4.0 * max(0.0, run.elapsed - 0.5)
    slower = 1.12 if run.python == OLDER else 1.0
    return case.seconds * noise * drift * slower
