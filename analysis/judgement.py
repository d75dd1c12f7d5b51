"""The words of a judgement: classes, claims, candidates.

Guarantees: plain frozen values that a database row can hold; test numbers, never
names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from analysis import METHOD_VERSION
from analysis.priors import Story
from analysis.sceptic import Table


class Class(StrEnum):
    """The one class of an unstable test (`read-api.md`)."""

    REGRESSION = "regression"
    VICTIM = "victim"
    BRITTLE = "brittle"
    SELF_POLLUTER = "self_polluter"
    FLAKY = "flaky"
    ENVIRONMENT = "environment"
    CROSS_WORKER = "cross_worker"
    IMPORT = "import"
    PLACE = "place"
    GATE = "gate"
    UNEXPLAINED = "unexplained"


class Status(StrEnum):
    """What is claimed of a pair."""

    PROVEN = "proven"
    CONFIRMED = "confirmed"
    SUSPECT = "suspect"
    INDISTINGUISHABLE = "indistinguishable"
    REFUTED = "refuted"


class Doubt(StrEnum):
    """Why a strong candidate is not confirmed."""

    POSTERIOR = "posterior"  # other explanations hold more than 5 %
    EVIDENCE = "evidence"  # its own observations are too weak
    RIVAL = "rival"  # another candidate explains far more
    PARTIAL = "partial"  # it explains too few of the failures, and q is not small
    FEW = "few"  # fewer than two failures, or two passes
    GROUP = "group"  # others ran before in exactly the same runs
    CONFOUNDED = "confounded"  # a regression landed together with it
    ORDER = "order"  # the order drifts with the commits, it is not shuffled
    ASSUMED = "assumed"  # the order was not recorded


@dataclass(frozen=True)
class Candidate:
    """One suspected cause of one test.

    story       VICTIM (a leaker) or BRITTLE (a setter)
    posterior   0 .. 1, all stories and candidates of the test sum to one
    rank        the same under the freer catalogue that only orders suspects
    log_bf      natural log of its own Bayes factor against a constant rate
    lives_for   tests that the harm survives; None = it outlives the process
    group       tests with the same before-vector, itself included (empty = alone)
    cleaners    tests that undo it, as learnt from all its victims
    """

    test: int
    story: Story
    posterior: float
    rank: float
    log_bf: float
    table: Table
    p_value: float
    q_value: float
    lives_for: float | None
    status: Status
    doubts: tuple[Doubt, ...] = ()
    group: tuple[int, ...] = ()
    cleaners: tuple[int, ...] = ()


class Ask(StrEnum):
    """What would decide."""

    PAIR = "pair"  # run the candidate, then the test
    ORDER = "order"  # run these tests first, then the test, then the rest
    SHUFFLE = "shuffle"  # orders never vary: shuffle once, 20 to 40 runs
    PREFIX = "prefix"  # no single cause: minimise the shortest failing prefix
    TRACE = "trace"  # no order is known at all
    MORE = "more"  # more runs


@dataclass(frozen=True)
class Probe:
    """The cheapest next experiment. tests: in the order to run, the test last."""

    ask: Ask
    why: str
    tests: tuple[int, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """What is believed of one unstable test, with the numbers that made it so.

    stories     posterior of each story; VICTIM and BRITTLE sum their candidates;
                all of them sum to one
    candidates  best first; the first three that are not claims are suspects
    file        a file (number) whose tests together hold the evidence though none
                does alone: a fixture of it leaks after its last user
    missing     what would be needed, when the class is UNEXPLAINED
    """

    test: int
    cls: Class
    stories: Mapping[Story, float]
    candidates: tuple[Candidate, ...]
    n_failed: int
    n_passed: int
    same_commit: bool
    probe: Probe | None = None
    missing: str = ""
    file: int | None = None
    stretch: tuple[int, int] | None = None  # failing commits, when a regression
    method_version: int = METHOD_VERSION

    @property
    def claims(self) -> tuple[Candidate, ...]:
        """The candidates that are claimed, not merely suspected."""
        sure = (Status.PROVEN, Status.CONFIRMED)
        return tuple(one for one in self.candidates if one.status in sure)
