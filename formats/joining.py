"""One test told by several files of one upload: which one counts.

Guarantees: symmetric where files are of one kind, so the order of the files changes
nothing. A report gives outcome and texts, a trace the process, the place and the
attempts; where they contradict each other the worse one counts and it is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from formats.outcomes import FAILING, SEVERITY, Outcome, disagree, worst
from formats.repeats import attempt_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.identity import Identity
    from formats.report import Attempt, Element

# Reports have no word for the second one of each pair, traces do.
_FINER = {
    frozenset({Outcome.PASSED, Outcome.XPASSED}): Outcome.XPASSED,
    frozenset({Outcome.SKIPPED, Outcome.XFAILED}): Outcome.XFAILED,
}


class Told(NamedTuple):
    """One test as one file, or several files together, tell it."""

    identity: Identity
    element: Element
    flaky: bool
    process: str  # a label that is unique in the upload; empty: not known
    conflict: str = ""  # what contradicted each other


def richest(told: Sequence[Told]) -> Identity:
    """The identity whose node id says most; equal keys are taken for granted."""
    return min(
        (one.identity for one in told), key=lambda known: (-known.rank, known.nodeid)
    )


def join_reports(told: Sequence[Told]) -> Told:
    """The same test in several reports: equal is one, of different the worst counts."""
    outcomes = {one.element.outcome for one in told}
    conflict = ""
    if len(outcomes) > 1:
        ordered = sorted(outcomes, key=lambda outcome: -SEVERITY[outcome])
        conflict = f"{', '.join(ordered)} in different files"
    return max(told, key=_weight)._replace(
        identity=richest(told),
        flaky=any(one.flaky for one in told),
        conflict=conflict,
    )


def join_traces(told: Sequence[Told]) -> Told:
    """The same test in several traces: the same line twice, or attempts."""
    places: dict[object, Told] = {}
    for one in sorted(told, key=_moment):
        place = (one.process, one.element.position, one.element.start)
        places[place] = one
    attempts: list[Attempt] = []
    for one in places.values():
        attempts += (*one.element.attempts, attempt_of(one.element))
    earlier = tuple(attempts[:-1])
    last = next(reversed(places.values()))
    element = last.element._replace(attempts=earlier)
    return last._replace(
        identity=richest(told), element=element, flaky=_flaky(element, earlier)
    )


def join_trace(report: Told, trace: Told) -> Told:
    """A report's test with its place, its attempts and finer outcome from a trace."""
    told, seen = _without_gate(report.element, trace.element)
    outcome, conflict = told.outcome, report.conflict
    if seen.outcome is not told.outcome:
        finer = _FINER.get(frozenset({told.outcome, seen.outcome}))
        outcome = finer or worst(told.outcome, seen.outcome)
        if finer is None:
            conflict = f"{told.outcome} in the report, {seen.outcome} in the trace"
    attempts = _join_attempts(told.attempts, seen.attempts)
    element = told._replace(
        outcome=outcome,
        duration=told.duration if told.duration is not None else seen.duration,
        message=told.message or seen.message,
        text=told.text or seen.text,
        attempts=attempts,
        position=seen.position,
        start=seen.start,
        worker=seen.worker or told.worker,
        collection=told.collection or seen.collection,
        gated=told.gated or seen.gated,
    )
    return Told(
        richest((report, trace)),
        element,
        report.flaky or _flaky(element, attempts),
        trace.process,
        conflict,
    )


def _without_gate(told: Element, seen: Element) -> tuple[Element, Element]:
    """A failure that one side knows to be a gate's is none of the other side either,
    where that one has no words of its own for it."""
    if told.gated is not None and _is_silent(seen):
        return told, seen._replace(outcome=told.outcome)
    if seen.gated is not None and _is_silent(told):
        return told._replace(outcome=seen.outcome), seen
    return told, seen


def _is_silent(element: Element) -> bool:
    return element.outcome in FAILING and not (element.message or element.text)


def _join_attempts(
    told: Sequence[Attempt], seen: Sequence[Attempt]
) -> tuple[Attempt, ...]:
    """Outcomes from the trace, texts from the report, one by one."""
    if len(seen) != len(told):
        return tuple(seen if len(seen) > len(told) else told)
    return tuple(
        type(trace)(
            report.outcome if report.gated is trace.outcome else trace.outcome,
            trace.duration if trace.duration is not None else report.duration,
            report.message or trace.message,
            report.text or trace.text,
            gated=report.gated or trace.gated,
        )
        for report, trace in zip(told, seen, strict=True)
    )


def _flaky(element: Element, attempts: Sequence[Attempt]) -> bool:
    if not attempts:
        return False
    return disagree({element.outcome, *(attempt.outcome for attempt in attempts)})


def _weight(told: Told) -> tuple[object, ...]:
    """Larger is what counts; ends in texts so that no two different ones tie."""
    element = told.element
    return (
        SEVERITY[element.outcome],
        len(element.attempts),
        len(element.text),
        element.duration or 0.0,
        element.text,
        element.message,
        told.process,
        -1 if element.position is None else element.position,
    )


def _moment(told: Told) -> tuple[object, ...]:
    element = told.element
    return (
        element.start or 0.0,
        told.process,
        -1 if element.position is None else element.position,
        _weight(told),
    )
