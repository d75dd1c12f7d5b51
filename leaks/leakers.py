"""The life of a leaker: from suspected to open, and to fixed.

Guarantees: pure. A gate's word or a claimed pair opens it; what a person decided
(muted, dismissed) stays; a fixed one opens again only by what happened since.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaks.models import LeakerSource, LeakerState, PairKind
from leaks.pairs import CLAIMS
from leaks.places import after

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from analysis.cost import Cost
    from leaks.judging import Judged
    from leaks.pairs import PairNow
    from results.queries.leak_shapes import Gated

# A weaker suspicion is listed with its victim, and makes nobody a suspect.
SUSPECTED_FROM = 0.1
_DECIDED = (LeakerState.MUTED, LeakerState.DISMISSED)
_FIXED = (LeakerState.FIXED, LeakerState.VERIFIED_FIXED)


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where something was seen."""

    at: datetime
    run: int | None
    commit: str
    pr: int | None


@dataclass(frozen=True, slots=True)
class LeakerNow:
    """What speaks for a leaker now. `claimed` counts its victims, proven or confirmed."""

    test: int
    gated: Gated | None
    claimed: int
    suspected: bool
    judged: bool  # some pair of it was judged now
    first: Sighting | None
    last_at: datetime | None
    cost: Cost | None

    @property
    def source(self) -> LeakerSource:
        if self.gated and self.claimed:
            return LeakerSource.BOTH
        return LeakerSource.GATE if self.gated else LeakerSource.CORRELATION


def leakers_now(
    judged: Judged, pairs: Iterable[PairNow], costs: dict[int, Cost]
) -> list[LeakerNow]:
    """Gather what speaks for each test that a gate names or a pair suspects."""
    mine: dict[int, list[PairNow]] = defaultdict(list)
    for pair in pairs:
        if pair.kind is PairKind.VICTIM:
            mine[pair.test].append(pair)
    return [
        _leaker(judged, test, mine.get(test, []), costs.get(test))
        for test in sorted({*mine, *judged.gated})
    ]


def _leaker(
    judged: Judged, test: int, pairs: list[PairNow], cost: Cost | None
) -> LeakerNow:
    gated = judged.gated.get(test)
    claims = [pair for pair in pairs if pair.claimed]
    seen = [] if gated is None else [_of_gate(gated)]
    last = [] if gated is None else [gated.last_at]
    for pair in claims:
        proof = judged.proofs.get((test, pair.victim))
        if pair.victim in judged.judgements:
            runs = after(judged, pair.victim, test)
            seen += [
                Sighting(one.started_at, one.id, one.commit, one.pr) for one in runs[:1]
            ]
            last += [one.started_at for one in runs[-1:]]
        if proof is not None and not seen:
            seen.append(Sighting(proof.created_at, None, proof.commit, None))
    return LeakerNow(
        test=test,
        gated=gated,
        claimed=len(claims),
        suspected=any(_suspects(judged, pair) for pair in pairs),
        judged=bool(pairs),
        first=min(seen, key=lambda one: (one.at, one.run or 0), default=None),
        last_at=max(last, default=None),
        cost=cost,
    )


def _of_gate(gated: Gated) -> Sighting:
    return Sighting(gated.first_at, gated.first_run, gated.first_commit, gated.first_pr)


def _suspects(judged: Judged, pair: PairNow) -> bool:
    judgement = judged.judgements.get(pair.victim)
    return (
        judgement is not None
        and judgement.cls.value == PairKind.VICTIM
        and pair.status not in CLAIMS
        and pair.posterior >= SUSPECTED_FROM
    )


def next_state(
    before: LeakerState | None,
    now: LeakerNow,
    *,
    fixed_at: datetime | None = None,
) -> LeakerState | None:
    """Return the state to store; None: there is no such leaker (any more)."""
    speaks = now.gated is not None or now.claimed > 0
    if before in _DECIDED:
        return before
    if before in _FIXED:
        since = fixed_at is None or now.last_at is None or now.last_at > fixed_at
        return LeakerState.OPEN if speaks and since else before
    if speaks:
        return LeakerState.OPEN
    if before is LeakerState.OPEN and not now.judged:
        return LeakerState.FIXED  # the whole window says nothing of it any more
    if before is LeakerState.OPEN or now.suspected:
        return LeakerState.SUSPECTED
    return None
