"""What is claimed of each pair now, given what was claimed of it before.

Guarantees: a proof always wins; a confirmed pair leaves only below the lower bound
(`analysis.claims`); a claim that the window no longer speaks of stays as it was, not
current; what was never claimed and is not suspected any more is dropped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import METHOD_VERSION
from analysis.claims import Move, next_status
from analysis.counts import count
from analysis.judgement import Candidate, Status
from analysis.observations import observe
from analysis.sceptic import Table, exact, table_of
from leaks.models import PairKind, ProofResult
from leaks.places import after

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.history import Ints
    from leaks.judging import Judged
    from leaks.models import Proof

type Key = tuple[int, int, str]  # numbers of the test and its victim, the kind

CLAIMS = frozenset({Status.PROVEN, Status.CONFIRMED})
_MOST_BF = 1e300
_NAMED_RUNS, _NAMED_GROUP = 20, 20


@dataclass(frozen=True, slots=True)
class Known:
    """A pair as it is stored."""

    status: Status
    posterior: float


@dataclass(frozen=True, slots=True)
class PairNow:
    """A pair to be stored. `numbers` of tests in `evidence` are their numbers."""

    test: int
    victim: int
    kind: PairKind
    status: Status
    move: Move
    place: int
    posterior: float
    bf: float
    table: Table
    p_value: float
    q_value: float
    lives_for: float | None
    evidence: dict[str, Any] = field(default_factory=dict)  # Any: JSON

    @property
    def key(self) -> Key:
        return self.test, self.victim, self.kind.value

    @property
    def claimed(self) -> bool:
        return self.status in CLAIMS


def pairs_now(judged: Judged, known: Mapping[Key, Known]) -> list[PairNow]:
    """Return every pair that the newest judgement, or a proof, speaks of."""
    found: dict[Key, PairNow] = {}
    for victim, judgement in judged.judgements.items():
        for place, candidate in enumerate(judgement.candidates):
            pair = _suspected(judged, victim, place, candidate, known)
            found[pair.key] = pair
    for (leaker, victim), proof in judged.proofs.items():
        key = (leaker, victim, proof.kind)
        if key not in found:
            found[key] = _proven(judged, leaker, victim, proof)
    for key, before in known.items():
        # Judged, and not even suspected now: the evidence has turned.
        if key not in found and key[1] in judged.judgements and before.status in CLAIMS:
            found[key] = _fallen(judged, key)
    return list(found.values())


def _suspected(
    judged: Judged,
    victim: int,
    place: int,
    candidate: Candidate,
    known: Mapping[Key, Known],
) -> PairNow:
    kind = PairKind(candidate.story.value)
    before = known.get((candidate.test, victim, kind.value))
    status, move = next_status(
        _unless_overruled(before, judged, candidate.test, victim),
        candidate.status,
        candidate.posterior,
    )
    runs = after(judged, victim, candidate.test)
    return PairNow(
        test=candidate.test,
        victim=victim,
        kind=kind,
        status=status,
        move=move,
        place=place,
        posterior=min(max(candidate.posterior, 0.0), 1.0),
        bf=math.exp(min(candidate.log_bf, math.log(_MOST_BF))),
        table=candidate.table,
        p_value=candidate.p_value,
        q_value=candidate.q_value,
        lives_for=candidate.lives_for,
        evidence={
            **_method(judged),
            "doubts": [doubt.value for doubt in candidate.doubts],
            "rank": candidate.rank,
            "log_bf": candidate.log_bf,
            "group": list(candidate.group[:_NAMED_GROUP]),
            "group_size": len(candidate.group),
            "cleaners": list(candidate.cleaners[:_NAMED_GROUP]),
            "runs": [facts.id for facts in runs[-_NAMED_RUNS:]],
        },
    )


def _unless_overruled(
    before: Known | None, judged: Judged, leaker: int, victim: int
) -> Status | None:
    """A pair that was proven or refuted by a proof that no longer counts starts anew."""
    if before is None:
        return None
    if before.status in (Status.PROVEN, Status.REFUTED):
        return before.status if (leaker, victim) in judged.proofs else None
    return before.status


def _proven(judged: Judged, leaker: int, victim: int, proof: Proof) -> PairNow:
    """A pair that only a proof speaks of."""
    kind = PairKind(proof.kind)
    confirmed = proof.result == ProofResult.CONFIRMED
    table = _table(judged, leaker, victim)
    return PairNow(
        test=leaker,
        victim=victim,
        kind=kind,
        status=Status.PROVEN if confirmed else Status.REFUTED,
        move=Move.ENTERED if confirmed else Move.LEFT,
        place=0 if confirmed else 99,
        posterior=1.0 if confirmed else 0.0,
        bf=1.0,
        table=table,
        p_value=exact(table, setter=kind is PairKind.BRITTLE),
        q_value=1.0,
        lives_for=None,
        evidence={**_method(judged), "proof": proof.pk},
    )


def _fallen(judged: Judged, key: Key) -> PairNow:
    test, victim, kind = key
    table = _table(judged, test, victim)
    return PairNow(
        test=test,
        victim=victim,
        kind=PairKind(kind),
        status=Status.SUSPECT,
        move=Move.LEFT,
        place=98,
        posterior=0.0,
        bf=1.0,
        table=table,
        p_value=exact(table, setter=kind == PairKind.BRITTLE),
        q_value=1.0,
        lives_for=None,
        evidence=_method(judged),
    )


def _table(judged: Judged, test: int, victim: int) -> Table:
    history = judged.history
    if max(test, victim) >= history.n_tests:
        return Table(0, 0, 0, 0)
    seen = observe(history, _one(victim))
    return table_of(count(history, seen, 0), test)


def _one(test: int) -> Ints:
    return np.array([test], dtype=np.int32)


def _method(judged: Judged) -> dict[str, Any]:  # Any: JSON
    return {
        "method_version": METHOD_VERSION,
        "window_days": judged.window,
        "parts_read": len(judged.history.runs),
    }
