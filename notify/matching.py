"""Which events an endpoint hears of, and when: pure functions of plain values.

Guarantees: an empty filter lets everything through. A filter of severities limits what
has a severity; one of owners or paths lets through only what names one that matches.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEVERITIES = ("P0", "P1", "P2", "P3")
# Heard of only by those who name it, not by those who take everything.
ASKED_FOR = frozenset({"endpoint.disabled"})
_MOST = 50  # values of one filter


class BadFilters(ValueError):
    """The filters cannot be understood; the message says what is right."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """Hours in which nothing is sent; they may go over midnight."""

    start: time
    end: time

    def until(self, moment: datetime, zone: str) -> datetime:
        """Return the moment, or the end of the quiet hours that it lies in."""
        local = moment.astimezone(_zone(zone))
        ends = datetime.combine(local.date(), self.end, local.tzinfo)
        if self.start <= self.end:
            inside = self.start <= local.time() < self.end
        else:
            inside = local.time() >= self.start or local.time() < self.end
            if local.time() >= self.start:
                ends = datetime.combine(
                    local.date() + timedelta(days=1), self.end, local.tzinfo
                )
        return ends.astimezone(moment.tzinfo) if inside else moment


@dataclass(frozen=True, slots=True)
class Filters:
    severity: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    quiet: Quiet | None = None


def read_filters(stored: object) -> Filters:
    """Return the filters that JSON says: `severity`, `owner`, `path`, `quiet`."""
    if not isinstance(stored, dict):
        raise BadFilters("must be an object")
    known = {"severity", "owner", "path", "quiet"}
    if strange := sorted(set(stored) - known):
        raise BadFilters(
            f"{strange[0]} is no filter; there are {', '.join(sorted(known))}"
        )
    severities = _texts(stored, "severity")
    if wrong := [one for one in severities if one not in SEVERITIES]:
        raise BadFilters(f"severity: {wrong[0]!r} is none of {', '.join(SEVERITIES)}")
    return Filters(
        severities,
        _texts(stored, "owner"),
        _texts(stored, "path"),
        _quiet(stored.get("quiet")),
    )


def matches(
    filters: Filters,
    *,
    events: Sequence[str],
    type: str,
    about: Mapping[str, Any],  # Any: JSON
) -> bool:
    """Tell whether an endpoint with these filters hears of an event."""
    if type not in events and (events or type in ASKED_FOR):
        return False
    severity = about.get("severity", "")
    if filters.severity and severity and severity not in filters.severity:
        return False
    if filters.owner and not set(filters.owner) & set(about.get("owners", ())):
        return False
    return not filters.path or any(
        _on(path, pattern)
        for path in about.get("paths", ())
        for pattern in filters.path
    )


def _on(path: str, pattern: str) -> bool:
    """A pattern is a path, a folder, or has * and ? in it."""
    folder = pattern.rstrip("/") + "/"
    return path == pattern or path.startswith(folder) or fnmatchcase(path, pattern)


def _texts(stored: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = stored.get(name, [])
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or len(listed) > _MOST:
        raise BadFilters(f"{name}: must be a list of at most {_MOST} texts")
    if not all(isinstance(one, str) and 0 < len(one) <= 300 for one in listed):
        raise BadFilters(f"{name}: must be a list of texts of 1 to 300 characters")
    return tuple(listed)


def _quiet(value: object) -> Quiet | None:
    if value is None or value == {}:
        return None
    if not isinstance(value, dict) or set(value) != {"from", "to"}:
        raise BadFilters('quiet: must be {"from": "22:00", "to": "07:00"}')
    try:
        start, end = (time.fromisoformat(str(value[name])) for name in ("from", "to"))
    except ValueError:
        raise BadFilters("quiet: from and to are times such as 22:00") from None
    if start.tzinfo or end.tzinfo or start == end:
        raise BadFilters("quiet: from and to are two different times of the project")
    return Quiet(start, end)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
