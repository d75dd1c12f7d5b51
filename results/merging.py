"""What a run says of each test, from what every upload says of its part.

Guarantees: the result does not depend on the order of the uploads, and an upload that
comes twice changes nothing. Pure: arrays in, arrays out.

The rules. Inside one part and attempt uploads add up; where two of them differ the
worse outcome counts and the test is marked as a conflict (a trace's word on a gate's
failure excepted). Inside one job the latest
attempt that has the test counts, in whatever shard it ran; attempts that disagree make
it flaky. What then still stands in several shards or jobs is a duplicate: the worse
one counts. (A later attempt of one job never hides a failure of another job, which
was not repeated.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.outcomes import BY_CODE, FAILING, PASSING, SEVERITY, Outcome
from results import blocks
from results.blocks import Columns, Flag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_SEVERITY = np.array([SEVERITY[outcome] for outcome in BY_CODE], np.int64)
_FAILS = np.array([outcome in FAILING for outcome in BY_CODE])
_PASSES = np.array([outcome in PASSING for outcome in BY_CODE])
# Two tools may name these differently for one and the same result: no conflict.
_LIKE = {Outcome.XPASSED: Outcome.PASSED, Outcome.XFAILED: Outcome.SKIPPED}
_FAMILY = np.array(
    [BY_CODE.index(_LIKE.get(outcome, outcome)) for outcome in BY_CODE], np.int64
)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One upload's columns, and the part of the run that it speaks of."""

    job: str
    index: int
    attempt: int
    upload: int
    columns: Columns


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """A run's results. `source[i]` is the place (in the given parts) of the part whose
    result counts for `columns.tests[i]`."""

    columns: Columns
    source: NDArray[np.int32]
    duration_s: float  # of all attempts, each test of a part counted once

    def marked(self, flag: Flag) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (self.columns.flags & flag) > 0
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Results of several parts in one array each.

    A job is a number, given in the order of the jobs' names (`job_codes`). The results
    of several runs can be merged at once: under numbers that tell them apart in place
    of the tests' own.
    """

    columns: Columns
    job: NDArray[np.int64]
    index: NDArray[np.int64]
    attempt: NDArray[np.int64]
    upload: NDArray[np.int64]
    source: NDArray[np.int32]


def merge(parts: Sequence[Part]) -> Merged:
    """Merge what the uploads of one run say."""
    if len(parts) == 1:
        columns = parts[0].columns
        source = np.zeros(len(columns), np.int32)
        return Merged(_judged(columns), source, float(np.nansum(columns.duration)))
    return merge_entries(_entries(parts))


def merge_entries(entries: Entries) -> Merged:
    """Merge results that stand in one array each."""
    if not len(entries.columns):
        return Merged(blocks.empty(), np.empty(0, np.int32), 0.0)
    by_attempt, duration_s = _within_attempts(_sorted(_without_gates(entries)))
    return _across_jobs(_latest(by_attempt), duration_s)


def _without_gates(entries: Entries) -> Entries:
    """Excuse what a trace alone calls a failure where a report of the same part and
    attempt shows that it was a gate's."""
    columns = entries.columns
    silent = (columns.flags & Flag.SILENT) > 0
    gated = (columns.flags & Flag.GATED) > 0
    if not (silent.any() and gated.any()):
        return entries
    keys = np.stack((columns.tests, entries.job, entries.index, entries.attempt))
    _, group = np.unique(keys, axis=1, return_inverse=True)
    by_group = np.zeros(len(columns), np.uint8)
    by_group[group[gated]] = columns.outcome[gated] + 1
    excused = silent & (by_group[group] > 0)
    outcome = np.where(excused, by_group[group] - 1, columns.outcome).astype(np.uint8)
    return replace(entries, columns=replace(columns, outcome=outcome))


def job_codes(jobs: Iterable[str]) -> dict[str, int]:
    return {name: code for code, name in enumerate(sorted(set(jobs)))}


def _judged(columns: Columns) -> Columns:
    """Add the flaky mark where an upload's own attempts disagree; drop inner marks."""
    flags = columns.flags
    bad = ((flags & Flag.HAD_FAILURE) > 0) | _FAILS[columns.outcome]
    good = ((flags & Flag.HAD_PASS) > 0) | _PASSES[columns.outcome]
    own = flags & np.uint8(Flag.FLAKY | Flag.LEAKING | Flag.CONFLICT)
    marked = own | np.where(bad & good, np.uint8(Flag.FLAKY), np.uint8(0))
    return Columns(
        columns.tests,
        columns.outcome,
        marked.astype(np.uint8),
        columns.attempts,
        columns.duration,
    )


def _entries(parts: Sequence[Part]) -> Entries:
    jobs = job_codes(part.job for part in parts)
    lengths = [len(part.columns) for part in parts]

    def spread(values: list[int]) -> NDArray[np.int64]:
        return np.repeat(np.array(values, np.int64), lengths)

    return Entries(
        blocks.join([part.columns for part in parts]),
        spread([jobs[part.job] for part in parts]),
        spread([part.index for part in parts]),
        spread([part.attempt for part in parts]),
        spread([part.upload for part in parts]),
        spread(list(range(len(parts)))).astype(np.int32),
    )


def _sorted(entries: Entries) -> Entries:
    """Order by test, job, attempt; the one that would count comes first in each."""
    columns = entries.columns
    known = np.nan_to_num(columns.duration, nan=-1.0)
    order = np.lexsort(
        (
            entries.upload,
            entries.index,
            -known,
            -_SEVERITY[columns.outcome],
            entries.attempt,
            entries.job,
            columns.tests,
        )
    )
    return _picked(entries, order)


def _picked(entries: Entries, rows: NDArray[Any]) -> Entries:  # Any: integer indices
    return Entries(
        entries.columns.take(rows),
        entries.job[rows],
        entries.index[rows],
        entries.attempt[rows],
        entries.upload[rows],
        entries.source[rows],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """One row a group: who counts, and what all of the group say together."""

    entries: Entries
    flags: NDArray[np.uint8]
    attempts: NDArray[np.int64]
    duplicates: NDArray[np.bool_]


def _within_attempts(entries: Entries) -> tuple[_Group, float]:
    """Fold to one row a (test, job, attempt): conflicts and duplicates are told."""
    columns = entries.columns
    starts = _starts(columns.tests, entries.job, entries.attempt)
    group = _group_of(starts, len(columns))
    by_part = np.lexsort((entries.index, group))
    part_starts = _starts(group[by_part], entries.index[by_part])
    family = _FAMILY[columns.outcome[by_part]]
    differs = np.minimum.reduceat(family, part_starts) != np.maximum.reduceat(
        family, part_starts
    )
    parts_group = group[by_part][part_starts]
    conflict = np.bincount(parts_group, differs, len(starts)) > 0
    several = np.bincount(parts_group, minlength=len(starts)) > 1
    longest = np.fmax.reduceat(columns.duration[by_part], part_starts)
    flags = np.bitwise_or.reduceat(columns.flags, starts)
    flags |= np.where(conflict, Flag.CONFLICT, 0).astype(np.uint8)
    attempts = np.maximum.reduceat(columns.attempts.astype(np.int64), starts)
    group_rows = _Group(_picked(entries, starts), flags, attempts, several)
    return group_rows, float(np.nansum(longest))


def _latest(group: _Group) -> _Group:
    """Fold attempts to one row a (test, job): the latest counts, disagreement tells."""
    entries = group.entries
    columns = entries.columns
    starts = _starts(columns.tests, entries.job)
    last = np.append(starts[1:], len(columns)) - 1
    fails = _FAILS[columns.outcome] | ((group.flags & Flag.HAD_FAILURE) > 0)
    passes = _PASSES[columns.outcome] | ((group.flags & Flag.HAD_PASS) > 0)
    # Within one upload the outcome itself and its earlier attempts may disagree too.
    disagree = np.logical_or.reduceat(fails, starts) & np.logical_or.reduceat(
        passes, starts
    )
    flaky = np.bitwise_or.reduceat(group.flags & np.uint8(Flag.FLAKY), starts) > 0
    kept = group.flags[last] & np.uint8(Flag.LEAKING | Flag.CONFLICT)
    flags = kept | np.where(flaky | disagree, Flag.FLAKY, 0).astype(np.uint8)
    return _Group(
        _picked(entries, last),
        flags,
        np.add.reduceat(group.attempts, starts),
        group.duplicates[last],
    )


def _across_jobs(group: _Group, duration_s: float) -> Merged:
    """Fold jobs to one row a test: the worse counts."""
    entries = group.entries
    columns = entries.columns
    known = np.nan_to_num(columns.duration, nan=-1.0)
    order = np.lexsort(
        (entries.job, -known, -_SEVERITY[columns.outcome], columns.tests)
    )
    starts = _starts(columns.tests[order])
    counted = _picked(entries, order[starts])
    flags = np.bitwise_or.reduceat(group.flags[order], starts)
    jobs = np.diff(np.append(starts, len(order)))
    several = (jobs > 1) | np.logical_or.reduceat(group.duplicates[order], starts)
    flags |= np.where(several, Flag.DUPLICATE, 0).astype(np.uint8)
    attempts = np.maximum.reduceat(group.attempts[order], starts)
    merged = Columns(
        counted.columns.tests,
        counted.columns.outcome,
        flags,
        np.minimum(attempts, 65_535).astype(np.uint16),
        counted.columns.duration,
    )
    return Merged(merged, counted.source, duration_s)


def _starts(*keys: NDArray[Any]) -> NDArray[np.intp]:  # Any: integers
    """Return where a new group begins in arrays sorted by these keys."""
    new = np.zeros(len(keys[0]), bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(new)


def _group_of(starts: NDArray[np.intp], size: int) -> NDArray[np.int64]:
    marks = np.zeros(size, np.int64)
    marks[starts[1:]] = 1
    return np.cumsum(marks)
