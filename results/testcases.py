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
from dataclasses import dataclass
from itertools import batched
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from django.db import connection, transaction
from django.db.models import F

from results import bulk
from results.models import Counter, TestCase
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
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


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """Ids and ranks stand by number, so that a case costs two entries, not an object."""

    epoch: str
    numbers: dict[str, int]
    ids: NDArray[np.int64]
    ranks: NDArray[np.int16]


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """Aligned with the results that were given. `made` are the numbers given out."""

    numbers: NDArray[np.int32]
    ids: NDArray[np.int64]
    made: range = range(0)


_known: OrderedDict[int, _Known] = OrderedDict()
_guard = Lock()


def resolve(
    project_id: int, results: Sequence[TestResult], *, seen_at: datetime
) -> Resolved:
    """Find or make the test case of every result. Never call it in a transaction that
    may be long: it makes cases in a short one of its own."""
    known = _recall(project_id)
    told = list(map(known.numbers.get, map(attrgetter("key"), results)))
    made = range(0)
    try:
        numbers = np.array(told, np.int32)
    except TypeError:  # some are not known: that is the fastest way to notice
        known, made = _learn(project_id, known, told, results, seen_at)
        numbers = np.array([known.numbers[one.key] for one in results], np.int32)
    ranks = np.array([result.rank for result in results], np.int16)
    richer = np.flatnonzero(ranks > known.ranks[numbers])
    if len(richer):
        _enrich(project_id, [results[place] for place in richer.tolist()], seen_at)
    return Resolved(numbers, known.ids[numbers], made)


def _learn(
    project_id: int,
    known: _Known,
    told: Sequence[int | None],
    results: Sequence[TestResult],
    seen_at: datetime,
) -> tuple[_Known, range]:
    """Find or make what is not known, and remember it; return what is known then."""
    missing = [
        result for number, result in zip(told, results, strict=True) if number is None
    ]
    found, made = _find_or_make(project_id, missing, seen_at)
    return _remember(project_id, found, known), made


def find(project_id: int, keys: Collection[str]) -> dict[str, int]:
    """Return the ids of the test cases that there are, by key."""
    digests = {digest_of(key): key for key in keys}
    found = _read(project_id, digests.keys())
    return {digests[digest]: case.id for digest, case in found.items()}


def digest_of(key: str) -> bytes:
    return hashlib.blake2b(
        key.encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()


def _nothing(epoch: str = "") -> _Known:
    return _Known(epoch, {}, np.empty(0, np.int64), np.empty(0, np.int16))


def _recall(project_id: int) -> _Known:
    """Return what is remembered of a project and still true."""
    counter = Counter.objects.filter(project_id=project_id)
    row = counter.values_list("epoch", "tests").first()
    with _guard:
        known = _known.get(project_id)
        if known is None or row is None:
            return _nothing()
        if known.epoch != row[0] or len(known.numbers) > row[1]:
            del _known[project_id]
            return _nothing()
        _known.move_to_end(project_id)
        return known


def _remember(project_id: int, found: Mapping[str, Case], known: _Known) -> _Known:
    """Return what is known with these cases; remember it where they are committed.

    The projects not asked for longest are forgotten.
    """
    epoch = Counter.objects.values_list("epoch", flat=True).get(project_id=project_id)
    told = _with(found, known if known.epoch == epoch else _nothing(epoch))
    if connection.in_atomic_block:
        return told
    with _guard:
        _known[project_id] = told
        _known.move_to_end(project_id)
        total = sum(len(one.numbers) for one in _known.values())
        while total > MOST_REMEMBERED:
            _, dropped = _known.popitem(last=False)
            total -= len(dropped.numbers)
    return told


def _with(found: Mapping[str, Case], known: _Known) -> _Known:
    """Return a copy with some cases more: others may be reading this one."""
    size = max((case.number for case in found.values()), default=-1) + 1
    more = max(size - len(known.ids), 0)
    ids, ranks = np.pad(known.ids, (0, more)), np.pad(known.ranks, (0, more))
    for number, pk, rank in found.values():
        ids[number], ranks[number] = pk, rank
    fresh = {key: case.number for key, case in found.items()}
    return _Known(known.epoch, {**known.numbers, **fresh}, ids, ranks)


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
    richer = {
        result.key: stored[digest]._replace(rank=max(result.rank, stored[digest].rank))
        for digest, result in digests.items()
    }
    _remember(project_id, richer, _recall(project_id))


def _shown(result: TestResult) -> dict[str, str]:
    return {name: storable(getattr(result, name)) for name in _SHOWN}
