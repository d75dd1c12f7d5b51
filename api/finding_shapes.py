"""The answers about findings, reviews and effects, field by field."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Field, Schema


class PlaceShape(Schema):
    line: int
    end_line: int | None


class LinkedLeak(Schema):
    """That a test leaks something; `id` is the newest fact."""

    id: int
    test: int | None
    nodeid: str | None
    kind: str
    runs: int


class FindingShape(Schema):
    """A finding as the reviews and decisions of its pull request leave it."""

    id: int
    key: str = Field(description="its identity in the project")
    source: str = Field(description="review or effect")
    severity: str
    path: str
    line: int | None
    end_line: int | None
    also_at: list[PlaceShape]
    title: str
    detail: str
    rule: str | None
    reviewers: list[str] = Field(description="empty: none is stated")
    state: str = Field(
        description="open, reopened, resolved, accepted, false positive, won't fix, "
        "fixed"
    )
    reason: str | None = Field(description="of what a person decided")
    owner: str | None
    pr: int | None
    run: int | None = Field(description="of an effect: the id of its run")
    effect_id: str | None
    first_seen: datetime
    last_seen: datetime
    seen_count: int
    cluster: int = Field(description="near-duplicates have the same one")
    cluster_size: int
    due: datetime
    overdue: bool
    rank_reason: str = Field(description="what it is ranked by, in words")
    leaks: list[LinkedLeak] = Field(description="of the tests that it speaks of")
    url: str


class ConfidenceShape(Schema):
    score: float
    of: float


class ProvenanceShape(Schema):
    models: dict[str, str]
    cost_usd: float | None
    duration_s: float | None
    rounds: int | None
    files_examined: int | None


class UnparsedShape(Schema):
    line: int
    text: str


class ReviewShape(Schema):
    """One review, and what it changed."""

    id: int
    pr: int | None
    commit: str | None
    at: datetime
    upload: int
    confidence: ConfidenceShape | None
    provenance: ProvenanceShape
    unparsed: list[UnparsedShape]
    partial: bool
    complete: bool = Field(description="what it does not raise is resolved")
    reviewers: list[str]
    raised: int
    counts: dict[str, int] = Field(
        description="created, closed, reopened, untouched by it"
    )


class ResourceShape(Schema):
    kind: str
    role: str
    location: list[str]
    incarnation: str


class EffectShape(Schema):
    """An effect of an agent's run, and how it was judged."""

    id: int
    effect_id: str
    lineage: str = Field(description="the ledger's own run_id")
    run: int | None
    upload: int
    tool: str
    action: str
    execution: str
    impact: str | None = Field(description="null: not known")
    verdict: str
    reason: str
    cleanup: str
    unresolved_impact: bool
    external: bool
    disclosure: str | None = Field(
        description="of an external effect that executed and is not verified"
    )
    targets: list[ResourceShape]
    scope_known: bool = Field(description="else it may have touched anything")
    superseded_by: str | None
    replayed: bool
    running_at_end: bool
    test: int | None = Field(description="id of the test that it belongs to")
    nodeid: str | None
    obligations: list[dict[str, Any]]  # Any: JSON
    timeline: list[dict[str, Any]]
