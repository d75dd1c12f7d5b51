"""Findings as files: CSV for a spreadsheet, SARIF for a code-scanning page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.tables import write_csv

if TYPE_CHECKING:
    from collections.abc import Iterable

    from findings.shapes import FindingRow

COLUMNS = (
    "severity",
    "state",
    "path",
    "line",
    "title",
    "pr",
    "owner",
    "due",
    "overdue",
    "reviewers",
    "seen_count",
    "first_seen",
    "last_seen",
    "cluster",
    "rule",
    "reason",
    "rank_reason",
)


def as_csv(rows: Iterable[FindingRow]) -> str:
    """Return findings as CSV with a heading; no cell is a formula."""
    return write_csv(
        COLUMNS, ([getattr(row, name) for name in COLUMNS] for row in rows)
    )
