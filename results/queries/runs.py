"""Reads of runs: lists, one run, its results, failures, comparison, timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from results.queries.shapes import (
        Comparison,
        FailureDetail,
        FailureGroup,
        Page,
        ProjectSummary,
        ResultRow,
        RunDetail,
        RunRow,
        Timeline,
    )


def list_runs(
    project_id: int,
    *,
    branch: str | None = None,
    commit: str | None = None,  # 7+ hex digits match by prefix, head_sha too
    pr: int | None = None,
    environment: str | None = None,  # "key=value,key=value": all of them
    since: datetime | None = None,
    until: datetime | None = None,
    outcome: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[RunRow]:
    raise NotImplementedError


def get_run(run_id: int) -> RunDetail | None:
    raise NotImplementedError


def list_results(
    run_id: int,
    *,
    outcome: str
    | None = None,  # an outcome, or "flaky", or "failing" (failed or error)
    q: str | None = None,  # part of the node id, any case
    attempt: int | None = None,  # what one attempt said; None: merged
    cursor: str | None = None,
    limit: int = 100,
) -> Page[ResultRow]:
    raise NotImplementedError


def failure_groups(run_id: int) -> list[FailureGroup]:
    raise NotImplementedError


def failure_detail(failure_id: int) -> FailureDetail | None:
    raise NotImplementedError


def compare(run_id: int, base_id: int) -> Comparison | None:
    raise NotImplementedError


def timeline(run_id: int, *, limit: int = 2_000) -> Timeline | None:
    raise NotImplementedError


def summaries_for(
    project_ids: Iterable[int], *, today: datetime | None = None
) -> dict[int, ProjectSummary]:
    raise NotImplementedError
