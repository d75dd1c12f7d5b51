"""What a ledger's judgement asks people to look at, and what is a leak of a test.

Guarantees: at most one finding for each effect, of its worst severity and with all its
causes; a superseded effect raises none; a failed cleanup is told, never mixed into the
verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from formats.effects import wording
from formats.effects.judgement import Disclosure, Judged, Verdict
from formats.effects.records import Cleanup

if TYPE_CHECKING:
    from collections.abc import Iterable

_SETTLED = (Verdict.VERIFIED, Verdict.STATE_OBSERVED, Verdict.NOT_EXECUTED)


class Severity(StrEnum):
    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


class Cause(StrEnum):
    CONTRADICTED = "contradicted"
    UNRESOLVED_IMPACT = "unresolved_impact"
    CLEANUP_FAILED = "cleanup_failed"
    EXTERNAL_NOT_VERIFIED = "external_not_verified"
    RUNNING_AT_END = "running_at_end"


_SEVERITIES = {
    Cause.CONTRADICTED: Severity.P1,
    Cause.UNRESOLVED_IMPACT: Severity.P2,
    Cause.CLEANUP_FAILED: Severity.P2,
    Cause.EXTERNAL_NOT_VERIFIED: Severity.P3,
    Cause.RUNNING_AT_END: Severity.P3,
}
_TITLES = {
    Cause.CONTRADICTED: "what was seen contradicts it",
    Cause.UNRESOLVED_IMPACT: "impact unresolved",
    Cause.CLEANUP_FAILED: "cleanup failed",
    Cause.EXTERNAL_NOT_VERIFIED: "external effect",
    Cause.RUNNING_AT_END: "still running at the end of its run",
}


@dataclass(frozen=True, slots=True)
class Finding:
    severity: Severity
    effect_id: str
    run_id: str
    request_id: str
    title: str
    detail: str
    causes: tuple[Cause, ...]  # worst first


def findings(judged: Iterable[Judged]) -> list[Finding]:
    """Return the findings, in the order of the effects."""
    found = []
    for effect in judged:
        causes = () if effect.superseded else _causes(effect)
        if causes:
            found.append(_finding(effect, causes))
    return found


def leak_kind(effect: Judged) -> str:
    """The kind of leak that an effect is of its test, or "" where it leaks nothing."""
    if effect.superseded or effect.verdict in _SETTLED:
        return ""
    return f"effect.{effect.verdict}"


def _causes(effect: Judged) -> tuple[Cause, ...]:
    holds = {
        Cause.CONTRADICTED: effect.verdict is Verdict.CONTRADICTED,
        Cause.UNRESOLVED_IMPACT: effect.unresolved_impact,
        Cause.CLEANUP_FAILED: effect.cleanup is Cleanup.FAILED,
        Cause.EXTERNAL_NOT_VERIFIED: effect.disclosure is not Disclosure.NOTHING,
        Cause.RUNNING_AT_END: effect.running_at_end,
    }
    return tuple(cause for cause, is_so in holds.items() if is_so)


def _finding(effect: Judged, causes: tuple[Cause, ...]) -> Finding:
    worst = causes[0]
    title = _TITLES[worst]
    if worst is Cause.EXTERNAL_NOT_VERIFIED:
        title = f"{title}: {effect.disclosure}"
    return Finding(
        _SEVERITIES[worst],
        effect.effect_id,
        effect.run_id,
        effect.request_id,
        f"{_subject(effect)}: {title}",
        _detail(effect, causes),
        causes,
    )


def _subject(effect: Judged) -> str:
    name = wording.shortened(effect.tool)
    if not effect.targets:
        return f"{name} (scope unknown)"
    more = f" and {len(effect.targets) - 1} more" if len(effect.targets) > 1 else ""
    return f"{name} on {wording.place(effect.targets[0])}{more}"


def _detail(effect: Judged, causes: tuple[Cause, ...]) -> str:
    impact = effect.impact or "unknown"
    parts = [f"Effect {wording.shortened(effect.effect_id)} is {effect.verdict}."]
    parts.append(f"{effect.reason[:1].upper()}{effect.reason[1:]}.")
    if Cause.UNRESOLVED_IMPACT in causes:
        parts.append(f"Its impact ({impact}) is unresolved.")
    if effect.cleanup in (Cleanup.FAILED, Cleanup.UNKNOWN):
        parts.append(f"Its cleanup: {effect.cleanup}.")
    if Cause.EXTERNAL_NOT_VERIFIED in causes:
        parts.append(f"It acts outside: {effect.disclosure}.")
    if Cause.RUNNING_AT_END in causes:
        parts.append("It was still running when its run had ended.")
    return " ".join(parts)
