"""Tables as CSV for a spreadsheet.

Guarantees: RFC 4180 with a heading; nothing is an empty cell; no cell is taken for a
formula by a spreadsheet.
"""

from __future__ import annotations

import csv
import io
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# A spreadsheet runs what begins with one of these.
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def write_csv(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV below a heading."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    for row in rows:
        writer.writerow(cell(value) for value in row)
    return out.getvalue()


def cell(value: object) -> str:
    """Write one value: times and days as ISO 8601, lists with commas."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)  # a negative number is no formula
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        text = ", ".join(str(each) for each in value)
    else:
        text = str(value)
    return f"'{text}" if text.startswith(_DANGEROUS) else text
