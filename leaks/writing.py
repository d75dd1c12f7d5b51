"""Storing what a judgement came to: pairs, leakers, verdicts.

Guarantees: the caller's transaction is open; storing the same twice changes nothing
but the times of storing; nothing that a person decided is overwritten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis import METHOD_VERSION
from analysis.claims import Move
from analysis.judgement import Class, Status
from leaks.leakers import next_state
from leaks.models import Leaker, LeakerSource, LeakerState, Pair, Verdict
from leaks.pairs import CLAIMS, Known
from leaks.signals import (
    leaker_fixed,
    leaker_opened,
    leaker_reopened,
    test_newly_flaky,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from leaks.fixes import Fixes
    from leaks.leakers import LeakerNow
    from leaks.pairs import Key, PairNow
    from leaks.verdicts import VerdictNow

# Any, below: a value of any field.
_AT_ONCE = 500
_FIXED = (LeakerState.FIXED, LeakerState.VERIFIED_FIXED)


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when it is stored; `ids` are those of test cases, by number."""

    project_id: int
    ids: Mapping[int, int]
    at: datetime


def known_pairs(project_id: int) -> dict[Key, Known]:
    """Return the stored pairs by their key."""
    rows = Pair.objects.filter(project_id=project_id)
    return {
        (test, victim, kind): Known(Status(status), posterior)
        for test, victim, kind, status, posterior in rows.values_list(
            "test__number", "victim__number", "kind", "status", "posterior"
        )
    }


def write_pairs(place: Place, pairs: Sequence[PairNow]) -> None:
    """Store the pairs; those that nothing speaks of any more are let go."""
    mine = Pair.objects.filter(project_id=place.project_id)
    stored = {
        (pair.test_id, pair.victim_id, pair.kind): pair
        for pair in mine.select_for_update()
    }
    made: list[Pair] = []
    changed: list[Pair] = []
    for now in pairs:
        if now.test not in place.ids or now.victim not in place.ids:
            continue
        test, victim = place.ids[now.test], place.ids[now.victim]
        row = stored.pop((test, victim, now.kind.value), None)
        (changed if row else made).append(_pair(place, row, now))
    Pair.objects.bulk_create(made, batch_size=_AT_ONCE)
    Pair.objects.bulk_update(changed, _PAIR_FIELDS, batch_size=_AT_ONCE)
    gone = [pair.pk for pair in stored.values() if pair.status not in CLAIMS]
    mine.filter(pk__in=gone).delete()
    past = [pair.pk for pair in stored.values() if pair.status in CLAIMS]
    mine.filter(pk__in=past, current=True).update(current=False, updated_at=place.at)


_PAIR_FIELDS = (
    "status",
    "place",
    "posterior",
    "bf",
    "failed_after",
    "passed_after",
    "failed_without",
    "passed_without",
    "p_value",
    "q_value",
    "lives_for",
    "evidence",
    "current",
    "claimed_at",
    "updated_at",
)


def _pair(place: Place, row: Pair | None, now: PairNow) -> Pair:
    if row is None:
        row = Pair(
            project_id=place.project_id,
            test_id=place.ids[now.test],
            victim_id=place.ids[now.victim],
            kind=now.kind,
        )
    if now.move is Move.ENTERED:
        row.claimed_at = place.at
    for name in ("status", "place", "posterior", "bf", "p_value", "q_value"):
        setattr(row, name, getattr(now, name))
    row.failed_after = now.table.failed_after
    row.passed_after = now.table.passed_after
    row.failed_without = now.table.failed_without
    row.passed_without = now.table.passed_without
    row.lives_for = now.lives_for
    row.evidence = _with_ids(place, now.evidence)
    row.current = True
    row.updated_at = place.at
    return row


def _with_ids(place: Place, evidence: dict[str, Any]) -> dict[str, Any]:
    """Numbers of tests become their ids: the rows speak of rows."""
    ids: dict[str, Any] = {
        name: [place.ids[number] for number in evidence[name] if number in place.ids]
        for name in ("group", "cleaners")
        if name in evidence
    }
    return {**evidence, **ids}


def write_leakers(place: Place, leakers: Sequence[LeakerNow], fixes: Fixes) -> None:
    """Store the leakers, each in its next state."""
    mine = Leaker.objects.filter(project_id=place.project_id)
    stored = {row.test_id: row for row in mine.select_for_update()}
    for now in leakers:
        if now.test not in place.ids:
            continue
        row = stored.pop(place.ids[now.test], None)
        before = LeakerState(row.state) if row else None
        state = next_state(before, now, fixed_at=row.fixed_at if row else None)
        fix = fixes.get(now.test)
        if state is LeakerState.FIXED and fix and fix["verified"]:
            state = LeakerState.VERIFIED_FIXED
        if state is not None:
            told = _leaker(place, row, now, state)
            told.fix = fix if state in _FIXED else None
            told.save()
            tell(told, before, at=place.at)
        elif row is not None:
            row.delete()
    numbers = {pk: number for number, pk in place.ids.items()}
    for row in stored.values():
        _verify(row, fixes.get(numbers.get(row.test_id, -1)), at=place.at)
        if row.state == LeakerState.SUSPECTED and row.opened_at is None:
            row.delete()
        elif row.state in (LeakerState.OPEN, LeakerState.SUSPECTED):
            row.state, row.fixed_at = LeakerState.FIXED, place.at
            row.updated_at = place.at
            row.save(update_fields=["state", "fixed_at", "updated_at"])
            leaker_fixed.send(Leaker, leaker=row, at=place.at, verified=False)


def _verify(row: Leaker, fix: dict[str, Any] | None, *, at: datetime) -> None:
    """Store how sure the fix is of a leaker of which nothing speaks any more."""
    if fix is None or row.state not in _FIXED:
        return
    before, row.fix = LeakerState(row.state), fix
    if fix["verified"]:
        row.state = LeakerState.VERIFIED_FIXED
    row.updated_at = at
    row.save(update_fields=["state", "fix", "updated_at"])
    tell(row, before, at=at)


def tell(row: Leaker, before: LeakerState | None, *, at: datetime) -> None:
    """Send what became of a leaker, if anything did; in the caller's transaction."""
    if row.state == before:
        return
    if row.state == LeakerState.OPEN and row.opened_at == at:
        leaker_opened.send(Leaker, leaker=row, at=at)
    elif row.state == LeakerState.OPEN and row.reopened_at == at:
        leaker_reopened.send(Leaker, leaker=row, at=at)
    elif row.state in _FIXED:
        verified = row.state == LeakerState.VERIFIED_FIXED
        leaker_fixed.send(Leaker, leaker=row, at=at, verified=verified)


def _leaker(
    place: Place, row: Leaker | None, now: LeakerNow, state: LeakerState
) -> Leaker:
    if row is None:
        row = Leaker(project_id=place.project_id, test_id=place.ids[now.test])
        row.state = ""
    if state == LeakerState.OPEN and row.state != LeakerState.OPEN:
        if row.opened_at is None:
            row.opened_at = place.at
        else:
            row.reopened_at = place.at
        row.fixed_at = None
    if state in _FIXED and row.state not in _FIXED:
        row.fixed_at = place.at
    row.state = state
    row.source = _source(row, now)
    if now.gated is not None:
        row.kinds = now.gated.kinds
        row.recipe = now.gated.recipe
    first = now.first
    if first is not None and (row.first_at is None or first.at < row.first_at):
        row.first_at, row.first_run_id = first.at, first.run
        row.first_commit, row.first_pr = first.commit, first.pr
    if now.last_at is not None:
        row.last_at = max(row.last_at or now.last_at, now.last_at)
    row.failed_results = now.cost.failed_results if now.cost else 0.0
    row.failed_runs = now.cost.failed_runs if now.cost else 0.0
    row.lost_s = now.cost.lost_s if now.cost else 0.0
    row.pulls = now.cost.pulls if now.cost else 0
    row.victims = now.claimed
    row.method_version = METHOD_VERSION
    row.updated_at = place.at
    return row


def _source(row: Leaker, now: LeakerNow) -> LeakerSource:
    """What was once said by a gate and by the runs stays said by both."""
    said = {now.source, row.source} - {""}
    if now.gated is None and now.claimed == 0 and row.source:
        return LeakerSource(row.source)
    return now.source if len(said) == 1 else LeakerSource.BOTH


def write_verdicts(place: Place, verdicts: Sequence[VerdictNow]) -> None:
    """Store the verdicts; a test that is not unstable any more has none."""
    mine = Verdict.objects.filter(project_id=place.project_id)
    stored = {row.test_id: row for row in mine.select_for_update()}
    made: list[Verdict] = []
    changed: list[Verdict] = []
    known = [now for now in verdicts if now.test in place.ids]
    for rank, now in enumerate(known):
        row = stored.pop(place.ids[now.test], None)
        (changed if row else made).append(_verdict(place, row, now, rank))
    mine.filter(pk__in=[row.pk for row in stored.values()]).delete()
    news = _newly_flaky([*made, *changed], at=place.at)
    Verdict.objects.bulk_create(made, batch_size=_AT_ONCE)
    Verdict.objects.bulk_update(changed, _VERDICT_FIELDS, batch_size=_AT_ONCE)

    for row in news:
        test_newly_flaky.send(Verdict, verdict=row, at=place.at)


def _newly_flaky(rows: Sequence[Verdict], *, at: datetime) -> list[Verdict]:
    """Mark what is flaky and was not yet told to be."""
    news = [row for row in rows if row.name == Class.FLAKY and not row.told_flaky_at]
    for row in news:
        row.told_flaky_at = at
    return news


_SAME = (
    "missing",
    "probe",
    "evidence",
    "failed_runs",
    "affected_prs",
    "lost_s",
    "last_failed",
)
_VERDICT_FIELDS = (
    "name",
    "since",
    "told_flaky_at",
    "rank",
    "method_version",
    "updated_at",
    *_SAME,
)


def _verdict(place: Place, row: Verdict | None, now: VerdictNow, rank: int) -> Verdict:
    if row is None:
        row = Verdict(project_id=place.project_id, test_id=place.ids[now.test])
    if row.name != now.name:
        row.since = place.at
    row.name = now.name
    row.rank = rank
    for name in _SAME:
        setattr(row, name, getattr(now, name))
    row.method_version = METHOD_VERSION
    row.updated_at = place.at
    return row
