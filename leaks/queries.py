"""Reads of leakers, victims and unstable tests.

Guarantees: a fixed number of queries, whatever the data; the dearest first. What broke
the failing tests of a run: `causes(run_id)`.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from leaks.causes import Cause as Cause
from leaks.causes import causes as causes
from leaks.causes import causes_of as causes_of
from leaks.models import (
    Leaker,
    LeakerSource,
    LeakerState,
    Pair,
    PairKind,
    PairStatus,
    Proof,
    Verdict,
)
from leaks.shapes import LeakerRow, PairRow, UnstableRow, VictimRow
from results.queries import cursors
from results.queries.rows import nodeids_of
from results.queries.shapes import Page
from results.queries.statistics import days_of, stats_of
from results.queries.windows import end_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from results.rates import Rate

CLAIMED = (PairStatus.PROVEN, PairStatus.CONFIRMED)


def list_leakers(
    project_id: int,
    *,
    state: str | None = None,
    kind: str | None = None,
    source: str | None = None,
    owner: str | None = None,
    q: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[LeakerRow]:
    """List leakers, the dearest first; suspects only where their state is asked for.

    `owner` "" is nobody; `q` is part of a node id; `kind` a whole one.
    """
    rows = Leaker.objects.filter(project_id=project_id).select_related("test")
    if state is None:
        rows = rows.exclude(state=LeakerState.SUSPECTED)
    else:
        rows = rows.filter(state=state)
    if source is not None:
        rows = rows.filter(source__in=(source, LeakerSource.BOTH))
    if owner is not None:
        rows = rows.filter(owner=owner)
    if q is not None:
        rows = rows.filter(test__nodeid__icontains=q)
    if kind is not None:
        kinds_of = rows.values_list("pk", "kinds")
        rows = rows.filter(pk__in=[pk for pk, kinds in kinds_of if kind in kinds])
    if cursor is not None:
        dear, pk = cursors.read(cursor, str, int)
        lost_s = cursors.read_number(str(dear), cursor)
        rows = rows.filter(Q(lost_s__lt=lost_s) | Q(lost_s=lost_s, pk__gt=pk))
    found = list(rows.order_by("-lost_s", "pk")[: limit + 1])
    shown = found[:limit]
    told = _leakers(shown)
    if len(found) <= limit:
        return Page(told)
    return Page(told, cursors.write(shown[-1].lost_s.hex(), shown[-1].pk))


def open_leakers(project_id: int) -> list[LeakerRow]:
    """Return all open leakers with their kinds, victims and cost, the dearest first."""
    rows = Leaker.objects.filter(project_id=project_id, state=LeakerState.OPEN)
    return _leakers(list(rows.select_related("test").order_by("-lost_s", "pk")))


def get_leaker(leaker_id: int) -> LeakerRow | None:
    """Return one leaker."""
    rows = Leaker.objects.filter(pk=leaker_id).select_related("test")
    told = _leakers(list(rows))
    return told[0] if told else None


def leaker_of(test_id: int) -> LeakerRow | None:
    """Return the leaker that a test is, if it is one."""
    rows = Leaker.objects.filter(test_id=test_id).select_related("test")
    told = _leakers(list(rows))
    return told[0] if told else None


def victim(test_id: int) -> VictimRow:
    """Return what is believed of one test, whether it is unstable or not."""
    verdict = Verdict.objects.filter(test_id=test_id).first()
    pairs = list(
        Pair.objects.filter(victim_id=test_id)
        .select_related("test")
        .order_by("-current", "place", "-posterior", "pk")
    )
    grouped = [pk for pair in pairs for pk in pair.evidence.get("group", ())]
    nodeids = nodeids_of([test_id, *grouped])
    kind = verdict.name if verdict and verdict.name in PairKind.values else ""
    if not kind and pairs:
        kind = pairs[0].kind
    return VictimRow(
        test=test_id,
        nodeid=nodeids.get(test_id, ""),
        kind=kind,
        name=verdict.name if verdict else "",
        candidates=[
            _pair(pair, pair.test_id, pair.test.nodeid, nodeids) for pair in pairs
        ],
        probe=verdict.probe if verdict else None,
        missing=verdict.missing if verdict else "",
        evidence=verdict.evidence if verdict else {},
    )


def list_proofs(
    test_id: int, *, cursor: str | None = None, limit: int = 50
) -> Page[Proof]:
    """List the proofs of one victim, the newest first."""
    rows = Proof.objects.filter(victim_id=test_id)
    if cursor is not None:
        rows = rows.filter(pk__lt=cursors.read(cursor, int)[0])
    found = list(rows.order_by("-pk")[: limit + 1])
    shown = found[:limit]
    if len(found) <= limit:
        return Page(shown)
    return Page(shown, cursors.write(shown[-1].pk))


def list_unstable(
    project_id: int,
    *,
    window: int = 30,
    name: str | None = None,
    q: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
    now: datetime | None = None,
) -> Page[UnstableRow]:
    """List unstable tests that failed (or leaked) in the window, the dearest first."""
    end = end_of(project_id, now=now)
    rows = Verdict.objects.filter(
        project_id=project_id, last_failed__gt=end.moment - timedelta(days=window)
    ).select_related("test")
    if name is not None:
        rows = rows.filter(name=name)
    if q is not None:
        rows = rows.filter(test__nodeid__icontains=q)
    if cursor is not None:
        rows = rows.filter(rank__gt=cursors.read(cursor, int)[0])
    found = list(rows.order_by("rank")[: limit + 1])
    days = days_of(project_id, today=end.day, window=window)
    stats = stats_of(days, [row.test.number for row in found[:limit]])
    shown = [
        _unstable(row, one.flake_rate)
        for row, one in zip(found[:limit], stats, strict=True)
    ]
    if len(found) <= limit:
        return Page(shown)
    return Page(shown, cursors.write(found[limit - 1].rank))


def _leakers(rows: list[Leaker]) -> list[LeakerRow]:
    pairs = Pair.objects.filter(
        test_id__in=[row.test_id for row in rows], kind=PairKind.VICTIM
    )
    harmed: dict[int, list[PairRow]] = defaultdict(list)
    for pair in pairs.select_related("victim").order_by("-posterior", "pk"):
        told = _pair(pair, pair.victim_id, pair.victim.nodeid, {})
        harmed[pair.test_id].append(told)
    return [_leaker(row, harmed[row.test_id]) for row in rows]


def _leaker(row: Leaker, victims: list[PairRow]) -> LeakerRow:
    return LeakerRow(
        id=row.pk,
        project_id=row.project_id,
        test=row.test_id,
        nodeid=row.test.nodeid,
        kinds=list(row.kinds),
        source=row.source,
        state=row.state,
        opened_at=row.opened_at,
        reopened_at=row.reopened_at,
        ticket=row.ticket,
        recipe=row.recipe,
        first_run=row.first_run_id,
        first_commit=row.first_commit,
        first_pr=row.first_pr,
        first_at=row.first_at,
        last_at=row.last_at,
        failed_results=row.failed_results,
        failed_runs=row.failed_runs,
        lost_s=row.lost_s,
        pulls=row.pulls,
        victims=victims,
        reproduce=_reproduce(row.test.nodeid, victims),
        method_version=row.method_version,
        owner=row.owner,
        fixed_at=row.fixed_at,
        fixed_commit=row.fixed_commit,
    )


def _reproduce(nodeid: str, victims: Iterable[PairRow]) -> str:
    """The shortest command that shows the harm: the two alone, in this order."""
    best = next((one for one in victims if one.status in CLAIMED), None)
    if best is None:
        return ""
    names = f"{shlex.quote(nodeid)} {shlex.quote(best.nodeid)}"
    return f"pytest -p no:randomly -p no:random_order {names}"


def _pair(pair: Pair, test: int, nodeid: str, groups: dict[int, str]) -> PairRow:
    group = [groups[pk] for pk in pair.evidence.get("group", ()) if pk in groups]
    return PairRow(
        test=test,
        nodeid=nodeid,
        kind=pair.kind,
        status=pair.status,
        posterior=pair.posterior,
        bf=pair.bf,
        failed_after=pair.failed_after,
        passed_after=pair.passed_after,
        failed_without=pair.failed_without,
        passed_without=pair.passed_without,
        p_value=pair.p_value,
        q_value=pair.q_value,
        lives_for=pair.lives_for,
        current=pair.current,
        claimed_at=pair.claimed_at,
        group=group,
        evidence=pair.evidence,
    )


def _unstable(row: Verdict, flake_rate: Rate | None) -> UnstableRow:
    return UnstableRow(
        test=row.test_id,
        number=row.test.number,
        nodeid=row.test.nodeid,
        name=row.name,
        since=row.since,
        failed_runs=row.failed_runs,
        affected_prs=row.affected_prs,
        lost_s=row.lost_s,
        last_failed=row.last_failed,
        missing=row.missing,
        evidence=row.evidence,
        flake_rate=flake_rate,
    )
