"""What was fixed, and how sure that is.

Guarantees: a fixed number of queries; the surest first; the bounds are exact.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from analysis.fixed import Fix, proof
from leaks.models import Leaker, LeakerState, Pair, PairKind, PairStatus
from projects.days import today_in
from results.queries.stretches import Tried, tried_since
from review import epochs, wording
from review.shapes import Item, Kind

if TYPE_CHECKING:
    from datetime import datetime

    from projects.models import Project
    from review.epochs import Progress

LOOK_BACK = timedelta(days=30)
_MOST = 200
_FIXED = (LeakerState.FIXED, LeakerState.VERIFIED_FIXED)
_CLAIMED = (PairStatus.PROVEN, PairStatus.CONFIRMED)
_ORDER = (Fix.REOPENED, Fix.VERIFIED, Fix.WAITING)


def fixed(project: Project, *, until: datetime, kind: str | None) -> list[Item]:
    """Return fixes of the last 30 days: what failed again first, then the surest."""
    since = until - LOOK_BACK
    told = epochs.recent(project, since=since, until=until, kind=kind)
    leakers = _leakers(project, since=since, until=until, kind=kind)
    items = [*leakers, *map(_test, told)]
    return sorted(
        items,
        key=lambda item: (
            _ORDER.index(Fix(item.figures["fix"])),
            item.figures["chance"],
            item.title,
        ),
    )


def _test(one: Progress) -> Item:
    row = one.epoch
    return Item(
        subject=f"test:{row.test_id}",
        kind=Kind.TEST,
        id=row.test_id,
        title=one.nodeid,
        why=wording.fixed(
            one.proof,
            since=wording.mark(row.pr, row.commit, row.at),
            old_failed=row.failed,
            old_runs=row.runs,
        ),
        figures={
            "test": row.test_id,
            "fix": one.proof.state.value,
            "runs": one.runs,
            "failed": one.failed,
            "old_runs": row.runs,
            "old_failed": row.failed,
            "chance": one.proof.chance,
            "new_high": one.proof.new_high,
        },
    )


def _leakers(
    project: Project, *, since: datetime, until: datetime, kind: str | None
) -> list[Item]:
    """A leaker's fix shows in its victims: all of them together are looked at."""
    rows = Leaker.objects.filter(
        project=project, state__in=_FIXED, fixed_at__gte=since, fixed_at__lt=until
    )
    leakers = {row.test_id: row for row in rows.select_related("test")[:_MOST]}
    pairs: dict[int, list[Pair]] = defaultdict(list)
    told = Pair.objects.filter(
        project=project,
        test__leaker__in=rows,
        kind=PairKind.VICTIM,
        status__in=_CLAIMED,
    )
    for pair in told.select_related("victim"):
        pairs[pair.test_id].append(pair)
    days = {
        pair.victim.number: today_in(project.zone, _fixed_at(leakers[test]))
        for test, some in pairs.items()
        for pair in some
    }
    tried = tried_since(
        project.pk,
        days,
        until=today_in(project.zone, until),
        branch_class=kind,
    )
    return [_leaker(row, pairs[test], tried) for test, row in leakers.items()]


def _leaker(row: Leaker, pairs: list[Pair], tried: dict[int, Tried]) -> Item:
    """Of a victim's runs since, only the share counts that had the leaker before it."""
    old_failed = sum(pair.failed_after for pair in pairs)
    old_runs = old_failed + sum(pair.passed_after for pair in pairs)
    failed, relevant = 0, 0.0
    for pair in pairs:
        one = tried.get(pair.victim.number, Tried())
        after = pair.failed_after + pair.passed_after
        all_runs = after + pair.failed_without + pair.passed_without
        relevant += one.runs * after / all_runs if all_runs else 0.0
        failed += one.failed
    found = proof(
        old_events=old_failed,
        old_trials=old_runs,
        relevant=max(relevant, failed),
        failures=failed,
    )
    said = wording.fixed(
        found,
        since=wording.mark(None, row.fixed_commit, _fixed_at(row)),
        old_failed=old_failed,
        old_runs=old_runs,
    )
    victims = wording.counted(len(pairs), "victim")
    return Item(
        subject=f"test:{row.test_id}",
        kind=Kind.LEAKER,
        id=row.pk,
        title=row.test.nodeid,
        why=f"Its {victims}: {said[:1].lower()}{said[1:]}" if pairs else _ungated(row),
        figures={
            "test": row.test_id,
            "fix": found.state.value,
            "runs": round(relevant, 1),
            "failed": failed,
            "old_runs": old_runs,
            "old_failed": old_failed,
            "chance": found.chance,
            "new_high": found.new_high,
        },
    )


def _ungated(row: Leaker) -> str:
    since = wording.mark(None, row.fixed_commit, _fixed_at(row))
    return f"No gate has seen it leak since {since}; it has no victim to prove it by."


def _fixed_at(row: Leaker) -> datetime:
    return row.fixed_at or row.updated_at
