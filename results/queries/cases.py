"""Reads of test cases: lists, one case, its history and failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from results.queries.shapes import CaseFailures, CaseRow, HistoryCell, Page


def list_cases(
    project_id: int,
    *,
    q: str | None = None,
    file: str | None = None,  # exact
    state: str | None = None,  # active or gone
    window: int = 30,  # days of the stats
    cursor: str | None = None,
    limit: int = 50,
) -> Page[CaseRow]:
    raise NotImplementedError


def worst_cases(
    project_id: int, *, by: str, window: int = 30, limit: int = 10
) -> list[CaseRow]:
    """`by`: fail_rate, flake_rate, total_s, failed_runs; only what is above zero."""
    raise NotImplementedError


def get_case(case_id: int, *, window: int = 30) -> CaseRow | None:
    raise NotImplementedError


def find_case(project_id: int, text: str) -> CaseRow | None:
    """By exact node id, else unique suffix, else id; raise AmbiguousCaseError."""
    raise NotImplementedError


def history(
    case_id: int, *, limit: int = 100, before: str | None = None
) -> Page[HistoryCell]:
    raise NotImplementedError


def failures(case_id: int, *, limit: int = 20) -> list[CaseFailures]:
    raise NotImplementedError
