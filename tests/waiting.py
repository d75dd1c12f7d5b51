"""The one way in which a test waits for what another process does.

A test never sleeps for a time that should be enough: it asks for what it needs until
that is so, and fails by saying what did not come. `PATIENCE` is for a loaded machine;
a test that passes never spends it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 120.0
EVERY = 0.05  # so many look-ups cost the other process little


def until[T](
    question: Callable[[], T | None],
    *,
    what: str | Callable[[], str] = "it",
    seconds: float = PATIENCE,
    every: float = EVERY,
) -> T:
    """Return the first true answer; fail when there is none in time.

    `what` may be made when it fails, to say how far it came.
    """
    deadline = time.monotonic() + seconds
    while not (answer := question()):
        if time.monotonic() >= deadline:
            told = what if isinstance(what, str) else what()
            raise AssertionError(f"not in time: {told}")
        time.sleep(every)
    return answer


def goes_through(attempt: Callable[[], object], *refusals: type[Exception]) -> bool:
    """Tell whether an attempt goes through, for a server that is just starting."""
    try:
        attempt()
    except refusals:
        return False
    return True
