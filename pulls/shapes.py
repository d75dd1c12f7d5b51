"""What the queries return, and what a stored verdict holds: plain frozen values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

# Any, below: JSON.


@dataclass(frozen=True, slots=True)
class Gone:
    """Since when the default branch no longer shows it: the first commit with a run
    that does not. `pull` landed it; `among` are several that may have."""

    commit: str
    run: int | None
    pull: int | None = None
    among: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Leaker:
    """The leaker of a failing test; `share` says whose it is."""

    test: int
    nodeid: str
    share: str
    id: int | None = None
    status: str = ""
    reproduce: str = ""


@dataclass(frozen=True, slots=True)
class Flaky:
    """How often a test fails that is known to be flaky."""

    rate: float | None
    low: float | None = None
    high: float | None = None
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """One failing test, or one leak, of a pull request, and whose it is.

    `kind` is failed or error; of a leak its own. `fingerprint` tells it from other
    failures of its test. `base_run` and `base_commit` decided, `why` says how.
    """

    test: int | None
    nodeid: str | None
    kind: str
    share: str
    why: str
    reason: str
    environments: list[Mapping[str, str]]
    keys: list[str] = field(default_factory=list)  # what marks are made of
    fingerprint: str = ""
    title: str = ""
    message: str = ""
    run: int | None = None
    failure: int | None = None
    base_run: int | None = None
    base_commit: str = ""
    gone: Gone | None = None
    leaker: Leaker | None = None
    flaky: Flaky | None = None
    fixed_by: list[int] = field(default_factory=list)  # open pull requests
    gate: str = ""
    gate_new: bool = False  # the default branch never heard this gate
    recipe: str = ""

    @property
    def is_flaky(self) -> bool:
        return self.flaky is not None


@dataclass(frozen=True, slots=True)
class FindingItem:
    """A live finding on a pull request, and whose it is."""

    id: int
    severity: str
    state: str
    path: str
    line: int | None
    title: str
    share: str
    reason: str
    cluster: int | None = None
    owner: str = ""
    due: str = ""


@dataclass(frozen=True, slots=True)
class HeadRun:
    """A run that the verdict rests on."""

    id: int
    name: str
    outcome: str
    complete: bool
    environment: Mapping[str, str]
    tests: int
    missing: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Told:
    """What a verdict says, with its evidence. Stored as JSON, whole.

    `base` is what it is compared with: the merge base, or what is taken for it;
    `base_runs` by environment the run there or at the nearest ancestor that has one.
    """

    word: str
    sentence: str
    red: bool
    reasons: list[str]  # why it is red
    advice: list[str]
    head: str
    untested: str  # the head, where no run was seen of it yet
    base: str
    quality: str  # known, derived, estimated, or "": not known
    leaks: list[Item]
    failures: list[Item]
    findings: list[FindingItem]
    runs: list[HeadRun]
    base_runs: list[int]
    tests: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def told_of(stored: dict[str, Any]) -> Told:
    """Return what `Told.to_json` stored; fields of a later version are left out."""
    values = _known(Told, stored)
    for name in ("leaks", "failures"):
        values[name] = [_item(one) for one in values[name]]
    values["findings"] = [
        FindingItem(**_known(FindingItem, f)) for f in values["findings"]
    ]
    values["runs"] = [HeadRun(**_known(HeadRun, run)) for run in values["runs"]]
    return Told(**values)


def _item(stored: dict[str, Any]) -> Item:
    values = _known(Item, stored)
    for name, kind in (("gone", Gone), ("leaker", Leaker), ("flaky", Flaky)):
        if values.get(name) is not None:
            values[name] = kind(**_known(kind, values[name]))
    return Item(**values)


def _known(kind: type[Any], stored: dict[str, Any]) -> dict[str, Any]:
    names = {each.name for each in fields(kind)}
    return {name: value for name, value in stored.items() if name in names}


@dataclass(frozen=True, slots=True)
class Node:
    """A pull request in the graph. `state` is "unknown" where nothing is known."""

    number: int
    state: str
    title: str = ""
    word: str = ""
    red: bool = False
    draft: bool = False


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """`to` is a number, or `owner/repo#n` outside of the project."""

    from_number: int
    to: int | str
    kind: str
    open: bool
    source: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Blockers:
    """The open ones. `order` is that in which to merge them, all distances."""

    direct: list[int | str]
    order: list[int | str]
    cycles: list[list[int]]


@dataclass(frozen=True, slots=True)
class Graph:
    nodes: list[Node]
    edges: list[EdgeRow]
    cycles: list[list[int]]


@dataclass(frozen=True, slots=True)
class PullRow:
    """A pull request with its newest verdict; `told` is None before the first one."""

    id: int
    number: int
    title: str
    state: str
    author: str
    url: str
    draft: bool
    head: str
    head_branch: str
    head_repository: str
    base_branch: str
    merge_commit: str
    opened_at: datetime | None
    merged_at: datetime | None
    closed_at: datetime | None
    pending: bool  # a newer verdict is being made
    told: Told | None
    at: datetime | None
    changed_at: datetime | None
    blockers: Blockers
    blocks: list[int]
    edges: list[EdgeRow]  # its own, related ones too


@dataclass(frozen=True, slots=True)
class PullSummary:
    """A pull request in a list: the verdict in short."""

    number: int
    title: str
    state: str
    author: str
    draft: bool
    word: str
    red: bool
    sentence: str
    changed_at: datetime | None
    at: datetime | None


@dataclass(frozen=True, slots=True)
class JourneyPoint:
    """A run of the default branch; `gone` and `come` against the one before it."""

    at: datetime
    run: int
    commit: str
    failing: int
    tests: int
    gone: int
    come: int
    pull: int | None
    among: list[int]


@dataclass(frozen=True, slots=True)
class Page[T]:
    items: list[T]
    next: str | None = None
