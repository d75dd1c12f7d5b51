"""Executions of tests, as logs tell them, into elements with their place.

Guarantees: one element a test; its executions are attempts in order of time; within a
process each execution has the position that the log gives, or else the one that
follows from start times, or else from the order of the lines.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.json_lines import moment
from formats.outcomes import Outcome
from formats.report import (
    Attempt,
    Element,
    Note,
    OrderQuality,
    Problem,
    Reading,
    Reported,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(slots=True)
class Execution:
    """One attempt of one test in one process."""

    nodeid: str
    outcome: Outcome
    line: int
    worker: str
    process: str
    position: int | None = None
    start: float | None = None
    duration: float | None = None
    message: str = ""
    text: str = ""
    collection: bool = False
    problems: tuple[Problem, ...] = ()
    rest: Outcome | None = None


def read_executions(
    executions: Sequence[Execution], *, order: OrderQuality, notes: list[Note]
) -> Reading:
    """Place the executions, fold them by test and count them."""
    tests = [one for one in executions if not one.collection]
    if _place(tests) and order is OrderQuality.TRACED:
        order = OrderQuality.ASSUMED
        message = "two tests have the same position in one process"
        notes.append(Note("same-position", message))
    if order is OrderQuality.UNKNOWN:
        for one in tests:
            one.process, one.position = "", None
    elements = _fold(executions)
    starts = [one.start for one in tests if one.start is not None]
    ends = [one.start + (one.duration or 0) for one in tests if one.start is not None]
    durations = [one.duration for one in tests if one.duration is not None]
    return Reading(
        elements=elements,
        reported=_count(elements),
        started_at=moment(min(starts, default=None)),
        wall_s=max(ends) - min(starts) if starts else None,
        total_time_s=sum(durations) if durations else None,
        order=order if tests else OrderQuality.UNKNOWN,
        notes=notes,
    )


def _place(executions: Iterable[Execution]) -> bool:
    """Give each execution its position; tell whether two tests share one."""
    processes: dict[str, list[Execution]] = {}
    for one in executions:
        processes.setdefault(one.process, []).append(one)
    clash = False
    for members in processes.values():
        if any(one.position is None for one in members):
            if all(one.start is not None for one in members):
                members.sort(key=lambda one: (one.start or 0.0, one.line))
            for position, one in enumerate(members):
                one.position = position
            continue
        places: dict[int | None, str] = {}
        for one in members:
            clash |= places.setdefault(one.position, one.nodeid) != one.nodeid
    return clash


def _fold(executions: Iterable[Execution]) -> list[Element]:
    tests: dict[tuple[str, bool], list[Execution]] = {}
    for one in executions:
        tests.setdefault((one.nodeid, one.collection), []).append(one)
    elements = []
    for (nodeid, collection), attempts in tests.items():
        if len(attempts) > 1:
            attempts = _in_time(attempts)
        last = attempts[-1]
        elements.append(
            Element(
                name=nodeid,
                outcome=last.outcome,
                duration=last.duration,
                message=last.message,
                text=last.text,
                attempts=() if collection else tuple(map(_attempt, attempts[:-1])),
                nodeid=nodeid,
                line=last.line,
                worker=last.worker,
                process=last.process,
                position=last.position,
                start=last.start,
                pytest=True,
                collection=collection,
                problems=last.problems,
                rest=last.rest,
            )
        )
    return elements


def _in_time(attempts: list[Execution]) -> list[Execution]:
    if all(one.start is not None for one in attempts):
        return sorted(attempts, key=lambda one: (one.start or 0.0, one.line))
    if len({one.process for one in attempts}) == 1:
        return sorted(attempts, key=lambda one: (one.position or 0, one.line))
    return attempts


def _attempt(one: Execution) -> Attempt:
    return Attempt(
        one.outcome, one.duration, one.message, one.text, one.problems, one.rest
    )


def _count(elements: Iterable[Element]) -> Reported:
    outcomes = Counter(one.outcome for one in elements if not one.collection)
    return Reported(
        tests=outcomes.total(),
        passed=outcomes[Outcome.PASSED] + outcomes[Outcome.XPASSED],
        failed=outcomes[Outcome.FAILED],
        errors=outcomes[Outcome.ERROR],
        skipped=outcomes[Outcome.SKIPPED] + outcomes[Outcome.XFAILED],
    )
