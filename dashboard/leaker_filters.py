"""The filters of the lists of leakers and unstable tests, from the query string. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dashboard.filters import choice, text
from dashboard.leak_words import SOURCES, STATES

if TYPE_CHECKING:
    from collections.abc import Mapping

ANY = "any"
OPEN = "open"
NOBODY = "-"


@dataclass(frozen=True, slots=True)
class LeakerFilters:
    """What is asked for; `state` "any" is all but suspicions, `owner` "-" nobody."""

    state: str = OPEN
    kind: str = ""
    source: str = ""
    owner: str = ""
    q: str = ""

    @property
    def active(self) -> bool:
        return self != LeakerFilters()

    def known(self) -> dict[str, Any]:  # Any: arguments of the list
        """Return the arguments of `leaks.queries.list_leakers`."""
        owner = "" if self.owner == NOBODY else self.owner or None
        return {
            "state": None if self.state == ANY else self.state,
            "kind": self.kind or None,
            "source": self.source or None,
            "owner": owner,
            "q": self.q or None,
        }


def read_filters(query: Mapping[str, str]) -> LeakerFilters:
    """Read filters; what makes no sense is left out."""
    return LeakerFilters(
        state=choice(query, "state", (*STATES, ANY), default=OPEN),
        kind=text(query, "kind"),
        source=choice(query, "source", SOURCES),
        owner=text(query, "owner"),
        q=text(query, "q"),
    )
