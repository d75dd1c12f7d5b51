"""What an answer means for a delivery and its endpoint: a pure function.

Guarantees: ten tries over three days, each pause a little longer than said so that
endpoints do not come back in step; what the receiver asks for (`Retry-After`) is waited
for; 410 ends an endpoint, and so do five days without one success.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

PAUSES = (
    timedelta(0),
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
JITTER = 0.1
LONGEST_ASKED = timedelta(hours=24)
COOLING = timedelta(minutes=5)  # an endpoint that is down is asked no more often
GIVEN_UP = timedelta(days=5)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `status` None: nothing did, and `error` says why."""

    status: int | None
    error: str = ""
    retry_after: str = ""

    @property
    def accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_down(self) -> bool:
        """The endpoint as such does not work; another delivery would fare no better."""
        return self.status is None or self.status >= 500 or self.status == 429

    @property
    def words(self) -> str:
        if self.error or self.status is None:
            return self.error or "no answer"
        if 300 <= self.status < 400:
            return f"answered {self.status}; redirects are not followed"
        return f"answered {self.status}"


@dataclass(frozen=True, slots=True)
class Consequence:
    """`due_at` None: no further try. `held_until`: for the endpoint as a whole."""

    due_at: datetime | None = None
    held_until: datetime | None = None
    disable: str = ""


def judge(
    answer: Answer,
    *,
    tries: int,
    failing_since: datetime | None,
    now: datetime,
    rng: Random,
) -> Consequence:
    """Say what follows from a failure; `tries` counts those made, this one included."""
    if answer.status == HTTPStatus.GONE:
        return Consequence(disable="it answered 410: gone")
    if failing_since is not None and now - failing_since >= GIVEN_UP:
        return Consequence(disable="it has failed for 5 days")
    asked = read_retry_after(answer.retry_after, now=now)
    pause = pause_after(tries, rng=rng)
    if pause is None:
        return Consequence(held_until=asked)
    due = max(now + pause, asked or now)
    held = None
    if asked is not None or answer.is_down:
        held = asked or min(due, now + COOLING)
    return Consequence(due_at=due, held_until=held)


def pause_after(tries: int, *, rng: Random) -> timedelta | None:
    """Return the pause before the next try, or None after the last."""
    if tries >= len(PAUSES):
        return None
    return PAUSES[tries] * (1 + JITTER * rng.random())


def read_retry_after(value: str, *, now: datetime) -> datetime | None:
    """Read seconds or an HTTP date; more than a day is a day, nonsense is nothing."""
    value = value.strip()
    if value.isascii() and value.isdigit() and len(value) < 10:
        asked = now + timedelta(seconds=int(value))
    else:
        try:
            asked = parsedate_to_datetime(value)
        except (ValueError, TypeError, IndexError):
            return None
        if asked.tzinfo is None:
            asked = asked.replace(tzinfo=UTC)
    return min(max(asked, now), now + LONGEST_ASKED)
