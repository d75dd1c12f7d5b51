"""What is believed of failing tests, as far as a verdict needs it.

Guarantees: a few queries whatever the data; the digest is equal while nothing that a
verdict says would change.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.judgement import Class
from leaks.models import Leaker, LeakerState, Pair, Verdict
from leaks.totals import causes_of
from pulls.shapes import Flaky
from results import rates
from results.queries.statistics import days_of, stats_of
from results.queries.tested import numbers_of
from results.queries.windows import end_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from leaks.shapes import Cause

WINDOW = 30  # days, of a flaky test's rate
_FIXED = (LeakerState.FIXED, LeakerState.VERIFIED_FIXED)


@dataclass(frozen=True, slots=True)
class KnownLeaker:
    """A leaker as a verdict names it."""

    id: int
    test: int
    nodeid: str
    number: int
    state: str
    first_pr: int | None
    fixed_commit: str
    status: str

    @property
    def fixed(self) -> bool:
        return self.state in _FIXED


@dataclass(frozen=True, slots=True)
class Causes:
    """By test id: the claimed leaker of a victim, and the rate of a flaky one."""

    leakers: dict[int, KnownLeaker]
    flaky: dict[int, Flaky]
    digest: str


def causes(project_id: int, test_ids: Collection[int]) -> Causes:
    """Say what is believed of these tests."""
    told = causes_of(test_ids) if test_ids else {}
    best = {test: some[0] for test, some in told.items()}
    leakers = _leakers(best)
    unstable = [test for test, one in best.items() if one.name == Class.FLAKY]
    flaky = _rates(project_id, [test for test in unstable if test not in leakers])
    return Causes(leakers, flaky, _digest(leakers, flaky))


def changed_at(project_id: int) -> datetime | None:
    """Return when leakers, pairs or classes of a project were last stored."""
    stamps = [
        kind.objects.filter(project_id=project_id)
        .order_by("-updated_at")
        .values_list("updated_at", flat=True)
        .first()
        for kind in (Leaker, Pair, Verdict)
    ]
    return max((stamp for stamp in stamps if stamp), default=None)


def _leakers(best: dict[int, Cause]) -> dict[int, KnownLeaker]:
    wanted = {one.leaker: one for one in best.values() if one.leaker is not None}
    rows = Leaker.objects.filter(pk__in=list(wanted)).select_related("test")
    found = {row.pk: row for row in rows}
    return {
        test: KnownLeaker(
            id=row.pk,
            test=row.test_id,
            nodeid=row.test.nodeid,
            number=row.test.number,
            state=row.state,
            first_pr=row.first_pr,
            fixed_commit=row.fixed_commit,
            status=one.status,
        )
        for test, one in best.items()
        if one.leaker is not None and (row := found.get(one.leaker)) is not None
    }


def _rates(project_id: int, test_ids: list[int]) -> dict[int, Flaky]:
    if not test_ids:
        return {}
    days = days_of(project_id, today=end_of(project_id).day, window=WINDOW)
    numbers = numbers_of(test_ids)
    found = {}
    for test, one in zip(
        test_ids, stats_of(days, [numbers[test] for test in test_ids]), strict=True
    ):
        rate = rates.beta_rate(one.failed + one.errors, one.runs - one.skipped)
        found[test] = (
            Flaky(rate.hits / rate.of, rate.low, rate.high, rate.of)
            if rate
            else Flaky(None)
        )
    return found


def _digest(leakers: dict[int, KnownLeaker], flaky: dict[int, Flaky]) -> str:
    """Rates move with every run; that a test is flaky does not."""
    said = [
        sorted((test, one.id, one.state, one.status) for test, one in leakers.items()),
        sorted(flaky),
    ]
    raw = json.dumps(said, default=str).encode()
    return hashlib.blake2b(raw, digest_size=16).hexdigest()
