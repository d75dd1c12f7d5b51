"""Speaking to a host's API over the guarded wire.

Guarantees: every answer is read as JSON or becomes an exception with a name; limits of
both kinds (so many an hour, and the secondary ones) become `Limited`, with the time to
wait for; a token is in no message.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from notify.wire import Request, send

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notify.wire import Gate, Outcome

LEAST_PAUSE_S = 60  # what GitHub asks for where a secondary limit names no time
LONGEST_PAUSE_S = 3600.0
PER_PAGE = 100
MOST_PAGES = 30
# Any, below: JSON.


class HostError(Exception):
    """The host did not do what was asked. `status` None: it did not answer."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Limited(HostError):
    """Too much was asked; nothing more may be before `wait_s` are over."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"the host asks to wait {wait_s:.0f} s", 429)
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class Api:
    root: str
    gate: Gate
    headers: Mapping[str, str] = field(default_factory=dict)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Ask; return the JSON of a 2xx answer, or raise."""
        raw = b"" if body is None else json.dumps(body).encode()
        headers = {
            "User-Agent": "Healthboard",
            "Accept-Encoding": "identity",
            **self.headers,
            **({"Content-Type": "application/json"} if raw else {}),
        }
        asked = Request(self.root.rstrip("/") + path, raw, headers, method)
        return _read(send(asked, self.gate))

    def pages(self, path: str) -> Any:
        """Yield the items of a list, page after page."""
        joint = "&" if "?" in path else "?"
        for page in range(1, MOST_PAGES + 1):
            items = self.call("GET", f"{path}{joint}per_page={PER_PAGE}&page={page}")
            if not isinstance(items, list):
                raise HostError("the host answered no list")
            yield from items
            if len(items) < PER_PAGE:
                return


def _read(outcome: Outcome) -> Any:
    if outcome.status is None:
        raise HostError(outcome.error)
    wait = _asked_to_wait(outcome)
    if wait is not None:
        raise Limited(min(wait, LONGEST_PAUSE_S))
    if not 200 <= outcome.status < 300:
        raise HostError(f"{outcome.status}: {_message(outcome)}", outcome.status)
    if not outcome.body:
        return None
    try:
        return json.loads(outcome.body)
    except ValueError:
        raise HostError("the host answered no JSON", outcome.status) from None


def _asked_to_wait(outcome: Outcome) -> float | None:
    """Return the seconds to wait where this is a limit, of either kind."""
    if outcome.status not in (403, 429):
        return None
    after = outcome.headers.get("retry-after", "")
    if after.isascii() and after.isdigit():
        return float(after)
    spent = outcome.headers.get("x-ratelimit-remaining", "") == "0"
    reset = outcome.headers.get("x-ratelimit-reset") or outcome.headers.get(
        "ratelimit-reset", ""
    )
    if (spent or outcome.status == 429) and reset.isascii() and reset.isdigit():
        return max(float(reset) - time.time(), 1.0)
    secondary = b"secondary rate limit" in outcome.body.lower()
    return LEAST_PAUSE_S if secondary or spent or outcome.status == 429 else None


def _message(outcome: Outcome) -> str:
    try:
        said = json.loads(outcome.body)
    except ValueError:
        return "no reason was given"
    told = said.get("message", said.get("error", "")) if isinstance(said, dict) else ""
    return str(told)[:200] or "no reason was given"
