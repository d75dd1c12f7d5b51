"""What is believed before the outcomes are looked at: one table.

Guarantees: the priors over candidates of one victim sum to one; refuted candidates
have none; nothing depends on the numbering of tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from analysis.history import Floats, History

LOCAL_FROM = 500  # in smaller suites nearness is worth nothing (measured)
GATE_FACTOR = 300.0  # a finding of a matching kind
GATE_MASS = 0.6  # share of leaks that gates see; all findings together get no more


class Story(StrEnum):
    """Competing explanations of one test's history."""

    FLAKE = "flake"
    REGRESSION = "regression"
    PLACE = "place"
    ENVIRONMENT = "environment"
    CROSS_WORKER = "cross_worker"
    IMPORT = "import"
    SELF = "self_polluter"
    VICTIM = "victim"
    BRITTLE = "brittle"


STORY_PRIORS: Mapping[Story, float] = {
    Story.FLAKE: 0.22,
    Story.REGRESSION: 0.20,
    Story.PLACE: 0.04,
    Story.ENVIRONMENT: 0.04,
    Story.CROSS_WORKER: 0.04,
    Story.IMPORT: 0.02,
    Story.SELF: 0.02,
    Story.VICTIM: 0.28,
    Story.BRITTLE: 0.14,
}

# Share of published Python victims (brittles) with a leaker (setter) in their own
# file, and in their folder.
NEARNESS = {Story.VICTIM: (0.54, 0.83), Story.BRITTLE: (0.67, 0.97)}


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Evidence from outside the histories.

    gate     (n_tests,) factor >= 1 on each candidate: `GATE_FACTOR` for a finding or
             an unsettled effect of a matching kind; None = no gate ran
    named    victim -> candidate -> further factor (its leaked item stands in the
             victim's traceback)
    refuted  victim -> candidates that a replay cleared
    proven   victim -> candidates that a replay confirmed
    leakers  tests that an earlier judgement of the whole suite claimed, as VICTIM's
             leaker or BRITTLE's setter: they enter the catalogue untested, so that a
             few tests can be judged again after one run as if all were
    """

    gate: Floats | None = None
    named: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    refuted: Mapping[int, frozenset[int]] = field(default_factory=dict)
    proven: Mapping[int, Mapping[int, Story]] = field(default_factory=dict)
    leakers: Mapping[int, Story] = field(default_factory=dict)


def candidate_prior(
    history: History, victim: int, story: Story, beliefs: Beliefs
) -> Floats:
    """(n_tests,) prior that each test is the leaker (setter); sums to one.

    Nearness × gate × named by the traceback. The victim itself has none.
    """
    prior = _nearness(history, victim, story)
    prior[victim] = 0.0
    for test in beliefs.refuted.get(victim, frozenset()):
        prior[test] = 0.0
    prior = _gated(prior, _factors(history, victim, beliefs))
    total = prior.sum()
    return prior / total if total > 0 else prior


def _nearness(history: History, victim: int, story: Story) -> Floats:
    flat = np.full(history.n_tests, 1.0 / history.n_tests)
    if history.n_tests < LOCAL_FROM or history.files is None:
        return flat
    file_share, folder_share = NEARNESS[story]
    in_file = history.files == history.files[victim]
    folders = history.folders if history.folders is not None else history.files
    in_folder = (folders == folders[victim]) & ~in_file
    prior = np.zeros(history.n_tests)
    parts = (
        (in_file, file_share),
        (in_folder, folder_share - file_share),
        (~in_file & ~in_folder, 1 - folder_share),
    )
    for part, share in parts:
        size = int(np.count_nonzero(part))
        prior[part] = share / size if size else 0.0
    return prior


def _factors(history: History, victim: int, beliefs: Beliefs) -> Floats:
    factors = np.ones(history.n_tests)
    if beliefs.gate is not None:
        factors *= beliefs.gate
    for test, factor in beliefs.named.get(victim, {}).items():
        factors[test] *= factor
    return factors


def _gated(prior: Floats, factors: Floats) -> Floats:
    """Multiply, but leave the unflagged their share: gates miss many leaks."""
    flagged = factors > 1.0
    if not flagged.any():
        return prior
    raised = prior * factors
    inside, outside = float(raised[flagged].sum()), float(raised[~flagged].sum())
    if outside > 0 and inside > GATE_MASS * (inside + outside):
        raised[flagged] *= GATE_MASS / (1 - GATE_MASS) * outside / inside
    return raised
