"""The answers about pull requests, field by field."""

from __future__ import annotations

from datetime import datetime

from ninja import Field, Schema


class GoneShape(Schema):
    """The first commit with a run of the default branch that no longer shows it."""

    commit: str
    run: int | None
    pull: int | None = Field(description="that landed it, where only one may have")
    among: list[int] = Field(description="else those that may have")


class OwnLeakerShape(Schema):
    """Whose test breaks this one."""

    id: int | None
    test: int
    nodeid: str
    share: str = Field(description="whose the leaker is")
    status: str


class FlakyShape(Schema):
    rate: float | None = Field(description="share of its runs that fail")
    low: float | None
    high: float | None
    runs: int


class AttributedShape(Schema):
    """A leak or a failing test, with the evidence for whose it is."""

    test: int | None
    nodeid: str | None
    kind: str = Field(description="failed or error; of a leak its own kind")
    reason: str = Field(description="what decided, in words")
    why: str = Field(description="seen, other, passed, absent or no_run")
    environments: list[dict[str, str]]
    fingerprint: str | None
    title: str
    message: str | None
    run: int | None
    base_run: int | None = Field(description="id of the run that decided")
    base_commit: str | None
    gone: GoneShape | None
    leaker: OwnLeakerShape | None
    flaky: FlakyShape | None
    fixed_by: list[int] = Field(description="open pull requests that fix it")
    gate: str | None
    gate_new: bool = Field(
        description="no run outside of pull requests ever had this gate"
    )
    recipe: str | None


class SharesShape(Schema):
    introduced: list[AttributedShape]
    inherited: list[AttributedShape]
    inherited_fixed_upstream: list[AttributedShape]
    fixed: list[AttributedShape]
    unknown: list[AttributedShape]


class PullFindingShape(Schema):
    id: int
    severity: str
    state: str
    path: str
    line: int | None
    title: str
    share: str = Field(
        description="introduced, inherited, inherited_fixed_upstream or unknown"
    )
    reason: str
    cluster: int | None
    owner: str | None
    due: datetime
    url: str


class BlockersShape(Schema):
    direct: list[int | str]
    order: list[int | str] = Field(
        description="all open ones, the first to merge first"
    )
    cycles: list[list[int]]


class PullRunShape(Schema):
    id: int
    run: str
    outcome: str
    complete: bool
    environment: dict[str, str]
    tests: int
    url: str


class PullShape(Schema):
    """A pull request, what it waits for, and whose its failures are."""

    number: int
    title: str
    state: str = Field(description="open, closed or merged")
    draft: bool
    author: str | None
    head: str | None
    base: str | None = Field(description="the branch that it is to be merged into")
    merge_base: str | None = Field(description="the commit that it is compared with")
    base_quality: str | None = Field(
        description="of the merge base: known, derived or estimated"
    )
    verdict: str = Field(description="clear, yours, not_yours, blocked or unknown")
    sentence: str
    red: bool = Field(description="by the policies of the project")
    reasons: list[str] = Field(description="why it is red")
    leaks: SharesShape
    failures: SharesShape
    findings: list[PullFindingShape]
    blockers: BlockersShape
    blocks: list[int] = Field(description="the open ones that wait for this one")
    advice: list[str]
    untested: str | None = Field(
        description="the head, where no run there is known: this speaks of an older one"
    )
    merge_commit: str | None
    runs: list[PullRunShape]
    pending: bool = Field(description="a newer verdict is being made")
    judged_at: datetime | None
    changed_at: datetime | None = Field(description="since when the verdict is this")
    web_url: str | None = Field(description="at its host")
    url: str


class NodeShape(Schema):
    number: int
    state: str = Field(description="open, closed, merged, or unknown")
    title: str
    verdict: str | None
    red: bool


class EdgeShape(Schema):
    """`from` waits for, or is related to, `to`."""

    source_number: int = Field(alias="from", serialization_alias="from")
    to: int | str = Field(description="a number, or owner/repo#n elsewhere")
    kind: str = Field(description="blocking or related")
    open: bool
    source: str = Field(description="declared, computed or manual")
    reason: str | None


class GraphShape(Schema):
    nodes: list[NodeShape]
    edges: list[EdgeShape]
    cycles: list[list[int]]


class JourneyPointShape(Schema):
    at: datetime
    run: int
    commit: str | None
    failing: int
    tests: int
    gone: int = Field(description="how many fewer fail than at the point before")
    come: int
    pull: int | None = Field(description="that landed in between, where only one did")
    among: list[int]


class JourneyShape(Schema):
    environment: dict[str, str]
    environments: list[dict[str, str]]
    points: list[JourneyPointShape] = Field(description="the oldest first")
    changes: list[JourneyPointShape] = Field(
        description="the first point, and those at which the number changed"
    )
