"""The answers of the read API, field by field, as the contract promises them.

A field that cannot have a value is null or an empty list, never missing. Times are
UTC, durations seconds, shares 0..1.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from ninja import Field, Schema


class Listing[T](Schema):
    """A page of a list; `next` is the cursor of the page after it, null at the end."""

    items: list[T]
    next: str | None


class ErrorField(Schema):
    field: str
    message: str


class ProblemShape(Schema):
    """Every error: RFC 9457, with the wrong fields by name."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[ErrorField] = []


# Projects


class ProjectShape(Schema):
    project: str = Field(description="owner/name")
    title: str
    public: bool
    default_branch: str
    zone: str
    url: str


class StatusShape(Schema):
    pending: int = Field(description="0 when all pages of the project are up to date")
    stages: dict[str, int]
    last_processed_at: datetime | None


# Uploads


class FileProblem(Schema):
    """What is wrong with, or was repaired in, one file of an upload."""

    message: str
    file: str | None
    line: int | None
    column: int | None
    path: str | None


class FileShape(Schema):
    n: int
    kind: str
    name: str
    size: int
    sha256: str
    url: str


class RouteShape(Schema):
    """A route of the settings; neither its path nor its secret is told."""

    name: str = Field(description="empty where nobody named it")
    kind: str = Field(description="gate, review, effects, github or gitlab")


class UploadShape(Schema):
    id: int
    project: str
    state: str
    kind: list[str]
    error: FileProblem | None = Field(description="the first of the errors")
    errors: list[FileProblem]
    warnings: list[FileProblem]
    run: int | None = Field(description="id of the run that the upload speaks of")
    route: RouteShape | None = Field(description="null where it was posted by CI")
    received_at: datetime
    processed_at: datetime | None
    attempts: int = Field(description="how often processing was begun")
    retry_at: datetime | None
    files: list[FileShape]
    url: str


# Runs


class CountsShape(Schema):
    tests: int
    passed: int
    failed: int
    errors: int
    skipped: int
    xfailed: int
    xpassed: int
    flaky: int


class ReportedShape(Schema):
    """Elements as the report has them."""

    tests: int
    passed: int
    failed: int
    errors: int
    skipped: int


class AttemptShape(Schema):
    attempt: int
    shards: int
    counts: CountsShape


class ShardShape(Schema):
    index: int
    count: int
    tests: int
    duration_s: float
    state: str = Field(
        description="complete, incomplete, damaged, missing or failed_outside"
    )
    job: str
    attempt: int
    wall_s: float | None
    exit_code: int | None
    uploads: list[int]


class CompletenessShape(Schema):
    expected_shards: int
    received: int
    missing: list[int] = Field(description="indexes of the shards that did not come")
    duplicated_tests: list[str] = Field(
        description="node ids that ran in two shards, the first 100"
    )


class ProblemOfRun(Schema):
    kind: str
    message: str
    upload: int | None


class RunSummary(Schema):
    """A run in a list."""

    id: int
    run: str = Field(description="the name that the uploads gave it")
    environment: dict[str, str]
    branch: str | None
    commit: str | None
    head_sha: str | None
    pr: int | None
    outcome: str = Field(
        description="passed, failed, incomplete, damaged or no_results"
    )
    failed_outside: bool = Field(
        description="the command failed, but no test in its report did"
    )
    started_at: datetime
    counts: CountsShape
    duration_s: float
    wall_s: float | None
    order: str = Field(description="traced, assumed or unknown")
    excluded: bool = Field(description="left out of statistics by a person")
    ci_url: str | None
    url: str


class RunShape(RunSummary):
    project: str
    attempts: list[AttemptShape]
    base_sha: str | None
    base_branch: str | None
    merge_base: str | None
    committed_at: datetime | None
    reported: ReportedShape
    shards: list[ShardShape]
    completeness: CompletenessShape
    problems: list[ProblemOfRun]
    uploads: list[int]


class CauseShape(Schema):
    """Why a failing test failed: a leaker ran before it, or its setter did not."""

    leaker: int | None = Field(description="its number, where it is one")
    test: int
    nodeid: str
    type: str = Field(description="victim or brittle: what the failing test is")
    status: str
    posterior: float
    ran_before: bool | None = Field(description="null: the order is not known")


class ResultShape(Schema):
    test: int
    nodeid: str
    outcome: str
    attempts: int
    duration_s: float | None
    worker: str | None
    position: int | None = Field(description="from 0, within its process")
    message: str | None
    failure_group: str | None
    cause: str | None = Field(
        description="the node id of the proven or confirmed leaker that broke it"
    )
    suspect: CauseShape | None = Field(description="the best cause, also unproven")
    flaky: bool
    leaking: bool = Field(
        description="by the word of a gate that it did not opt out of"
    )
    conflict: bool
    duplicate: bool


# Tests


class RateShape(Schema):
    """A share as the mean of its Beta posterior with the central 95 % interval."""

    mean: float
    low: float
    high: float


class StatsShape(Schema):
    runs: int
    fail_rate: float | None = Field(
        description="(failed + errors) / (runs - skipped - xfailed)"
    )
    flake_rate: RateShape | None
    p50_s: float | None
    p95_s: float | None


class DecisionsShape(Schema):
    """What people decided of a test, where it holds now."""

    quarantined_until: datetime | None = Field(
        description="until then its failures fail no build"
    )
    muted: bool = Field(description="nobody is told of its failures")
    muted_until: datetime | None
    muted_failures: int | None = Field(
        description="the mute ends when it failed more often than this"
    )
    accepted_reason: str | None
    fix_by: date | None
    ticket: str | None
    fixed_at: datetime | None = Field(description="from when on it is counted anew")
    fixed_commit: str | None


class CaseShape(Schema):
    id: int
    nodeid: str
    file: str | None
    line: int | None
    suite: str | None
    name: str
    params: str | None
    owner: str | None
    state: str = Field(
        description="by decision quarantined, muted, accepted or fixed; else active, "
        "or gone: not seen for 30 days"
    )
    decisions: DecisionsShape
    first_seen: datetime
    last_seen: datetime
    stats: StatsShape
    url: str


class HistoryShape(Schema):
    """A test's result in one run."""

    run: int
    run_name: str
    started_at: datetime
    outcome: str
    flaky: bool
    conflict: bool
    attempts: int
    duration_s: float | None
    branch: str | None
    commit: str | None
    pr: int | None
    environment: dict[str, str]
    excluded: bool
    message: str | None
    failure_group: str | None


# Leaks


class LeakDetailShape(Schema):
    """An entry that a guard found in a control plane."""

    path: str
    reason: str
    agent_session: str | None
    prompt: str | None


class LeakShape(Schema):
    """One leak as a gate told it."""

    test: int | None = Field(description="null at session level")
    nodeid: str | None
    kind: str = Field(description="family.change, such as env.set")
    gate: str | None
    items: list[str] = Field(description="the first of them")
    item_count: int
    phase: str | None
    worker: str | None
    position: int | None = Field(description="from 0, within its process")
    enforced: bool = Field(description="false: the gate only reported it")
    opted_out: bool = Field(description="the test carries the opt-out marker")
    message: str | None
    recipe: str | None
    detail: LeakDetailShape | None
    run: int
    commit: str | None


# Trends


class PointShape(Schema):
    date: date
    value: float | None = Field(description="null where nothing was measured")
    of: int = Field(description="the value's denominator")
    runs: int
    low: float | None
    high: float | None


class TrendShape(Schema):
    metric: str
    window: str
    by: Literal["day"]
    branch_class: str | None
    points: list[PointShape] = Field(description="every day, oldest first")
    runs: int
    excluded_runs: int
