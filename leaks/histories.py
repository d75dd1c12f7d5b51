"""From stored executions to the history that `analysis` judges.

Guarantees: the same facts give the same history, in whatever order they arrived; a
test that was skipped did not start; a retry stands right behind its first attempt;
reruns of failures and hand-made subsets are marked as no whole runs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from analysis.history import History, Run, State
from formats.outcomes import CODE, Outcome
from results.blocks import Flag
from results.queries.executions import executions, files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from analysis.history import Ints
    from results.queries.executions import PartExecutions, RunFacts

_NOT_STARTED = -1
_STATE = np.full(256, _NOT_STARTED, np.int8)
_STATE[CODE[Outcome.PASSED]] = State.PASSED
_STATE[CODE[Outcome.FAILED]] = State.FAILED
_STATE[CODE[Outcome.ERROR]] = State.FAILED
_STATE[CODE[Outcome.XFAILED]] = State.UNOBSERVED
_STATE[CODE[Outcome.XPASSED]] = State.UNOBSERVED
# A run again, or a subset, that holds a smaller share is not a run of the suite.
_AGAIN, _SUBSET = 0.5, 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A history and the run that each of its runs is a part of, aligned."""

    history: History
    runs: tuple[RunFacts, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A part's executions, before it is known where its commit stands."""

    facts: RunFacts
    job: str
    index: int
    attempt: int
    order: str
    size: int
    columns: dict[str, np.ndarray | None]


def read_history(project_id: int, *, window: int, now: datetime | None = None) -> Told:
    """Read a project's window of days."""
    parts = [_started(part) for part in executions(project_id, window=window, now=now)]
    parts.sort(
        key=lambda one: (
            one.facts.started_at,
            one.facts.id,
            one.job,
            one.index,
            one.attempt,
        )
    )
    files = files_of(project_id)
    history = History(
        runs=tuple(_runs(parts)),
        n_tests=len(files),
        files=_numbered(files),
        folders=_numbered([str(PurePosixPath(file).parent) for file in files]),
    )
    return Told(history, tuple(part.facts for part in parts))


def _runs(parts: Sequence[_Part]) -> Iterable[Run]:
    commits = commit_places([part.facts for part in parts])
    stretches = _codes(part.facts.branch for part in parts)
    environments = _codes(part.facts.environment_key for part in parts)
    whole = _whole(parts)
    for part, is_whole in zip(parts, whole, strict=True):
        facts = part.facts
        yield Run(
            **part.columns,  # type: ignore[arg-type] # made by `_started`
            ordered=part.order != "unknown",
            traced=part.order == "traced",
            whole=is_whole,
            commit=commits[_code_of(facts)],
            stretch=stretches[facts.branch],
            environment=environments[facts.environment_key],
            shard=part.index,
        )


def commit_places(runs: Iterable[RunFacts]) -> dict[str, int]:
    """Say where each code state stands: by its first run, a branch's behind its base.

    A head that is still based on yesterday's code fails as yesterday's code did.
    """
    first: dict[str, datetime] = {}
    base: dict[str, str] = {}
    for run in runs:
        code = _code_of(run)
        first[code] = min(first.get(code, run.started_at), run.started_at)
        if run.merge_base and run.merge_base != run.commit:
            base[code] = max(base.get(code, ""), run.merge_base)
    ordered = sorted(
        first,
        key=lambda code: (
            first.get(base.get(code, ""), first[code]),
            base.get(code, "") in first,
            first[code],
            code,
        ),
    )
    return {code: place for place, code in enumerate(ordered)}


def _code_of(run: RunFacts) -> str:
    """A run that names no commit shares its code with no other run."""
    return run.commit or f"run {run.id}"


def _codes(names: Iterable[str]) -> dict[str, int]:
    return {name: code for code, name in enumerate(sorted(set(names)))}


def _numbered(names: Sequence[str]) -> Ints:
    codes = _codes(names)
    return np.array([codes[name] for name in names], np.int32)


def _whole(parts: Sequence[_Part]) -> list[bool]:
    sizes: dict[object, list[int]] = defaultdict(list)
    first: dict[object, tuple[int, int]] = {}
    for part in parts:
        sizes[_kind(part)].append(part.size)
        mine = (part.attempt, part.size)
        place = (part.facts.id, part.job, part.index)
        first[place] = min(first.get(place, mine), mine)
    usual = {kind: float(np.median(some)) for kind, some in sizes.items()}
    whole = []
    for part in parts:
        attempt, size = first[part.facts.id, part.job, part.index]
        again = part.attempt > attempt and part.size < _AGAIN * size
        whole.append(not again and part.size >= _SUBSET * usual[_kind(part)])
    return whole


def _kind(part: _Part) -> tuple[str, str, int]:
    return part.facts.environment_key, part.job, part.index


def _started(part: PartExecutions) -> _Part:
    """Keep what started, and put each retry behind its first attempt."""
    last = _STATE[part.outcome]
    first = np.where(part.flags & Flag.HAD_FAILURE, np.int8(State.FAILED), last)
    kept = np.flatnonzero(first != _NOT_STARTED)
    again = (part.attempts[kept] > 1) & (last[kept] != _NOT_STARTED)
    rows = np.repeat(kept, 1 + again)
    second = np.zeros(len(rows), bool)
    second[1:] = rows[1:] == rows[:-1]
    before = np.zeros(len(part.tests) + 1, np.int64)
    before[1:] = np.cumsum(np.bincount(rows, minlength=len(part.tests)))
    states = np.where(second, last[rows], first[rows]).astype(np.int8)
    columns: dict[str, np.ndarray | None] = {
        "tests": part.tests[rows],
        "states": states,
        "offsets": before[part.offsets].astype(np.int32),
        "attempts": (1 + second).astype(np.int8) if second.any() else None,
        "starts": None if part.starts is None else part.starts[rows],
        "stops": None if part.stops is None else part.stops[rows],
    }
    return _Part(
        part.run,
        part.job,
        part.index,
        part.attempt,
        part.order,
        len(part.tests),
        columns,
    )
