"""How sure it is that a leaker is fixed, from the runs since.

Guarantees: only the default branch's runs since count, and only where the leaker ran
before its victim in a known order, by how much of the harm would have been left; a
leaker is proven fixed when it is for each of its claimed victims. What only a gate said
is never proven by silence: a gate that no longer runs is silent too.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.fixed import Fix, FixProof, in_words, proof
from analysis.observations import observe
from leaks.models import Leaker, LeakerState, Pair, PairKind, PairStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from leaks.judging import Judged
    from results.queries.executions import RunFacts

type Fixes = Mapping[int, dict[str, Any]]  # Any: JSON; by the leaker's number

_CLAIMS = (PairStatus.PROVEN, PairStatus.CONFIRMED)
_FIXED = (LeakerState.FIXED, LeakerState.VERIFIED_FIXED)


def fixes_now(judged: Judged) -> Fixes:
    """Return what speaks for each fix; `verified` where it is proven."""
    project = judged.project_id
    fixed = Leaker.objects.filter(project=project, state__in=_FIXED)
    since = {
        number: at
        for number, at in fixed.values_list("test__number", "fixed_at")
        if at is not None
    }
    pairs = Pair.objects.filter(
        project=project,
        kind=PairKind.VICTIM,
        status__in=_CLAIMS,
        test__number__in=list(since),
    ).select_related("test", "victim")
    found: dict[int, list[tuple[str, FixProof]]] = {}
    for pair in pairs.order_by("pk"):
        number = pair.test.number
        one = _proof(judged, pair, since[number])
        found.setdefault(number, []).append((pair.victim.nodeid, one))
    return {number: _told(some) for number, some in found.items()}


def _told(some: list[tuple[str, FixProof]]) -> dict[str, Any]:
    """The victim that is least sure speaks for the leaker."""
    nodeid, weakest = max(some, key=lambda one: (one[1].failures, one[1].chance))
    verified = all(one.state is Fix.VERIFIED for _, one in some)
    words = in_words(weakest)
    return {**asdict(weakest), "victim": nodeid, "words": words, "verified": verified}


def _proof(judged: Judged, pair: Pair, since: datetime) -> FixProof:
    events = trials = failures = 0
    relevant = 0.0
    for facts, failed, distance in _after(judged, pair.victim.number, pair.test.number):
        if facts.started_at < since:
            events, trials = events + failed, trials + 1
        elif facts.branch_class == "default":
            failures += failed
            lives = pair.lives_for
            relevant += math.exp(-distance / lives) if lives else 1.0
    if not trials:  # the window has left them behind
        events, trials = pair.failed_after, pair.failed_after + pair.passed_after
    return proof(
        old_events=events, old_trials=trials, relevant=relevant, failures=failures
    )


def _after(
    judged: Judged, victim: int, leaker: int
) -> Iterator[tuple[RunFacts, bool, int]]:
    """Yield the runs in which it ran before: run, failed, tests in between."""
    history = judged.history
    if max(victim, leaker) >= history.n_tests:
        return
    seen = observe(history, np.array([victim], np.int32))
    for column in seen.seen(0).tolist():
        run = history.runs[column]
        begin, end = seen.first[0, column], seen.place[0, column]
        before = np.flatnonzero(run.tests[begin:end] == leaker)
        if run.ordered and len(before):
            between = int(end - begin - before[-1] - 1)
            failed = bool(seen.failed[0, column] == 1)
            yield judged.told.runs[column], failed, between
