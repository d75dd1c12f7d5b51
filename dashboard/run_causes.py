"""Why the tests of a run failed, as far as it is known: by test, and in short.

Guarantees: a leaker is named as the cause only where it ran before the test in this
run, or where this run's order is not known, and then that is said.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaks.totals import causes_of
from results.queries.before import order_holds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leaks.shapes import Cause
    from results.queries.shapes import FailureGroup, RunRow


@dataclass(frozen=True, slots=True)
class CauseHere:
    """What is believed of a failing test, and whether its leaker ran before it here
    (None: the order of the run is not known)."""

    cause: Cause
    held: bool | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the failing tests have one cause."""

    cause: Cause
    tests: int


@dataclass(frozen=True, slots=True)
class RunCauses:
    """`by_test` is of the shown failures; `leakers` broke at least one of them here."""

    by_test: dict[int, CauseHere]
    leakers: list[Share]
    classes: list[tuple[str, int]]
    shown: int


def causes_of_run(run: RunRow, groups: Iterable[FailureGroup]) -> RunCauses:
    """Explain the failures that the page of a run shows."""
    tests = {row.test for group in groups for row in group.rows if row.counted}
    told = causes_of(tests)
    pairs = {
        (cause.leaker_test, test)
        for test, causes in told.items()
        for cause in causes
        if cause.leaker_test is not None
    }
    known = run.order != "unknown"
    held = order_holds(run.id, pairs) if known else set()
    by_test = {test: _here(causes, held, known) for test, causes in told.items()}
    broken = Counter(
        here.cause.leaker
        for here in by_test.values()
        if here.cause.leaker is not None and here.held is not False
    )
    example = {here.cause.leaker: here.cause for here in by_test.values()}
    return RunCauses(
        by_test=by_test,
        leakers=[Share(example[pk], n) for pk, n in broken.most_common()],
        classes=Counter(
            here.cause.name for here in by_test.values() if here.cause.leaker is None
        ).most_common(),
        shown=len(tests),
    )


def _here(causes: list[Cause], held: set[tuple[int, int]], known: bool) -> CauseHere:
    """Of several leakers the one that ran before it here, else the surest."""
    first = causes[0]
    if first.leaker_test is None:
        return CauseHere(first)
    if not known:
        return CauseHere(first, None)
    for cause in causes:
        if cause.leaker_test is not None and (cause.leaker_test, cause.test) in held:
            return CauseHere(cause, True)
    return CauseHere(first, False)
