"""Who guesses passwords has to wait: ten failures in fifteen minutes are enough.

Counted by account and address together, in the database, so that all web processes
share the count and nobody can lock an account for its owner, who is elsewhere.
"""

from __future__ import annotations

import hashlib
import math
from datetime import timedelta
from typing import TYPE_CHECKING

from projects.models import FailedSignIn

if TYPE_CHECKING:
    from datetime import datetime

MOST = 10
WITHIN = timedelta(minutes=15)


def seconds_to_wait(account: str, address: str, *, now: datetime) -> int:
    """Return how long no password of this account is looked at from there, or 0."""
    recent = FailedSignIn.objects.filter(
        key=_key(account, address), at__gt=now - WITHIN
    )
    times = list(recent.order_by("-at").values_list("at", flat=True)[:MOST])
    if len(times) < MOST:
        return 0
    return math.ceil((times[-1] + WITHIN - now).total_seconds())


def note_failure(account: str, address: str, *, now: datetime) -> None:
    """Count a wrong password, and forget what is too old to count."""
    FailedSignIn.objects.filter(at__lte=now - WITHIN).delete()
    FailedSignIn.objects.create(key=_key(account, address), at=now)


def forget(account: str, address: str) -> None:
    """Begin anew: the password was right."""
    FailedSignIn.objects.filter(key=_key(account, address)).delete()


def _key(account: str, address: str) -> str:
    told = f"{account.strip().casefold()}\0{address}"
    return hashlib.sha256(told.encode(errors="replace")).hexdigest()
