"""What a process remembers between two judgements of a project, so that the second
costs little.

Guarantees: only what is a function of unchanged input is remembered, so with or without
it the answer is the same; what the last judgement did not use is forgotten; at most
`MOST_BYTES` are held, the projects judged longest ago go first.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from analysis import METHOD_VERSION
from analysis.outcomes import outcomes_of
from analysis.weighing import weigh_row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.history import Ints
    from analysis.weighing import Case, Row
    from leaks.parts import Part
    from results.queries.executions import PartKey

MOST_BYTES = 400_000_000


@dataclass(slots=True)
class Remembered:
    """Of one project: its parts as they were read, and what was weighed of its tests."""

    parts: dict[PartKey, Part] = field(default_factory=dict)
    rows: dict[bytes, Row] = field(default_factory=dict)
    weighed: int = 0  # rows of the last judgement that were not remembered

    def size(self) -> int:
        return sum(part.size_in_bytes for part in self.parts.values()) + sum(
            _size(row) for row in self.rows.values()
        )


class Memory:
    """By project; what makes a project itself is its counter's epoch."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._projects: dict[tuple[int, str], Remembered] = {}

    def of(self, project_id: int, epoch: str) -> Remembered:
        """Return what is remembered of a project, which now was used last."""
        found = self._projects.pop((project_id, epoch), None) or Remembered()
        self._projects[project_id, epoch] = found
        return found

    def trim(self) -> None:
        """Forget until the rest fits."""
        sizes = {key: one.size() for key, one in self._projects.items()}
        for key in list(self._projects):
            if sum(sizes.values()) <= self._most:
                return
            del self._projects[key], sizes[key]


@dataclass(frozen=True, slots=True, eq=False)
class Weighing:
    """Weighs a test, or remembers it. `parts` names the history's runs, in order."""

    remembered: Remembered
    parts: np.ndarray  # 64 bits each
    base: bytes  # what all tests of this judgement share
    fresh: dict[bytes, Row] = field(default_factory=dict)

    def __call__(self, case: Case, index: int) -> Row:
        key = self._key(case, index)
        row = self.remembered.rows.get(key)
        if row is None:
            row = weigh_row(case, index)
        else:
            # Commits and runs are numbered anew each time.
            told = outcomes_of(case.history, case.observations, index, case.around)
            row = replace(row, outcomes=told)
        self.fresh[key] = row
        return row

    def finish(self) -> None:
        """Remember what this judgement used, and nothing else."""
        known = self.remembered.rows
        self.remembered.weighed = sum(key not in known for key in self.fresh)
        self.remembered.rows = self.fresh

    def _key(self, case: Case, index: int) -> bytes:
        seen = case.observations.seen(index)
        test = int(case.observations.tests[index])
        beliefs, around = case.beliefs, case.around
        refuted = sorted(beliefs.refuted.get(test, ()))
        named = sorted(beliefs.named.get(test, {}).items())
        return _digest(
            self.base,
            repr((test, refuted, named)).encode(),
            self.parts[seen].tobytes(),
            case.observations.failed[index, seen].tobytes(),
            *(
                _ranks(column[seen])
                for column in (around.commit, around.environment, around.shard)
            ),
        )


def base_of(n_tests: int, *columns: np.ndarray | None) -> bytes:
    """Return the digest of what all tests of one judgement share."""
    raw = [
        b"" if one is None else np.ascontiguousarray(one).tobytes() for one in columns
    ]
    return _digest(repr((METHOD_VERSION, n_tests)).encode(), *raw)


def hash_of(raw: bytes) -> int:
    """Return 64 bits that stand for these bytes, in every process the same."""
    return int.from_bytes(blake2b(raw, digest_size=8).digest())


def _ranks(column: Ints) -> bytes:
    """Only what is equal and what comes first matters, not the numbers."""
    return np.unique(column, return_inverse=True)[1].astype(np.int32).tobytes()


def _digest(*parts: bytes) -> bytes:
    made = blake2b(digest_size=20)
    for part in parts:
        made.update(len(part).to_bytes(8))
        made.update(part)
    return made.digest()


def _size(row: Row) -> int:
    columns: Iterable[np.ndarray] = (
        row.log_bf,
        row.hazard,
        row.failed,
        row.passed,
        row.p_values,
    )
    return sum(column.nbytes for column in columns)
