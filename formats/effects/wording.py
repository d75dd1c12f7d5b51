"""The sentences in which a judgement is told.

Guarantees: bounded length whatever the ledger says; no sentence claims more than the
rules found out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.effects.freshness import Freshness
from formats.effects.records import Execution, Kind, Predicate

if TYPE_CHECKING:
    from formats.effects.records import Claim, Obligation, Observation, ResourceRef

_LONGEST = 160
_REQUIRED = {
    Predicate.EXISTS: "exist",
    Predicate.ABSENT: "be absent",
    Predicate.CONTENT_SHA256: "have the expected content",
    Predicate.CONTENT_CHANGED: "have other content than before",
}
_EXECUTED = {
    Execution.ATTEMPTED: "claimed, and nothing tells how it went",
    Execution.NOT_EXECUTED: "it was not executed",
    Execution.REPORTED_SUCCESS: "reported success",
    Execution.FAILED: "reported failure",
    Execution.TIMED_OUT: "timed out",
    Execution.CANCELLED: "was cancelled",
    Execution.RUNNING: "reported as running, and nothing tells how it ended",
    Execution.INTERRUPTED: "was interrupted",
}


def shortened(text: str) -> str:
    """The text, cut in its middle when it is long."""
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[: half - 1]}…{text[-half:]}"


def place(ref: ResourceRef) -> str:
    """A resource in a sentence: its kind and the part of the location that tells."""
    if ref.kind is Kind.FILESYSTEM:
        return shortened(ref.location[-1]) or "(no path)"
    parts = ref.location[-2:] if len(ref.location) > 2 else ref.location[-1:]
    return f"{ref.kind} {shortened('/'.join(parts))}"


def executed(execution: Execution) -> str:
    return _EXECUTED[execution]


def number(sequence: int) -> str:
    return f"at {sequence}" if sequence < 10**18 else "at a very large sequence"


def required(obligation: Obligation) -> str:
    return f"{place(obligation.target)} should {_REQUIRED[obligation.predicate]}"


def unseen(obligation: Obligation, *, before: Observation | None) -> str:
    """No observation decides; `before` was made before the effect ended."""
    if before:
        when = number(before.sequence)
        return f"{required(obligation)}; the last look, {when}, came before it ended"
    return f"{required(obligation)}; nobody looked"


def outdated(
    obligation: Obligation, seen: Observation, freshness: Freshness, cause: str
) -> str:
    look = f"the last look, {number(seen.sequence)}"
    said = "is stale" if freshness is Freshness.STALE else "came too early"
    return f"{required(obligation)}; {look}, {said}: {cause}"


def touched_later(claim: Claim) -> str:
    name = shortened(claim.effect_id)
    return f"effect {name}, claimed {number(claim.sequence)}, may have touched it since"


def open_then(claim: Claim) -> str:
    name = shortened(claim.effect_id)
    return f"effect {name}, which may touch it, was not settled then"


def another_incarnation(later: Observation) -> str:
    return f"another incarnation was seen {number(later.sequence)}"


def decided(obligation: Obligation, seen: Observation, *, holds: bool | None) -> str:
    """What an observation says of the obligation; None: it cannot tell."""
    by = f"{seen.mechanism} {number(seen.sequence)}"
    if holds is None:
        return f"{required(obligation)}; {by} cannot tell: {found(seen)}"
    return f"{required(obligation)}; {by} found it {found(seen)}"


def found(seen: Observation) -> str:
    if seen.exists is None:
        return "existence not known"
    if not seen.exists:
        return "absent"
    content = f"content {seen.content_sha256[:12]}" if seen.content_sha256 else ""
    partly = " (partial coverage)" if seen.coverage != "complete" else ""
    return f"present, {content or 'content not known'}{partly}"
