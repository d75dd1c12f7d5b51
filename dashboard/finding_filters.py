"""The filters of the list of findings, as the query string has them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dashboard.filters import choice, text
from findings.filters import LIVE, STATES, Filters

if TYPE_CHECKING:
    from collections.abc import Mapping

ANY = "any"
SEVERITIES = ("P0", "P1", "P2", "P3")
SOURCES = {"review": "reviews", "effect": "effects"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for; `state` is "any" where every state is. `wrong` was left out."""

    filters: Filters
    state: str = LIVE
    pr: str = ""
    wrong: list[str] = field(default_factory=list)
    severities: tuple[str, ...] = SEVERITIES
    states: tuple[str, ...] = STATES

    @property
    def active(self) -> bool:
        return self.filters != Filters(state=LIVE)


def read_asked(query: Mapping[str, str]) -> Asked:
    """Read filters; a value that makes no sense is left out and said."""
    wrong = []
    pr = text(query, "pr").removeprefix("#")
    if pr and not (pr.isascii() and pr.isdigit() and 0 < len(pr) < 10):
        wrong.append(f"pull request “{pr}”")
        pr = ""
    state = choice(query, "state", (*STATES, ANY), default=LIVE)
    filters = Filters(
        severity=choice(query, "severity", SEVERITIES),
        state="" if state == ANY else state,
        pr=int(pr) if pr else None,
        path=text(query, "path"),
        owner=text(query, "owner"),
        overdue=True if text(query, "overdue") else None,
        source=choice(query, "source", SOURCES),
        q=text(query, "q"),
    )
    return Asked(filters, state, pr, wrong)
