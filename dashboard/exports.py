"""Findings as files: CSV for a spreadsheet, SARIF for a code-scanning page."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

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
# A spreadsheet runs what begins with one of these.
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def as_csv(rows: Iterable[FindingRow]) -> str:
    """Return findings as CSV with a heading; no cell is a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(_cell(getattr(row, name)) for name in COLUMNS)
    return out.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        text = ", ".join(str(each) for each in value)
    else:
        text = str(value)
    return f"'{text}" if text.startswith(_DANGEROUS) else text
