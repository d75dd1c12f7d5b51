"""The thirty days of the demo: commits, pull requests and CI runs, and their story.

Pull request 538 brings a test that purges modules, and its victims fail from then on.
540 repairs it. 539 and 541 inherit the failures until they are rebased; 536 and 542
break something themselves. Guarantees: the same history for the same `until`. Pure.
"""

from __future__ import annotations

import hashlib
import random
from bisect import bisect_right
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

DAYS = 30
OLDER, NEWER = "3.12", "3.13"
MAIN = "main"
_LEAK_FROM, _LEAK_UNTIL = 538, 540
_FIRST_RUN = 6_804
_ANCESTRY = 40
_WORKDAY, _WEEKEND = ((8, 40), (12, 20), (15, 50)), ((13, 30),)
_NO_TRACE_DAYS = 27.0  # before this the pytest plugin was not installed yet
_BROKEN_DAYS = (12.7, 11.5)


class Leak(StrEnum):
    ABSENT = "absent"  # the test is not there yet
    LIVE = "live"
    FIXED = "fixed"


class Quirk(StrEnum):
    """What goes wrong in CI, beside the tests."""

    NONE = "none"
    SHARD_LOST = "shard lost"
    TORN_FILE = "torn file"
    ERROR_PAGE = "error page"  # a proxy's answer, saved as the report
    REPORTLOG = "reportlog"  # no fault: sent in the other format
    RERUN = "rerun"  # when red, somebody presses "re-run failed jobs"


@dataclass(frozen=True, slots=True)
class Push:
    """A head of a pull request, in days before the end; `breaks` is its own fault."""

    days: float
    base_days: float
    breaks: str = ""  # a test file
    quirk: Quirk = Quirk.NONE


@dataclass(frozen=True, slots=True)
class Pull:
    number: int
    branch: str
    pushes: tuple[Push, ...]
    merged_days: float | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    sha: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Run:
    """One run of CI in one environment."""

    number: int
    branch: str
    commit: Commit
    started_at: datetime
    python: str
    leak: Leak
    ancestry: tuple[str, ...]
    elapsed: float  # share of the history that has gone by, for what drifts
    traced: bool = True
    broken: bool = False  # by the regression on the default branch
    breaks: str = ""
    pull: int | None = None
    merge_base: str = ""
    quirk: Quirk = Quirk.NONE

    @property
    def name(self) -> str:
        return f"ci-{self.number}"


PULLS = (
    Pull(
        535,
        "speed-up-recall",
        (Push(27.3, 28.1), Push(26.2, 28.1), Push(25.4, 28.1)),
        merged_days=25.1,
    ),
    Pull(
        536,
        "journal-version-4",
        (
            Push(24.4, 25.6, breaks="tests/storage/test_snapshots.py"),
            Push(23.5, 25.6),
            Push(22.4, 23.1),
        ),
        merged_days=22.1,
    ),
    Pull(
        538,
        "cold-start-cache",
        (Push(21.6, 22.3), Push(20.4, 22.3), Push(19.4, 22.3)),
        merged_days=19.1,
    ),
    Pull(
        539,
        "delegate-with-a-budget",
        (Push(16.5, 17.2), Push(14.6, 17.2), Push(10.7, 13.2), Push(3.3, 3.8)),
        merged_days=2.6,
    ),
    Pull(
        540,
        "restore-modules-after-cold-start",
        (Push(8.7, 9.4), Push(7.6, 9.4)),
        merged_days=7.1,
    ),
    Pull(
        541,
        "gate-on-purged-modules",
        (Push(10.4, 11.2), Push(9.3, 11.2), Push(8.2, 11.2), Push(5.4, 5.9)),
    ),
    Pull(
        542,
        "websocket-groups",
        (
            Push(6.3, 6.9, breaks="tests/api/test_websocket.py"),
            Push(5.2, 6.9, quirk=Quirk.ERROR_PAGE),
            Push(4.5, 6.9, breaks="tests/api/test_websocket.py"),
            Push(1.2, 2.3, breaks="tests/api/test_websocket.py"),
        ),
    ),
    Pull(543, "yaml-profiles", (Push(1.6, 2.1), Push(0.7, 2.1))),
)
# The run of the default branch that this happens to: the first one after so many days.
_QUIRKS = (
    (17.6, NEWER, Quirk.RERUN),
    (16.6, NEWER, Quirk.RERUN),
    (14.6, NEWER, Quirk.RERUN),
    (10.8, NEWER, Quirk.RERUN),
    (9.6, NEWER, Quirk.TORN_FILE),
    (4.6, NEWER, Quirk.SHARD_LOST),
    (3.6, OLDER, Quirk.REPORTLOG),
)


def history(until: datetime) -> tuple[Run, ...]:
    """Return all runs that began before `until`, oldest first."""
    commits = _commits(until)
    runs = [*_main_runs(commits, until), *_pull_runs(commits, until)]
    runs.sort(key=lambda run: (run.started_at, run.commit.sha, run.python))
    numbers: dict[str, int] = {}
    for run in runs:  # the environments of one commit are one run of CI
        numbers.setdefault(run.commit.sha, _FIRST_RUN + 7 * len(numbers))
    return tuple(replace(run, number=numbers[run.commit.sha]) for run in runs)


def merged_at(number: int, until: datetime) -> datetime | None:
    """Return when a pull request landed on the default branch."""
    (pull,) = (pull for pull in PULLS if pull.number == number)
    return None if pull.merged_days is None else _ago(until, pull.merged_days)


def _commits(until: datetime) -> list[Commit]:
    """Return the commits of the default branch; each merge is one of them."""
    rng = random.Random("commits")
    last = until - timedelta(minutes=45)
    midnight = datetime(until.year, until.month, until.day, tzinfo=UTC)
    times = [moment for pull in PULLS if (moment := merged_at(pull.number, until))]
    for back in range(DAYS, -1, -1):
        day = midnight - timedelta(days=back)
        for hour, minute in _WEEKEND if day.weekday() >= 5 else _WORKDAY:
            jitter = timedelta(minutes=rng.randint(-30, 30), seconds=rng.randint(0, 59))
            times.append(day + timedelta(hours=hour, minutes=minute) + jitter)
    return [
        Commit(_sha(f"main {number}"), moment)
        for number, moment in enumerate(sorted(times))
        if moment <= last
    ]


def _main_runs(commits: list[Commit], until: datetime) -> list[Run]:
    runs = []
    for index, commit in enumerate(commits):
        last_of_day = (
            index + 1 == len(commits)
            or commits[index + 1].at.date() != commit.at.date()
        )
        for python in (NEWER, OLDER) if last_of_day else (NEWER,):
            days = (until - commit.at) / timedelta(days=1)
            runs.append(
                Run(
                    number=0,
                    branch=MAIN,
                    commit=commit,
                    started_at=commit.at + timedelta(minutes=2),
                    python=python,
                    leak=_leak_on_main(commit.at, until),
                    ancestry=_shas(commits, index),
                    elapsed=max(0.0, 1 - days / DAYS),
                    traced=days <= _NO_TRACE_DAYS,
                    broken=_BROKEN_DAYS[1] <= days <= _BROKEN_DAYS[0],
                )
            )
    for days, python, quirk in _QUIRKS:
        index = next(
            i
            for i, run in enumerate(runs)
            if run.python == python and run.started_at >= _ago(until, days)
        )
        runs[index] = replace(runs[index], quirk=quirk)
    return runs


def _pull_runs(commits: list[Commit], until: datetime) -> list[Run]:
    times = [commit.at for commit in commits]
    runs = []
    for pull in PULLS:
        pushed: list[str] = []  # since the base, newest first
        base_days = 0.0
        for number, push in enumerate(pull.pushes, 1):
            if push.base_days != base_days:
                base_days, pushed = push.base_days, []
            index = bisect_right(times, _ago(until, base_days)) - 1
            base = commits[index]
            head = Commit(_sha(f"{pull.number} {number}"), _ago(until, push.days))
            runs.append(
                Run(
                    number=0,
                    branch=pull.branch,
                    commit=head,
                    started_at=head.at + timedelta(minutes=2),
                    python=NEWER,
                    leak=_leak_of(pull, base.at, until),
                    ancestry=(*pushed, base.sha, *_shas(commits, index)),
                    elapsed=1 - push.days / DAYS,
                    breaks=push.breaks,
                    pull=pull.number,
                    merge_base=base.sha,
                    quirk=push.quirk,
                )
            )
            pushed.insert(0, head.sha)
    return runs


def _leak_on_main(moment: datetime, until: datetime) -> Leak:
    begun, ended = merged_at(_LEAK_FROM, until), merged_at(_LEAK_UNTIL, until)
    if begun is None or moment < begun:
        return Leak.ABSENT
    return Leak.LIVE if ended is None or moment < ended else Leak.FIXED


def _leak_of(pull: Pull, base_at: datetime, until: datetime) -> Leak:
    if pull.number == _LEAK_FROM:
        return Leak.LIVE
    if pull.number == _LEAK_UNTIL:
        return Leak.FIXED
    return _leak_on_main(base_at, until)


def _shas(commits: list[Commit], index: int) -> tuple[str, ...]:
    """Return the commits before this one, newest first."""
    return tuple(one.sha for one in commits[max(0, index - _ANCESTRY) : index][::-1])


def _ago(until: datetime, days: float) -> datetime:
    return until - timedelta(days=days)


def _sha(what: str) -> str:
    return hashlib.blake2b(f"lantern {what}".encode(), digest_size=20).hexdigest()
