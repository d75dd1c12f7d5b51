"""The answers about leakers, victims and unstable tests, as the contract promises."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Field, Schema

from api.shapes import RateShape


class SeenShape(Schema):
    """Where a leaker was first seen to leak, or to harm."""

    run: int | None
    commit: str | None
    pr: int | None
    at: datetime | None


class HarmShape(Schema):
    """One victim of a leaker, with its plain 2×2 table."""

    test: int
    nodeid: str
    confidence: float = Field(description="posterior, 0 to 1")
    failed_after: int
    passed_after: int
    failed_without: int
    passed_without: int
    p_value: float
    q_value: float
    status: str
    current: bool = Field(description="false: a claim of the past, as it then was")


class CostShape(Schema):
    """Fractions come from red runs and victims that several causes share."""

    failed_results: float
    failed_runs: float
    lost_s: float
    affected_prs: int


class LeakerShape(Schema):
    id: int
    test: int
    nodeid: str
    kinds: list[str]
    source: str
    state: str
    opened_at: datetime | None
    reopened_at: datetime | None
    last_at: datetime | None
    ticket: str | None
    first_seen: SeenShape
    victims: list[HarmShape]
    cost: CostShape
    reproduce: str | None
    recipe: str | None
    method_version: int


class CandidateShape(Schema):
    """A suspected leaker, or setter, of one test."""

    test: int
    nodeid: str
    type: str
    posterior: float
    bf: float
    status: str
    group: list[str] = Field(description="ran before it in exactly the same runs")
    failed_after: int
    passed_after: int
    failed_without: int
    passed_without: int
    p_value: float
    q_value: float
    lives_for: float | None = Field(description="tests; null: to the process's end")
    current: bool
    evidence: dict[str, Any]  # Any: JSON


class ProbeShape(Schema):
    """The cheapest experiment that would decide."""

    why: str
    command: str | None


class VictimShape(Schema):
    test: int
    nodeid: str
    type: str | None
    # `class` is a word of the language.
    name: str | None = Field(serialization_alias="class")
    candidates: list[CandidateShape]
    probe: ProbeShape | None
    missing: str | None
    evidence: dict[str, Any]  # Any: JSON


class UnstableShape(Schema):
    test: int
    nodeid: str
    name: str = Field(serialization_alias="class")
    since: datetime
    flake_rate: RateShape | None
    failed_runs: int
    affected_prs: int
    lost_s: float
    last_failed: datetime | None
    missing: str | None
    evidence: dict[str, Any]  # Any: JSON


class ProofShape(Schema):
    """A proof as it is stored."""

    id: str
    leaker: int
    victim: int
    result: str
    type: str
    how: str | None
    command: str | None
    runs: int | None
    failed: int | None
    commit: str | None
    environment: dict[str, str]
    created_at: datetime
