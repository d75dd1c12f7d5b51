"""What a CI step should do with a run: pass, fail, or wait for the rest of it.

Guarantees: quarantine changes this answer, and nothing else: no outcome, no history.
What was not seen whole never passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from results.models import RunOutcome
from results.queries.failing import failing_in
from review.standings import quarantined

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from results.queries.failing import Failing
    from results.queries.shapes import RunDetail

_NAMED = 5


class Answer(StrEnum):
    PASS = "pass"  # noqa: S105 - an answer, no password
    FAIL = "fail"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Gate:
    """`unquarantined` counts tests that fail the build; `quarantined` would have."""

    answer: Answer
    unquarantined: int
    quarantined: list[str] = field(default_factory=list)  # node ids
    reasons: list[str] = field(default_factory=list)


def gate_of(detail: RunDetail, *, now: datetime) -> Gate:
    """Return what to do with a run."""
    red = failing_in(detail.row.id, detail.row.project_id)
    excused = quarantined(detail.row.project_id, red.tests, now=now)
    return judge(detail, red, excused)


def judge(detail: RunDetail, red: Failing, excused: set[int]) -> Gate:
    """Weigh what is red in a run against what is quarantined."""
    counted = {pk: name for pk, name in red.failed.items() if pk not in excused}
    leaking = {pk: name for pk, name in red.raised.items() if pk not in excused}
    spared = sorted(red.tests[pk] for pk in excused)
    reasons = [
        *_names(sorted(counted.values()), "fails", "fail"),
        *_names(sorted(leaking.values()), "leaks, says a gate", "leak, says a gate"),
        *_session(red.session_leaks),
        *_whole_run(detail),
    ]
    missing = detail.completeness.missing_parts
    waits = detail.row.outcome == RunOutcome.INCOMPLETE and bool(missing)
    if waits:
        reasons.append(_missing(detail))
    unquarantined = len(counted | leaking)
    if unquarantined or red.session_leaks or _whole_run(detail):
        answer = Answer.FAIL
    else:
        answer = Answer.WAIT if waits else Answer.PASS
    if spared:
        reasons.append(_spared(spared))
    return Gate(answer, unquarantined, spared, reasons or ["Nothing failed."])


def _names(names: Sequence[str], one: str, many: str) -> list[str]:
    if not names:
        return []
    if len(names) == 1:
        return [f"{names[0]} {one}."]
    shown = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return [f"{len(names):,} tests {many}: {shown}{more}."]


def _session(leaks: int) -> list[str]:
    if not leaks:
        return []
    noun = "leak" if leaks == 1 else "leaks"
    return [f"A gate tells {leaks:,} {noun} of the whole session."]


def _whole_run(detail: RunDetail) -> list[str]:
    """Say what makes the run red whatever single tests did."""
    outcome = detail.row.outcome
    found = []
    if outcome == RunOutcome.DAMAGED:
        found.append("A file of the run could not be read: see its uploads.")
    if outcome == RunOutcome.NO_RESULTS:
        found.append("The run has no results.")
    if outcome == RunOutcome.INCOMPLETE and not detail.completeness.missing_parts:
        found.append("A part of the run stopped before its end.")
    if detail.row.failed_outside:
        found.append("The command failed, but no test in its report did.")
    return found


def _missing(detail: RunDetail) -> str:
    parts = [
        f"{part.job} {part.index}/{part.count}".strip()
        for part in detail.completeness.missing_parts[:_NAMED]
    ]
    of = detail.completeness
    return f"{of.received} of {of.expected_shards} parts came; missing: {', '.join(parts)}."


def _spared(names: Sequence[str]) -> str:
    noun = "test is" if len(names) == 1 else "tests are"
    return f"{len(names):,} failing {noun} quarantined: not counted."
