"""Outcomes of a test, and which one counts when several are told of it.

Guarantees: the six outcomes have fixed codes (they are stored in column blocks and
must never be renumbered), and one order of severity.
"""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"


# Position = stored code. Append only.
BY_CODE: tuple[Outcome, ...] = (
    Outcome.PASSED,
    Outcome.FAILED,
    Outcome.ERROR,
    Outcome.SKIPPED,
    Outcome.XFAILED,
    Outcome.XPASSED,
)
CODE: dict[Outcome, int] = {outcome: code for code, outcome in enumerate(BY_CODE)}

# error > failed > passed > skipped (design.md); the two x-outcomes stand beside
# the one they resemble.
SEVERITY: dict[Outcome, int] = {
    Outcome.SKIPPED: 0,
    Outcome.XFAILED: 1,
    Outcome.PASSED: 2,
    Outcome.XPASSED: 3,
    Outcome.FAILED: 4,
    Outcome.ERROR: 5,
}

FAILING = frozenset({Outcome.FAILED, Outcome.ERROR})
PASSING = frozenset({Outcome.PASSED, Outcome.XPASSED, Outcome.XFAILED})


def worst(first: Outcome, second: Outcome) -> Outcome:
    """Return the more severe of two outcomes."""
    return first if SEVERITY[first] >= SEVERITY[second] else second


def disagree(outcomes: set[Outcome]) -> bool:
    """Tell whether attempts disagree: one failed where another one passed.

    A skip beside anything is no disagreement, nor is failed beside error.
    """
    return bool(outcomes & FAILING) and bool(outcomes & PASSING)
