"""Whose each leak and each failing test of a pull request is.

Guarantees: the judgement itself is `analysis.attribution`; here only what it needs is
read, and no more: an ancestor's run is read when a nearer one does not tell. A known
flaky test that passed at the base is not called introduced, and a victim's failure is
its leaker's.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from analysis.attribution import Decision, Share, Sight, Why, attribute
from pulls import views
from pulls.shapes import Item, Leaker
from pulls.wording import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pulls.bases import Base
    from pulls.causes import Causes, KnownLeaker
    from pulls.heads import Head
    from pulls.views import LeakKey, View
    from results.queries.tested import Failed, Leaked, RunAt

INHERITED = (Share.INHERITED, Share.FIXED_UPSTREAM)


@dataclass(slots=True)
class Lane:
    """One environment: the head's runs, and the ancestors' as far as they were read."""

    project_id: int
    environment: Mapping[str, str]
    key: str
    head: View
    ancestors: list[list[RunAt]]
    read: dict[int, View] = field(default_factory=dict)

    def at(self, place: int) -> View:
        if place not in self.read:
            runs = self.ancestors[place]
            self.read[place] = views.view(runs, project_id=self.project_id)
        return self.read[place]

    def views(self) -> Iterator[View]:
        for place in range(len(self.ancestors)):
            yield self.at(place)


def lanes_of(project_id: int, head: Head, base: Base) -> list[Lane]:
    return [
        Lane(
            project_id,
            runs[0].environment,
            key,
            views.view(runs, project_id=project_id),
            base.ancestors.get(key, []),
        )
        for key, runs in head.runs.items()
    ]


def failures_of(lane: Lane) -> list[Item]:
    """Return the failing tests of one environment, and those that it fixes."""
    found = [
        _failure(lane, failed, run, attribute(_failed_at(lane, failed)))
        for failed, run in lane.head.failed().values()
    ]
    return found + [
        _fixed_failure(lane, failed, run) for failed, run in _fixed_failures(lane)
    ]


def leaks_of(lane: Lane) -> list[Item]:
    """Return the leaks of one environment, and those that it fixes."""
    found = [
        _leak(lane, key, leaked, run, attribute(_leaked_at(lane, key)))
        for key, (leaked, run) in lane.head.leaked().items()
    ]
    return found + [
        _leak(lane, key, leaked, run, Decision(Share.FIXED, Why.SEEN, 0))
        for key, leaked, run in _fixed_leaks(lane)
    ]


def failure_key(lane: Lane, failed: Failed) -> str:
    """Return what is equal for the same failure of two runs of one environment."""
    said = ("failure", failed.number, failed.kind, failed.fingerprint, lane.key)
    return hashlib.blake2b(repr(said).encode(), digest_size=16).hexdigest()


def leak_key(lane: Lane, key: LeakKey) -> str:
    said = ("leak", *key, lane.key)
    return hashlib.blake2b(repr(said).encode(), digest_size=16).hexdigest()


def sight_of_failure(view: View, failed: Failed) -> Sight:
    """Say what the runs at one commit show of a failure."""
    seen = view.ever_failed(failed.number)
    same = any(_same(one, failed) for one, _ in seen)
    return Sight(
        same=same,
        other=bool(seen) and not same,
        present=view.has(failed.number),
        complete=view.complete,
    )


def sight_of_leak(view: View, key: LeakKey) -> Sight:
    number = key[0]
    return Sight(
        same=view.ever_leaked(key) is not None,
        present=number is not None and view.has(number),
        complete=view.complete,
    )


def with_causes(items: list[Item], causes: Causes, lanes: list[Lane]) -> list[Item]:
    """Name the leaker of each victim, whose it is, and the flaky ones' rates."""
    mine = {lane.key: lane for lane in lanes}
    leaking = {
        item.test: Share(item.share) for item in items if item.kind not in _OUTCOMES
    }
    return [_with_cause(item, causes, leaking, mine) for item in items]


def together(items: list[Item]) -> list[Item]:
    """Fold what is the same in several environments to one item."""
    groups: dict[tuple[object, ...], list[Item]] = defaultdict(list)
    for item in items:
        same = (item.test, item.kind, item.fingerprint, item.share, item.is_flaky)
        groups[*same, item.title if item.test is None else ""].append(item)
    return [
        replace(
            some[0],
            environments=[env for item in some for env in item.environments],
            keys=[key for item in some for key in item.keys],
        )
        for some in groups.values()
    ]


_OUTCOMES = ("failed", "error")


def _same(one: Failed, other: Failed) -> bool:
    return (one.kind, one.fingerprint) == (other.kind, other.fingerprint)


def _failed_at(lane: Lane, failed: Failed) -> Iterator[Sight]:
    for view in lane.views():
        yield sight_of_failure(view, failed)


def _leaked_at(lane: Lane, key: LeakKey) -> Iterator[Sight]:
    for view in lane.views():
        yield sight_of_leak(view, key)


def _failure(lane: Lane, failed: Failed, run: RunAt, decision: Decision) -> Item:
    base = _evidence(lane, decision)
    if decision.why is Why.SEEN:
        seen = lane.at(decision.place).ever_failed(failed.number)
        base = next(at for one, at in seen if _same(one, failed))
    return Item(
        test=failed.test,
        nodeid=failed.nodeid,
        kind=failed.kind,
        share=decision.share,
        why=decision.why,
        reason=reason_of(decision.why, base.commit if base else ""),
        environments=[lane.environment],
        keys=[failure_key(lane, failed)],
        fingerprint=failed.fingerprint,
        title=failed.title or failed.message[:200],
        message=failed.message,
        run=run.id,
        failure=failed.failure,
        base_run=base.id if base else None,
        base_commit=base.commit if base else "",
    )


def _leak(
    lane: Lane, key: LeakKey, leaked: Leaked, run: RunAt, decision: Decision
) -> Item:
    base = _evidence(lane, decision)
    if decision.why is Why.SEEN:
        base = lane.at(decision.place).ever_leaked(key)
    return Item(
        test=leaked.test,
        nodeid=leaked.nodeid,
        kind=leaked.kind,
        share=decision.share,
        why=decision.why,
        reason=reason_of(decision.why, base.commit if base else ""),
        environments=[lane.environment],
        keys=[leak_key(lane, key)],
        fingerprint=leaked.what,
        title=", ".join(leaked.items[:5]),
        message=leaked.message,
        run=run.id,
        base_run=base.id if base else None,
        base_commit=base.commit if base else "",
        gate=leaked.gate,
        recipe=leaked.recipe,
    )


def _evidence(lane: Lane, decision: Decision) -> RunAt | None:
    if decision.place < 0:
        return None
    return lane.at(decision.place).runs[0]


def _fixed_failures(lane: Lane) -> Iterator[tuple[Failed, RunAt]]:
    """Yield what fails at the base and is seen not to fail at the head."""
    if not lane.ancestors:
        return
    failing = lane.head.failed()
    for number, (failed, run) in lane.at(0).failed().items():
        if number not in failing and _absolved(lane, number):
            yield failed, run


def _fixed_leaks(lane: Lane) -> Iterator[tuple[LeakKey, Leaked, RunAt]]:
    if not lane.ancestors:
        return
    leaking = lane.head.leaked()
    for key, (leaked, run) in lane.at(0).leaked().items():
        number = key[0]
        whole = lane.head.complete
        if key not in leaking and (
            whole if number is None else _absolved(lane, number)
        ):
            yield key, leaked, run


def _absolved(lane: Lane, number: int) -> bool:
    """Tell whether the head's runs say that a test has no fault: it ran, or a complete
    run no longer has it."""
    if lane.head.has(number):
        return lane.head.executed(number)
    return lane.head.complete


def _fixed_failure(lane: Lane, failed: Failed, run: RunAt) -> Item:
    fixed = _failure(lane, failed, run, Decision(Share.FIXED, Why.SEEN, 0))
    return replace(fixed, run=lane.head.runs[0].id, failure=failed.failure)


def _with_cause(
    item: Item, causes: Causes, leaking: dict[int | None, Share], lanes: dict[str, Lane]
) -> Item:
    if item.kind not in _OUTCOMES or item.test is None or item.share == Share.FIXED:
        return item
    known = causes.leakers.get(item.test)
    if known is not None:
        return _with_leaker(item, known, leaking, list(lanes.values()))
    flaky = causes.flaky.get(item.test)
    if flaky is None:
        return item
    if item.share == Share.INTRODUCED:
        # That it passed at the base proves nothing of a test that comes and goes.
        return replace(item, flaky=flaky, share=Share.UNKNOWN)
    return replace(item, flaky=flaky)


def _with_leaker(
    item: Item, known: KnownLeaker, leaking: dict[int | None, Share], lanes: list[Lane]
) -> Item:
    share = leaking.get(known.test)
    if share is None or share == Share.FIXED:
        share = _since_base(known, lanes)
    if known.fixed and share == Share.INHERITED:
        share = Share.FIXED_UPSTREAM
    leaker = Leaker(known.test, known.nodeid, share, known.id, known.status)
    if item.share in INHERITED or share == Share.UNKNOWN:
        return replace(item, leaker=leaker)
    return replace(item, leaker=leaker, share=share)


def _since_base(known: KnownLeaker, lanes: list[Lane]) -> Share:
    """Say whose a leaker is by whether its test is older than the pull request."""
    for lane in lanes:
        for view in lane.views():
            if view.has(known.number):
                return Share.INHERITED
            if view.complete:
                return Share.INTRODUCED
    return Share.UNKNOWN
