"""From stored executions to the history that `analysis` judges.

Guarantees: the same facts give the same history, in whatever order they arrived;
reruns of failures and hand-made subsets are marked as no whole runs; what only one pull
request ever broke is no evidence against a test of other code.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from analysis.history import History, Run, State
from leaks.parts import started
from results.queries.executions import Unchanged, executions, files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from analysis.history import Ints
    from leaks.memory import Remembered
    from leaks.parts import Part
    from results.queries.executions import PartKey, RunFacts

_NOBODY = -1
# A run again, or a subset, that holds a smaller share is not a run of the suite.
_AGAIN, _SUBSET = 0.5, 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A history, the run that each of its runs is a part of, and the part: aligned."""

    history: History
    runs: tuple[RunFacts, ...]
    keys: tuple[PartKey, ...]


def read_history(
    project_id: int,
    *,
    window: int,
    now: datetime | None = None,
    remembered: Remembered | None = None,
) -> Told:
    """Read a project's window of days; only what is new of what is remembered."""
    known = remembered.parts if remembered else {}
    parts = [
        replace(known[part.key], facts=part.run)
        if isinstance(part, Unchanged)
        else started(part)
        for part in executions(project_id, window=window, now=now, known=known)
    ]
    if remembered:
        remembered.parts = {part.key: part for part in parts}
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
    return Told(
        confined(history, [_stratum(part.facts) for part in parts]),
        tuple(part.facts for part in parts),
        tuple(part.key for part in parts),
    )


def _stratum(run: RunFacts) -> str:
    """Whose code it ran: the default branch's, or that of one pull request or branch."""
    if run.branch_class == "default":
        return ""
    return f"pull {run.pr}" if run.pr is not None else f"branch {run.branch}"


def confined(history: History, strata: Sequence[str]) -> History:
    """Judge what only ever failed in one pull request (or branch) by its runs alone.

    Its own regression is no contrast to the runs of other code: who ran before it there
    is innocent. Whatever failed on the default branch, or in several, keeps all.
    """
    codes = _codes([*strata, ""])
    owner = np.full(history.n_tests, _NOBODY)
    mine = [codes[stratum] for stratum in strata]
    for run, code in zip(history.runs, mine, strict=True):
        failing = np.unique(run.tests[run.states == State.FAILED])
        other = (owner[failing] != _NOBODY) & (owner[failing] != code)
        owner[failing] = np.where(other, codes[""], code)
    owner[owner == codes[""]] = _NOBODY
    if (owner == _NOBODY).all():
        return history
    runs = []
    for run, code in zip(history.runs, mine, strict=True):
        foreign = (owner[run.tests] != _NOBODY) & (owner[run.tests] != code)
        states = np.where(foreign, State.UNOBSERVED, run.states).astype(np.int8)
        runs.append(replace(run, states=states) if foreign.any() else run)
    return replace(history, runs=tuple(runs))


def _runs(parts: Sequence[Part]) -> Iterable[Run]:
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


def _whole(parts: Sequence[Part]) -> list[bool]:
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


def _kind(part: Part) -> tuple[str, str, int]:
    return part.facts.environment_key, part.job, part.index
