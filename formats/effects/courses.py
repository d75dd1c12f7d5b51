"""Each effect's course: its claim and what was told of it afterwards.

Guarantees: courses come in order of their claims' sequence, outcomes too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.effects.forest import ROOT, Forest, plant
from formats.effects.records import Execution, Impact

if TYPE_CHECKING:
    from formats.effects.records import Claim, Ledger, Location, Outcome, ResourceRef


@dataclass(frozen=True, slots=True)
class Course:
    claim: Claim
    outcomes: tuple[Outcome, ...]
    places: tuple[int, ...]  # what it may have touched
    targets: tuple[ResourceRef, ...]  # what it was about, each location once

    @property
    def last(self) -> Outcome | None:
        return self.outcomes[-1] if self.outcomes else None

    @property
    def execution(self) -> Execution:
        return self.outcomes[-1].execution if self.outcomes else Execution.ATTEMPTED

    @property
    def impact(self) -> Impact | None:
        """None: not known."""
        return self.outcomes[-1].impact if self.outcomes else None

    @property
    def is_inert(self) -> bool:
        """It is known to have changed nothing."""
        return self.impact is Impact.NONE

    @property
    def settled_at(self) -> int | None:
        """The sequence of its settled outcome, if there is one."""
        last = self.last
        settled = last is not None and last.execution is not Execution.RUNNING
        return last.sequence if last and settled else None


def follow(ledger: Ledger) -> tuple[Forest, list[Course]]:
    """Return the places of the ledger and the course of each effect."""
    forest = plant({ref.location for c in ledger.claims for ref in c.impact_scope})
    told: dict[str, list[Outcome]] = {}
    for outcome in ledger.outcomes:
        told.setdefault(outcome.effect_id, []).append(outcome)
    courses = [
        Course(
            claim,
            tuple(told.get(claim.effect_id, ())),
            _places(claim, forest),
            _targets(claim),
        )
        for claim in sorted(ledger.claims, key=lambda claim: claim.sequence)
    ]
    return forest, courses


def _places(claim: Claim, forest: Forest) -> tuple[int, ...]:
    if not claim.impact_scope:
        return (ROOT,)
    places = {forest.places[ref.location]: None for ref in claim.impact_scope}
    return tuple(places)


def _targets(claim: Claim) -> tuple[ResourceRef, ...]:
    """What its obligations are about; without any, all that it may have touched."""
    refs = [obligation.target for obligation in claim.obligations]
    once: dict[Location, ResourceRef] = {}
    for ref in refs or claim.impact_scope:
        once.setdefault(ref.location, ref)
    return tuple(once.values())
