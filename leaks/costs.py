"""What leakers and unstable tests cost: the red runs of a window, charged.

Guarantees: a failure is charged to a claimed leaker only where it ran before the
victim; a red run counts once, in however many parts it came.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from analysis.cost import NOBODY, Cost, RedRun, charge
from leaks.models import PairKind
from leaks.places import after, failing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from leaks.judging import Judged
    from leaks.pairs import PairNow
    from results.queries.executions import RunFacts

type Failures = dict[int, dict[int, dict[int, float]]]  # run, test, cause: weight


def of_leakers(judged: Judged, pairs: Iterable[PairNow]) -> dict[int, Cost]:
    """Return the cost of every claimed leaker, by its number."""
    failures, runs = _failures(judged)
    for pair in pairs:
        if pair.kind is not PairKind.VICTIM or not pair.claimed:
            continue
        if pair.victim not in judged.judgements:
            continue
        for facts in after(judged, pair.victim, pair.test):
            failures[facts.id][pair.victim][pair.test] = pair.posterior
    return _charged(failures, runs)


def of_tests(judged: Judged) -> dict[int, Cost]:
    """Return what each judged test's failures cost, whoever is to blame."""
    failures, runs = _failures(judged)
    for tests in failures.values():
        for test, causes in tests.items():
            causes[test] = 1.0
    return _charged(failures, runs)


def _failures(judged: Judged) -> tuple[Failures, dict[int, RunFacts]]:
    failures: Failures = defaultdict(dict)
    runs = {}
    for test in judged.judgements:
        for facts in failing(judged, test):
            failures[facts.id][test] = {}
            runs[facts.id] = facts
    return failures, runs


def _charged(failures: Failures, runs: Mapping[int, RunFacts]) -> dict[int, Cost]:
    red = [
        RedRun(tests, duration_s=runs[run].duration_s, pull=runs[run].pr)
        for run, tests in sorted(failures.items())
    ]
    return {cost.cause: cost for cost in charge(red) if cost.cause != NOBODY}
