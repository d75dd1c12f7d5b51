"""The working processes of `serve`: which queue each one serves. A role is one line.

Guarantees: each queue is served by one role, each role holds a lock of its own, and
one of them has the beat.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """`looks` is the seconds between two looks for a message, where no server pushes."""

    name: str
    queue: str
    looks: float = 0.2
    beat: bool = False

    @property
    def lock(self) -> str:
        return f"{self.name}.lock"


# What makes a page fresh is the worker's; nothing of it waits behind long judging.
ROLES = (
    Role(name="worker", queue="ingest", looks=0.05, beat=True),
    Role(name="analyst", queue="analyse"),
    Role(name="notifier", queue="notify"),
)
BY_NAME = {role.name: role for role in ROLES}
QUEUES = tuple(role.queue for role in ROLES)
