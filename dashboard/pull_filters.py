"""The filters of the list of pull requests, from the query string. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dashboard.filters import choice, text
from dashboard.pull_words import STATES, WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class PullFilters:
    """What is asked for; "" is any."""

    state: str = ""
    verdict: str = ""
    q: str = ""

    @property
    def active(self) -> bool:
        return self != PullFilters()

    def known(self) -> dict[str, Any]:  # Any: arguments of the list
        """Return the arguments of `pulls.queries.summaries`."""
        return {
            "state": self.state or None,
            "word": self.verdict or None,
            "q": self.q or None,
        }


def read_filters(query: Mapping[str, str]) -> PullFilters:
    """Read filters; what makes no sense is left out."""
    return PullFilters(
        state=choice(query, "state", STATES),
        verdict=choice(query, "verdict", WORDS),
        q=text(query, "q"),
    )
