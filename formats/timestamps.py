"""Reading the start times that test tools write.

Guarantees: a stamp is an aware time in UTC, a naive time where the text names no zone
(nobody guesses one), or `None`; no text raises, and years outside 1990-2099 (clocks
that were never set) count as none.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_YEARS = range(1990, 2100)
_EPOCH = re.compile(r"[0-9]{9,10}(?:\.[0-9]+)?\Z|[0-9]{13}\Z|[0-9]{16}\Z")
_FORMATS = (
    "%Y %m %d %H:%M:%S",
    "%Y/%m/%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S %z",
    "%Y-%m-%d %H:%M:%S %z",
    "%Y-%m-%d %H:%M:%S %Z",
    "%a %b %d %H:%M:%S %Y",
    "%d.%m.%Y %H:%M:%S",
    "%Y%m%d%H%M%S",
)
_LONGEST = 64


def stamp(text: str) -> datetime | None:
    """Read a `timestamp` attribute: aware in UTC, naive without a zone, or `None`."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    moment = _read(text)
    if moment is None or moment.year not in _YEARS:
        return None
    return moment if moment.tzinfo is None else moment.astimezone(UTC)


def _read(text: str) -> datetime | None:
    if _EPOCH.match(text):
        return _from_epoch(text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    for pattern in _FORMATS:
        try:
            moment = datetime.strptime(text, pattern)  # noqa: DTZ007 - zone unknown
        except ValueError:
            continue
        # %Z checks the name of the zone but does not apply it.
        return moment.replace(tzinfo=UTC) if text.endswith((" UTC", " GMT")) else moment
    try:
        return parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None


def _from_epoch(text: str) -> datetime | None:
    scale = {13: 1_000, 16: 1_000_000}.get(len(text.partition(".")[0]), 1)
    try:
        return datetime.fromtimestamp(float(text) / scale, UTC)
    except (ValueError, OverflowError, OSError):
        return None
