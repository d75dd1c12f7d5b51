"""What the queries return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from results.rates import Rate


_CLAIMS = ("proven", "confirmed")


@dataclass(frozen=True, slots=True)
class PairRow:
    """A pair, seen from one side: `test` and `nodeid` are those of the other one."""

    test: int
    nodeid: str
    kind: str
    status: str
    posterior: float
    bf: float
    failed_after: int
    passed_after: int
    failed_without: int
    passed_without: int
    p_value: float
    q_value: float
    lives_for: float | None
    current: bool
    claimed_at: datetime | None = None
    group: list[str] = field(default_factory=list)  # node ids, itself included
    evidence: dict[str, Any] = field(default_factory=dict)  # Any: JSON


@dataclass(frozen=True, slots=True)
class LeakerRow:
    id: int
    project_id: int
    test: int
    nodeid: str
    kinds: list[str]
    source: str
    state: str
    opened_at: datetime | None
    reopened_at: datetime | None
    ticket: str
    recipe: str
    first_run: int | None
    first_commit: str
    first_pr: int | None
    first_at: datetime | None
    last_at: datetime | None
    failed_results: float
    failed_runs: float
    lost_s: float
    pulls: int
    victims: list[PairRow]
    reproduce: str
    method_version: int
    owner: str = ""
    fixed_at: datetime | None = None
    fixed_commit: str = ""

    @property
    def claimed(self) -> list[PairRow]:
        """The victims that are claimed, not merely suspected."""
        return [one for one in self.victims if one.status in _CLAIMS]


@dataclass(frozen=True, slots=True)
class VictimRow:
    """What is believed of one test. `name` is its class, "" of a stable one."""

    test: int
    nodeid: str
    kind: str
    name: str
    candidates: list[PairRow]
    probe: dict[str, Any] | None  # Any: JSON
    missing: str
    evidence: dict[str, Any]  # Any: JSON


@dataclass(frozen=True, slots=True)
class UnstableRow:
    """One unstable test with the class that it has."""

    test: int
    number: int
    nodeid: str
    name: str
    since: datetime
    failed_runs: int
    affected_prs: int
    lost_s: float
    last_failed: datetime | None
    missing: str
    evidence: dict[str, Any]  # Any: JSON
    flake_rate: Rate | None = None


@dataclass(frozen=True, slots=True)
class LeakerTotals:
    """How many leakers are in each state; what the open ones cost; what to filter by."""

    states: dict[str, int]
    failed_runs: float
    lost_s: float
    kinds: list[str]
    owners: list[str]

    @property
    def open(self) -> int:
        return self.states.get("open", 0)

    @property
    def all(self) -> int:
        """All that were ever more than a suspicion."""
        return sum(n for state, n in self.states.items() if state != "suspected")


@dataclass(frozen=True, slots=True)
class Cause:
    """What is believed of a failing test: its class and, if any, its claimed leaker."""

    test: int
    name: str
    leaker: int | None = None
    leaker_test: int | None = None
    leaker_nodeid: str = ""
    status: str = ""
    posterior: float = 0.0
    since: str = ""  # the commit since which it fails


@dataclass(frozen=True, slots=True)
class DecisionRow:
    at: datetime
    by: str
    what: str
    before: str
    after: str
    note: str


@dataclass(frozen=True, slots=True)
class ProofRow:
    """A reproduction from outside; `test` and `nodeid` are those of the victim."""

    at: datetime
    by: str
    test: int
    nodeid: str
    result: str
    how: str
    command: str
    runs: int | None
    failed: int | None
    commit: str
