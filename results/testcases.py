"""Test cases: from the keys of an upload to the project's dense numbers.

Guarantees: numbers are 0, 1, 2 … without holes, given once, whoever resolves the same
key at the same time or again; the displayed node id is the richest one seen.

What a process has resolved it remembers. That is sound because a case is never
deleted or renumbered while its project's counter lives, and only what was read outside
a transaction (so committed) is remembered.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import batched
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from django.db import connection, transaction
from django.db.models import F

from results import bulk
from results.models import Counter, TestCase
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from formats.report import TestResult

MOST_REMEMBERED = 400_000  # keys, over all projects
_AT_ONCE = 500  # values in one IN (…)
_MAX_NUMBER = 2**31 - 1


class Case(NamedTuple):
    number: int
    id: int
    rank: int


@dataclass(slots=True)
class _Known:
    epoch: str
    cases: dict[str, Case] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """Aligned with the results that were given. `made` are the numbers given out."""

    numbers: NDArray[np.int32]
    ids: list[int]
    made: range = range(0)


_known: OrderedDict[int, _Known] = OrderedDict()
_guard = Lock()


def resolve(
    project_id: int, results: Sequence[TestResult], *, seen_at: datetime
) -> Resolved:
    """Find or make the test case of every result. Never call it in a transaction that
    may be long: it makes cases in a short one of its own."""
    known = _recall(project_id)
    cases = [known.get(result.key) for result in results]
    missing = [
        result for case, result in zip(cases, results, strict=True) if case is None
    ]
    made = range(0)
    if missing:
        found, made = _find_or_make(project_id, missing, seen_at)
        _remember(project_id, found)
        told = [known.get(result.key) or found[result.key] for result in results]
    else:
        told = [case for case in cases if case is not None]
    richer = [r for c, r in zip(told, results, strict=True) if r.rank > c.rank]
    if richer:
        _enrich(project_id, richer, seen_at)
    numbers = np.array([case.number for case in told], np.int32)
    return Resolved(numbers, [case.id for case in told], made)


def find(project_id: int, keys: Collection[str]) -> dict[str, int]:
    """Return the ids of the test cases that there are, by key."""
    digests = {digest_of(key): key for key in keys}
    found = _read(project_id, digests.keys())
    return {digests[digest]: case.id for digest, case in found.items()}


def digest_of(key: str) -> bytes:
    return hashlib.blake2b(
        key.encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()


def _recall(project_id: int) -> dict[str, Case]:
    """Return what is remembered of a project and still true."""
    counter = Counter.objects.filter(project_id=project_id).first()
    with _guard:
        known = _known.get(project_id)
        if known is None or counter is None:
            return {}
        if known.epoch != counter.epoch or len(known.cases) > counter.tests:
            del _known[project_id]
            return {}
        _known.move_to_end(project_id)
        return known.cases


def _remember(project_id: int, found: dict[str, Case]) -> None:
    """Remember committed cases; the projects not asked for longest are forgotten."""
    if connection.in_atomic_block:
        return
    epoch = Counter.objects.values_list("epoch", flat=True).get(project_id=project_id)
    with _guard:
        known = _known.get(project_id)
        if known is None or known.epoch != epoch:
            known = _known[project_id] = _Known(epoch)
        # A new dictionary: others may be reading the one before.
        known.cases = {**known.cases, **found}
        _known.move_to_end(project_id)
        total = sum(len(one.cases) for one in _known.values())
        while total > MOST_REMEMBERED:
            _, dropped = _known.popitem(last=False)
            total -= len(dropped.cases)


def _find_or_make(
    project_id: int, missing: Sequence[TestResult], seen_at: datetime
) -> tuple[dict[str, Case], range]:
    digests = {digest_of(result.key): result for result in missing}
    stored = _read(project_id, digests.keys())
    made = range(0)
    if len(stored) < len(digests):
        with transaction.atomic():
            start = _lock_counter(project_id)
            absent = digests.keys() - stored.keys()
            # Another worker may have made some before the lock was ours.
            stored |= _read(project_id, absent) if start else {}
            new = [one for one in digests if one not in stored]
            _make(project_id, start, {one: digests[one] for one in new}, seen_at)
            made = range(start, start + len(new))
            stored |= _read(project_id, new)
    return {result.key: stored[digest] for digest, result in digests.items()}, made


def _read(project_id: int, digests: Iterable[bytes]) -> dict[bytes, Case]:
    """Read cases by digest; all of the project where that is cheaper."""
    wanted = list(digests)
    cases = TestCase.objects.filter(project_id=project_id)
    fields = ("key", "number", "id", "rank")
    if len(wanted) > 4 * _AT_ONCE:
        every = cases.values_list(*fields).iterator(chunk_size=10_000)
        everything = {bytes(key): Case(*rest) for key, *rest in every}
        return {one: everything[one] for one in wanted if one in everything}
    found: dict[bytes, Case] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        batch = wanted[start : start + _AT_ONCE]
        rows = cases.filter(key__in=batch).values_list(*fields)
        found |= {bytes(key): Case(*rest) for key, *rest in rows}
    return found


def _lock_counter(project_id: int) -> int:
    """Hold the project's counter until the transaction ends; return its count."""
    mine = Counter.objects.filter(project_id=project_id)
    if not mine.update(tests=F("tests")):
        row = Counter(project_id=project_id, epoch=uuid.uuid4().hex)
        Counter.objects.bulk_create([row], ignore_conflicts=True)
        mine.update(tests=F("tests"))
    return mine.values_list("tests", flat=True).get()


_SHOWN = ("nodeid", "file", "suite", "name", "params")
_FIELDS = ("project", "number", "key", "rank", "line", "first_seen", "last_seen")


def _make(
    project_id: int, start: int, new: dict[bytes, TestResult], seen_at: datetime
) -> None:
    # By and by: the rows of a large suite would be most of the worker's memory.
    for some in batched(enumerate(new.items(), start), 10 * _AT_ONCE):
        rows = [
            (
                project_id,
                number,
                digest,
                result.rank,
                result.line if 0 < (result.line or 0) <= _MAX_NUMBER else None,
                seen_at,
                seen_at,
                *_shown(result).values(),
            )
            for number, (digest, result) in some
        ]
        bulk.insert(TestCase, (*_FIELDS, *_SHOWN), rows)
    Counter.objects.filter(project_id=project_id).update(tests=start + len(new))


def _enrich(project_id: int, results: Sequence[TestResult], seen_at: datetime) -> None:
    """Show the richer node ids from now on; a poorer one never replaces them."""
    digests = {digest_of(result.key): result for result in results}
    with transaction.atomic():
        _lock_counter(project_id)
        stored = _read(project_id, digests)
        rows = [
            TestCase(
                project_id=project_id,
                number=stored[digest].number,
                key=digest,
                first_seen=seen_at,
                last_seen=seen_at,
                rank=result.rank,
                **_shown(result),
            )
            for digest, result in digests.items()
            if result.rank > stored[digest].rank
        ]
        TestCase.objects.bulk_create(
            rows,
            batch_size=_AT_ONCE,
            update_conflicts=True,
            unique_fields=["project", "key"],
            update_fields=["rank", *_SHOWN],
        )
    _remember(
        project_id,
        {
            result.key: stored[digest]._replace(
                rank=max(result.rank, stored[digest].rank)
            )
            for digest, result in digests.items()
        },
    )


def _shown(result: TestResult) -> dict[str, str]:
    return {name: storable(getattr(result, name)) for name in _SHOWN}
