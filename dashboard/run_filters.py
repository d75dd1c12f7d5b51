"""The filters of the list of runs, as the query string has them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from dashboard.filters import text

if TYPE_CHECKING:
    from collections.abc import Mapping

OUTCOMES = ("passed", "failed", "incomplete", "damaged", "no_results")
_COMMIT = re.compile(r"[0-9A-Za-z._-]{1,64}")
_PAIR = re.compile(r"[^=,]+(=[^,]*)?")  # a value alone fits as well


@dataclass(frozen=True, slots=True)
class RunFilters:
    """What is asked for, as text for the form. `wrong` says what was left out."""

    branch: str = ""
    commit: str = ""
    pr: str = ""
    environment: str = ""
    outcome: str = ""
    since: str = ""
    until: str = ""
    zone: str = "UTC"
    wrong: list[str] = field(default_factory=list)
    outcomes: tuple[str, ...] = OUTCOMES

    @property
    def active(self) -> bool:
        return bool(self.known())

    def known(self) -> dict[str, Any]:  # Any: arguments of `list_runs`
        """Return the filters that make sense, as `list_runs` takes them."""
        found: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("branch", "commit", "environment", "outcome")
            if getattr(self, name)
        }
        if self.pr:
            found["pr"] = int(self.pr)
        if self.since:
            found["since"] = self._midnight(self.since)
        if self.until:
            found["until"] = self._midnight(self.until, after=1)
        return found

    def _midnight(self, day: str, *, after: int = 0) -> datetime:
        wanted = date.fromisoformat(day) + timedelta(days=after)
        return datetime.combine(wanted, time(), ZoneInfo(self.zone)).astimezone(UTC)


def read_filters(query: Mapping[str, str], *, zone: str) -> RunFilters:
    """Read filters; a value that makes no sense is left out and said."""
    checks = {
        "commit": lambda value: _COMMIT.fullmatch(value),
        "pr": lambda value: value.isascii() and value.isdigit() and len(value) < 10,
        "environment": lambda value: all(
            _PAIR.fullmatch(pair) for pair in value.split(",")
        ),
        "outcome": lambda value: value in OUTCOMES,
        "since": _is_day,
        "until": _is_day,
    }
    values: dict[str, Any] = {"branch": text(query, "branch")}  # Any: see RunFilters
    wrong = []
    for name, makes_sense in checks.items():
        value = text(query, name)
        if name == "pr":
            value = value.removeprefix("#")
        if value and not makes_sense(value):
            wrong.append(f"{name} “{value}”")
            value = ""
        values[name] = value
    return RunFilters(**values, zone=zone, wrong=wrong)


def _is_day(value: str) -> bool:
    try:
        found = date.fromisoformat(value)
    except ValueError:
        return False
    return date(1971, 1, 1) <= found <= date(9990, 1, 1)
