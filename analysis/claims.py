"""When a candidate becomes a claim, and when a claim ends.

Guarantees: no claim from one failure, from orders that were not recorded, from
orders that drift with the commits, or where the runs cannot tell two candidates
apart. A claim stays until its posterior falls below .7 or a fix is proven.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analysis.judgement import Doubt, Status

POSTERIOR = 0.95  # to enter
STAYS = 0.70  # below this a claim leaves
OWN_BF = float(np.log(20.0))
RIVAL = float(np.log(30.0))
FEWEST = 2
EXPLAINED = 0.7  # share of the harmed outcomes after it, unless q < Q_VALUE
Q_VALUE = 0.05


@dataclass(frozen=True)
class Standing:
    """The numbers of one candidate that a claim is decided on.

    own, best   natural logs of Bayes factors: its own, the victim's best
    traced      own, from recorded orders alone
    explained   share of the failures (of the passes, for a setter) that came after it
    drifting    its before-vector follows the commits (only when they differ)
    fixed       no test was ever seen on both sides of the victim
    regressed   a failing stretch explains the outcomes better than a flake
    """

    posterior: float
    own: float
    best: float
    traced: float
    n_failed: int
    n_passed: int
    explained: float = 1.0
    q_value: float = 0.0
    group: tuple[int, ...] = ()
    drifting: bool = False
    fixed: bool = False
    regressed: bool = False


def decide(standing: Standing) -> tuple[Status, tuple[Doubt, ...]]:
    """Status and, when not confirmed, every reason."""
    drift = Doubt.CONFOUNDED if standing.regressed else Doubt.ORDER
    failing = (
        (standing.posterior <= POSTERIOR, Doubt.POSTERIOR),
        (standing.own <= OWN_BF, Doubt.EVIDENCE),
        (standing.own < standing.best - RIVAL, Doubt.RIVAL),
        (
            standing.explained < EXPLAINED and standing.q_value >= Q_VALUE,
            Doubt.PARTIAL,
        ),
        (min(standing.n_failed, standing.n_passed) < FEWEST, Doubt.FEW),
        (standing.drifting, drift),
        (standing.fixed and not standing.drifting, Doubt.ORDER),
        (standing.own > OWN_BF >= standing.traced, Doubt.ASSUMED),
    )
    doubts = tuple(doubt for fails, doubt in failing if fails)
    if standing.group:
        return Status.INDISTINGUISHABLE, (*doubts, Doubt.GROUP)
    return (Status.SUSPECT, doubts) if doubts else (Status.CONFIRMED, ())


class Move(StrEnum):
    """What became of a claim between two judgements."""

    ENTERED = "entered"
    STAYED = "stayed"
    LEFT = "left"
    NONE = "none"


def next_status(
    before: Status | None, now: Status, posterior: float, *, fixed: bool = False
) -> tuple[Status, Move]:
    """Hysteresis: the status to store, given the stored one and the new judgement.

    A replay (proven, refuted) always wins; a confirmed pair leaves only below .7 or
    by a proven fix.
    """
    if now in (Status.PROVEN, Status.REFUTED):
        entered = now is Status.PROVEN and before is not Status.PROVEN
        if now is Status.REFUTED:
            return now, Move.LEFT if before in _CLAIMS else Move.NONE
        return now, Move.ENTERED if entered else Move.STAYED
    if before in _CLAIMS:
        if fixed:
            return Status.SUSPECT, Move.LEFT
        if before is Status.PROVEN or posterior >= STAYS:
            return before, Move.STAYED
        return now, Move.STAYED if now is Status.CONFIRMED else Move.LEFT
    entered = now is Status.CONFIRMED
    return now, Move.ENTERED if entered else Move.NONE


_CLAIMS = (Status.CONFIRMED, Status.PROVEN)
