"""The one class of an unstable test, from its posteriors and the rules of evidence.

Guarantees: `flaky` only with both outcomes on one commit or a pass on retry; a
failing newest stretch that the regression story explains is a regression however
often the test flaked before; an order class only where the stories of order hold
most of the posterior; else `unexplained`, which says what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.judgement import Candidate, Class, Status
from analysis.outcomes import Outcomes
from analysis.priors import Story

ENOUGH = 0.6  # posterior that a class needs
_CLASS_OF = {
    Story.REGRESSION: Class.REGRESSION,
    Story.PLACE: Class.PLACE,
    Story.ENVIRONMENT: Class.ENVIRONMENT,
    Story.CROSS_WORKER: Class.CROSS_WORKER,
    Story.IMPORT: Class.IMPORT,
    Story.SELF: Class.SELF_POLLUTER,
    Story.VICTIM: Class.VICTIM,
    Story.BRITTLE: Class.BRITTLE,
}


def classify(
    stories: Mapping[Story, float], outcomes: Outcomes, candidates: Sequence[Candidate]
) -> Class:
    """The class; proven pairs first, then the best story if it holds enough."""
    for one in candidates:
        if one.status is Status.PROVEN:
            return _CLASS_OF[one.story]
    best = max(stories, key=lambda story: stories[story])
    if best is Story.FLAKE:
        return Class.FLAKY if outcomes.same_commit else Class.UNEXPLAINED
    if stories[best] >= ENOUGH:
        return _CLASS_OF[best]
    return Class.UNEXPLAINED


def missing_for(
    cls: Class, outcomes: Outcomes, candidates: Sequence[Candidate], *, ordered: bool
) -> str:
    """What an unexplained test lacks, in words; empty for the others."""
    if cls is not Class.UNEXPLAINED:
        return ""
    if outcomes.n_failed == 0:
        return "It has not failed in the runs that count."
    if outcomes.n_failed == 1:
        return "Seen once: one failure is no evidence among so many tests."
    if not ordered:
        return "No failing run has a known order."
    if not outcomes.same_commit and not candidates:
        return "No commit has both outcomes, and no retry passed."
    return "No explanation holds more than half of the belief yet."
