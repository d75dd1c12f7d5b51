"""Locks that the kernel frees when their holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Held until the process ends, so never closed.
_held: list[int] = []


def take(path: Path) -> bool:
    """Take the lock if it is free; keep it until this process ends."""
    return _take(path, fcntl.LOCK_EX | fcntl.LOCK_NB)


def wait_for(path: Path) -> None:
    _take(path, fcntl.LOCK_EX)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Wait for the lock, and hold it for the block."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def is_free(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def holder(path: Path) -> str:
    """The process that took the lock last, for a message."""
    return path.read_text().strip() if path.exists() else ""


def _take(path: Path, how: int) -> bool:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        os.close(descriptor)
        return False
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    _held.append(descriptor)
    return True
