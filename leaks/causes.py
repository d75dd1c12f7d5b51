"""Which leaker broke which failing test of one run.

Guarantees: a fixed number of queries; a leaker is named only where it ran before the
test in its process, or where the run's order is not known (then it says so); a leaker
that somebody dismissed is nobody's cause.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from leaks.models import Leaker, LeakerState, Pair, PairKind, PairStatus
from results.models import Run
from results.queries.before import order_holds
from results.queries.failing import failing_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from django.db.models import QuerySet

CLAIMED = (PairStatus.PROVEN, PairStatus.CONFIRMED)
SUSPECTED = (PairStatus.SUSPECT, PairStatus.INDISTINGUISHABLE)
SUSPECTED_FROM = 0.1
_BEST_FIRST = (*CLAIMED, *SUSPECTED)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why one test failed in one run. `test` and `nodeid` are those of the leaker, of a
    brittle test those of the setter that was missing.

    `leaker` is the id of its row (None: a setter, or a mere suspect); `status` is
    proven, confirmed, or only suspect or indistinguishable. `ran_before`: in this run;
    None where its order is not known.
    """

    victim: int
    leaker: int | None
    test: int
    nodeid: str
    kind: str
    status: str
    posterior: float
    ran_before: bool | None

    @property
    def claimed(self) -> bool:
        return self.status in CLAIMED


def causes(run_id: int) -> dict[int, Cause]:
    """Return the best cause of each failing test of a run, by the test's *number*.

    Tests without a cause are left out.
    """
    run = Run.objects.filter(pk=run_id).only("order", "project_id").first()
    if run is None:
        return {}
    wanted = failing_in(run_id, run.project_id).failed
    pairs = [pair for pair in _pairs(run.project_id) if pair.victim_id in wanted]
    number = {pair.victim_id: pair.victim.number for pair in pairs}
    return {number[one.victim]: one for one in _best(run, pairs)}


def causes_of(run_id: int, tests: Collection[int]) -> dict[int, Cause]:
    """Return the best cause of each of these failing tests of a run, by its *id*."""
    run = Run.objects.filter(pk=run_id).only("order", "project_id").first()
    if run is None or not tests:
        return {}
    pairs = list(_pairs(run.project_id).filter(victim__in=tests))
    return {one.victim: one for one in _best(run, pairs)}


def _pairs(project_id: int) -> QuerySet[Pair]:
    believed = Q(status__in=CLAIMED) | Q(
        status__in=SUSPECTED, posterior__gte=SUSPECTED_FROM, current=True
    )
    rows = Pair.objects.filter(believed, project_id=project_id)
    return rows.select_related("test__leaker", "victim").order_by("pk")


def _best(run: Run, pairs: Collection[Pair]) -> Iterable[Cause]:
    known = run.order != "unknown"
    held = _held(run.pk, pairs) if known else set()
    found: dict[int, list[Cause]] = defaultdict(list)
    for pair in pairs:
        leaker = getattr(pair.test, "leaker", None)
        before = (pair.test_id, pair.victim_id) in held if known else None
        harmful = pair.kind == PairKind.VICTIM
        if (known and before != harmful) or _dismissed(leaker):
            continue
        found[pair.victim_id].append(_cause(pair, leaker, before))
    return [min(some, key=_rank) for some in found.values()]


def _held(run_id: int, pairs: Iterable[Pair]) -> set[tuple[int, int]]:
    asked = {(pair.test_id, pair.victim_id) for pair in pairs}
    return order_holds(run_id, asked) if asked else set()


def _dismissed(leaker: Leaker | None) -> bool:
    return leaker is not None and leaker.state == LeakerState.DISMISSED


def _cause(pair: Pair, leaker: Leaker | None, before: bool | None) -> Cause:
    return Cause(
        victim=pair.victim_id,
        leaker=leaker.pk if leaker and pair.kind == PairKind.VICTIM else None,
        test=pair.test_id,
        nodeid=pair.test.nodeid,
        kind=pair.kind,
        status=pair.status,
        posterior=pair.posterior,
        ran_before=before,
    )


def _rank(cause: Cause) -> tuple[int, float, int]:
    return _BEST_FIRST.index(PairStatus(cause.status)), -cause.posterior, cause.test
