"""Writing events: in the transaction that makes them true, and once.

Guarantees: an event exists if and only if what it tells was committed; a fact that is
found again, by a stage that runs again or by two at once, keeps its first event and so
its id.
"""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.utils import timezone

from notify.models import Event
from notify.signals import work_waits
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from notify.models import EventType

KEY = 200  # characters of a key and a subject


class OutsideTransaction(RuntimeError):
    """An event was to be written outside the transaction that makes it true."""


def write_event(
    project_id: int,
    kind: EventType,
    key: str,
    *,
    occurred_at: datetime,
    data: dict[str, Any] | None = None,  # Any: JSON
    path: str = "",
    subject: str = "",
    severity: str = "",
    owners: Sequence[str] = (),
    paths: Sequence[str] = (),
    muted: bool = False,
) -> None:
    """Note a fact that the open transaction makes true.

    `key` names the fact among those of its type in the project; `path` is that of its
    page below the project's. `severity`, `owners` and `paths` are what filters see.
    """
    if not connection.in_atomic_block:
        raise OutsideTransaction(f"{kind} {key}")
    now = timezone.now()
    about = {"severity": severity, "owners": list(owners), "paths": list(paths)}
    row = Event(
        project_id=project_id,
        type=kind,
        key=key[:KEY],
        public_id=new_id(),
        subject=subject[:KEY],
        occurred_at=occurred_at,
        created_at=now,
        path=path,
        data=clean(data or {}),
        about=clean({name: value for name, value in about.items() if value}),
        muted=muted,
        due_at=now,
    )
    Event.objects.bulk_create([row], ignore_conflicts=True)
    wake("events")


def wake(stage: str) -> None:
    """Let a stage look as soon as the open transaction is committed."""
    sending = partial(work_waits.send_robust, sender=Event, stage=stage)
    transaction.on_commit(sending, robust=True)


def new_id() -> str:
    return f"evt_{uuid.uuid4().hex}"


def clean(value: Any) -> Any:  # Any: JSON
    """Return the value with texts that both databases take."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(name)): clean(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [clean(one) for one in value]
    return value
