"""Who works on an upload, and whether that process still lives.

Guarantees: a process that was killed is known to be dead at once, by every process that
shares its data directory; of a process elsewhere nothing is claimed, its lease runs out.

Each working process holds a lock on a file of its own for as long as it lives. The
kernel lets go of it, however the process ends; a number that was given out again, as
process ids are, cannot be taken for the old owner.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import threading
import uuid
from typing import TYPE_CHECKING, BinaryIO

from django.conf import settings

from ingest.signals import owner_died

if TYPE_CHECKING:
    from pathlib import Path


class _Process:
    """This process as an owner of leases; made at its first claim, anew after a fork."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._pid = 0
        self._owner = ""
        self._file: BinaryIO | None = None
        self._numbers = itertools.count(1)

    def lease(self) -> str:
        with self._guard:
            if self._pid != os.getpid():
                self._begin()
            return f"{self._owner}/{next(self._numbers)}"

    def forget(self) -> None:
        """Let go of a lock that was inherited, so that it dies with its process."""
        self._guard = threading.Lock()
        self._pid = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        owner = uuid.uuid4().hex
        path = _path(owner)
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("wb")
        # Waits for one who just asks whether this owner is dead.
        fcntl.flock(file, fcntl.LOCK_EX)
        self._pid, self._owner, self._file = os.getpid(), owner, file


_process = _Process()
os.register_at_fork(after_in_child=_process.forget)


def new_lease() -> str:
    """Return a lease that no other claim ever had: its owner, and a number."""
    return _process.lease()


def owner_of(lease: str) -> str:
    return lease.partition("/")[0]


def is_dead(owner: str) -> bool:
    """Tell whether an owner on this data directory has ended."""
    try:
        file = _path(owner).open("rb")
    except FileNotFoundError:
        return False  # it works elsewhere, or was buried already
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def bury(owner: str) -> None:
    """Forget a dead owner, of whom no lease is left once the stages above know."""
    owner_died.send(None, owner=owner)
    _path(owner).unlink(missing_ok=True)


def owners() -> list[str]:
    """Return all owners, dead and alive, that this data directory knows."""
    directory = _path("any").parent
    return [path.name for path in directory.iterdir()] if directory.is_dir() else []


def _path(owner: str) -> Path:
    data: Path = settings.DATA_DIR
    return data / "workers" / owner
