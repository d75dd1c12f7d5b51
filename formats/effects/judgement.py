"""What is made of each effect: plain values for pages, the API and correlation.

Guarantees: everything that a page shows of an effect is in its `Judged`; the sum of
all of them grows with the ledger, not with its square.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from formats.effects.freshness import Freshness
    from formats.effects.records import (
        Cleanup,
        Execution,
        Impact,
        Observation,
        Predicate,
        ResourceRef,
    )


class Verdict(StrEnum):
    """From worst to best: of several obligations the worst counts."""

    FAILED = "failed"
    CONTRADICTED = "contradicted"
    PENDING = "pending"
    UNVERIFIED = "unverified"
    NOT_EXECUTED = "not_executed"
    STATE_OBSERVED = "state_observed"
    VERIFIED = "verified"


class Disclosure(StrEnum):
    """The words for an external effect that executed and is not verified."""

    NOTHING = ""
    SUCCESS = "reported success but not independently verified"
    FAILURE = "reported failure"
    UNKNOWN = "unknown outcome"


class EventKind(StrEnum):
    CLAIM = "claim"
    OUTCOME = "outcome"
    OBSERVATION = "observation"


@dataclass(frozen=True, slots=True)
class Checked:
    """One obligation, the observation that decides it, and how."""

    target: ResourceRef
    predicate: Predicate
    expected: str
    verdict: Verdict
    reason: str
    observation: Observation | None = None
    freshness: Freshness | None = None  # of the observation


@dataclass(frozen=True, slots=True)
class Event:
    kind: EventKind
    sequence: int
    state: str  # the tool, the execution or the mechanism
    text: str
    line: int  # 0: added when the run had ended


@dataclass(frozen=True, slots=True)
class Judged:
    effect_id: str
    run_id: str
    parent_run_id: str
    action_id: str
    tool: str
    action: str
    request_id: str
    sequence: int
    line: int
    execution: Execution
    impact: Impact | None  # None: not known
    verdict: Verdict
    reason: str
    cleanup: Cleanup
    unresolved_impact: bool
    external: bool
    disclosure: Disclosure
    superseded_by: str  # the effect; empty: none
    targets: tuple[ResourceRef, ...]
    scope_known: bool  # else it may have touched anything
    replayed: bool
    running_at_end: bool  # still running when its run had ended
    obligations: tuple[Checked, ...]
    timeline: tuple[Event, ...]  # by sequence

    @property
    def superseded(self) -> bool:
        return self.superseded_by != ""
