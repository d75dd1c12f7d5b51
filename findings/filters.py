"""Which findings are asked for: one value for the API, the pages and the exports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db.models import Q

from formats.reviews.life import State

if TYPE_CHECKING:
    from datetime import datetime

LIVE = "live"  # open or reopened, in one word
STATES = (LIVE, *(state.value for state in State))
NOBODY = "-"  # as an owner: those that nobody owns


@dataclass(frozen=True, slots=True)
class Filters:
    """Empty or None: whatever it is."""

    severity: str = ""
    state: str = ""
    pr: int | None = None
    path: str = ""  # part of it, in any case
    owner: str = ""
    overdue: bool | None = None
    source: str = ""
    q: str = ""  # part of the title, in any case
    run: int | None = None

    def with_state(self, state: str) -> Filters:
        return replace(self, state=state)

    def condition(self, *, now: datetime) -> Q:
        """Return the condition on findings."""
        found = Q()
        for name in ("severity", "source", "pr"):
            value = getattr(self, name)
            found &= Q(**{name: value}) if value else Q()
        if self.run is not None:
            found &= Q(run_id=self.run)
        if self.state:
            found &= Q(state__in=_states(self.state))
        if self.path:
            found &= Q(path__icontains=self.path)
        if self.q:
            found &= Q(title__icontains=self.q)
        if self.owner:
            found &= Q(owner="" if self.owner == NOBODY else self.owner)
        if self.overdue is not None:
            late = Q(due__lt=now, state__in=_states(LIVE))
            found &= late if self.overdue else ~late
        return found


def _states(state: str) -> tuple[str, ...]:
    return (State.OPEN.value, State.REOPENED.value) if state == LIVE else (state,)
