"""The verdict on each effect of a ledger.

Guarantees: the rules of the format and nothing else; one `Judged` for each claim, in
order of sequence; time grows with the ledger and the logarithm of its resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.effects import wording
from formats.effects.courses import Course, follow
from formats.effects.evidence import Evidence, gather
from formats.effects.freshness import Freshness
from formats.effects.judgement import (
    Checked,
    Disclosure,
    Event,
    EventKind,
    Judged,
    Verdict,
)
from formats.effects.records import (
    Cleanup,
    Coverage,
    Execution,
    Impact,
    Predicate,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from formats.effects.records import Ledger, Location, Obligation, Observation

_WORST_FIRST = {verdict: rank for rank, verdict in enumerate(Verdict)}
_UNEXECUTED = {
    Execution.ATTEMPTED: Verdict.PENDING,
    Execution.RUNNING: Verdict.PENDING,
    Execution.NOT_EXECUTED: Verdict.NOT_EXECUTED,
}
_DISCLOSURES = {
    Execution.NOT_EXECUTED: Disclosure.NOTHING,
    Execution.REPORTED_SUCCESS: Disclosure.SUCCESS,
    Execution.FAILED: Disclosure.FAILURE,
}
# What is seen there outweighs what is not known of the execution.
_SEEN = (Verdict.STATE_OBSERVED, Verdict.CONTRADICTED)


def judge(ledger: Ledger) -> list[Judged]:
    """Judge each effect of a ledger that `read_ledger` returned."""
    forest, courses = follow(ledger)
    evidence = gather(ledger, forest, courses)
    heirs = _latest_on_target(courses)
    return [
        _judged(
            course,
            tuple(_check(o, course, evidence) for o in course.claim.obligations),
            heir=_heir(course, heirs),
            run_ended=ledger.run_ended,
        )
        for course in courses
    ]


def _judged(
    course: Course, checked: tuple[Checked, ...], *, heir: str, run_ended: bool
) -> Judged:
    claim, last = course.claim, course.last
    verdict, reason = _verdict(course, checked)
    execution, impact = course.execution, course.impact
    return Judged(
        effect_id=claim.effect_id,
        run_id=claim.run_id,
        parent_run_id=claim.parent_run_id,
        action_id=claim.action_id,
        tool=claim.operation.tool,
        action=claim.operation.action,
        request_id=claim.operation.request_id,
        sequence=claim.sequence,
        line=claim.line,
        execution=execution,
        impact=impact,
        verdict=verdict,
        reason=reason,
        cleanup=last.cleanup if last else Cleanup.NOT_APPLICABLE,
        unresolved_impact=(
            impact is not Impact.NONE
            and execution is not Execution.REPORTED_SUCCESS
            and verdict not in _SEEN
        ),
        external=claim.external,
        disclosure=_disclosure(course, verdict),
        superseded_by=heir,
        targets=course.targets,
        scope_known=bool(claim.impact_scope),
        replayed=last is not None and last.replayed,
        running_at_end=run_ended and execution is Execution.RUNNING,
        obligations=checked,
        timeline=_timeline(course, checked),
    )


def _check(obligation: Obligation, course: Course, evidence: Evidence) -> Checked:
    verdict, reason = Verdict.UNVERIFIED, ""
    seen = evidence.newest.get(obligation.target.location)
    settled_at = course.settled_at
    if course.execution in _UNEXECUTED or settled_at is None:
        verdict = _UNEXECUTED[course.execution]
        return _checked(obligation, verdict, wording.executed(course.execution))
    if seen is None or seen.sequence < settled_at:
        return _checked(obligation, verdict, wording.unseen(obligation, before=seen))
    freshness, cause = evidence.freshness[obligation.target.location]
    if freshness is not Freshness.FRESH:
        reason = wording.outdated(obligation, seen, freshness, cause)
    else:
        holds = _holds(obligation, seen)
        reason = wording.decided(obligation, seen, holds=holds)
        if holds is not None:
            verdict = _decided(course.execution) if holds else Verdict.CONTRADICTED
    return _checked(obligation, verdict, reason, seen, freshness)


def _checked(
    obligation: Obligation,
    verdict: Verdict,
    reason: str,
    seen: Observation | None = None,
    freshness: Freshness | None = None,
) -> Checked:
    return Checked(
        obligation.target,
        obligation.predicate,
        obligation.expected,
        verdict,
        reason,
        seen,
        freshness,
    )


def _holds(obligation: Obligation, seen: Observation) -> bool | None:
    """Whether the predicate is true of what was seen; None: undecidable."""
    match obligation.predicate:
        case Predicate.ABSENT:
            return None if seen.exists is None else not seen.exists
        case Predicate.EXISTS:
            return seen.exists
    if seen.exists is False:
        return False
    if seen.coverage is not Coverage.COMPLETE or not seen.content_sha256:
        return None
    is_equal = seen.content_sha256 == obligation.expected
    return is_equal == (obligation.predicate is Predicate.CONTENT_SHA256)


def _decided(execution: Execution) -> Verdict:
    """The verdict on an effect whose obligation holds."""
    if execution is Execution.FAILED:
        return Verdict.FAILED
    if execution is Execution.REPORTED_SUCCESS:
        return Verdict.VERIFIED
    return Verdict.STATE_OBSERVED


def _verdict(course: Course, checked: Sequence[Checked]) -> tuple[Verdict, str]:
    execution = course.execution
    told = wording.executed(execution)
    if execution in _UNEXECUTED:
        return _UNEXECUTED[execution], told
    has_failed = execution is Execution.FAILED
    if not checked:
        verdict = Verdict.FAILED if has_failed else Verdict.UNVERIFIED
        return verdict, f"{told}, and no obligation says what to look for"
    worst = min(checked, key=lambda check: _WORST_FIRST[check.verdict])
    verdict = worst.verdict
    if has_failed and verdict is not Verdict.CONTRADICTED:
        verdict = Verdict.FAILED
    of = f" (worst of {len(checked)} obligations)" if len(checked) > 1 else ""
    return verdict, f"{told}; {worst.reason}{of}"


def _disclosure(course: Course, verdict: Verdict) -> Disclosure:
    if not course.claim.external or verdict is Verdict.VERIFIED:
        return Disclosure.NOTHING
    return _DISCLOSURES.get(course.execution, Disclosure.UNKNOWN)


def _latest_on_target(courses: Sequence[Course]) -> dict[Location, Course]:
    return {ref.location: course for course in courses for ref in course.targets}


def _heir(course: Course, latest: Mapping[Location, Course]) -> str:
    """The effect that took over all targets of this one, or "".

    Where only some of them were claimed again, the effect still matters for the rest.
    """
    heirs = [latest[ref.location] for ref in course.targets]
    if not heirs or any(heir is course for heir in heirs):
        return ""
    return min(heirs, key=lambda heir: heir.claim.sequence).claim.effect_id


def _timeline(course: Course, checked: Sequence[Checked]) -> tuple[Event, ...]:
    claim = course.claim
    events = [
        Event(
            EventKind.CLAIM,
            claim.sequence,
            claim.operation.tool,
            _scope(course),
            claim.line,
        )
    ]
    for outcome in course.outcomes:
        text = "added because the run had ended without one" if not outcome.line else ""
        text = text or f"impact {outcome.impact}, cleanup {outcome.cleanup}"
        events.append(
            Event(
                EventKind.OUTCOME,
                outcome.sequence,
                outcome.execution,
                text,
                outcome.line,
            )
        )
    seen = {c.target.location: c.observation for c in checked if c.observation}
    events += [
        Event(
            EventKind.OBSERVATION,
            look.sequence,
            look.mechanism,
            f"{wording.place(look.resource)}: {wording.found(look)}",
            look.line,
        )
        for look in seen.values()
    ]
    return tuple(sorted(events, key=lambda event: event.sequence))


def _scope(course: Course) -> str:
    if not course.claim.impact_scope:
        return "may have touched anything"
    places = [wording.place(ref) for ref in course.claim.impact_scope[:3]]
    more = len(course.claim.impact_scope) - len(places)
    return ", ".join(places) + (f" and {more} more" if more else "")
