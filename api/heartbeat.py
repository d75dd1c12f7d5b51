"""The sign of life of whoever serves a queue, and whether the broker can be reached.

Guarantees: `beat` costs one small write where the broker keeps its own things (a file
in the data directory, or a key in Redis); nobody has to clean up after a dead worker.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import redis
from django.conf import settings

STALE = timedelta(seconds=90)
_FILE = "heartbeat"
_KEY = "healthboard:heartbeat"
_PATIENCE = 2.0  # seconds; a probe must answer before its caller gives up


class BrokerUnreachable(Exception):
    """Redis does not answer, or the data directory cannot be written."""


def beat(queue: str, *, now: datetime) -> None:
    """Note that a queue is served. Called by its worker, every few seconds."""
    if settings.REDIS_URL:
        with _redis() as server:
            server.set(f"{_KEY}:{queue}", now.timestamp(), ex=STALE * 2)
        return
    path = settings.DATA_DIR / f"{_FILE}-{queue}"
    path.touch()
    os.utime(path, (now.timestamp(), now.timestamp()))


def last_beat(queue: str) -> datetime | None:
    """Return when a queue was last known to be served, or None when it never was."""
    if settings.REDIS_URL:
        return _last_in_redis(f"{_KEY}:{queue}")
    try:
        seconds = (settings.DATA_DIR / f"{_FILE}-{queue}").stat().st_mtime
    except FileNotFoundError:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def check_broker() -> None:
    """Raise BrokerUnreachable with the reason when no message can be passed on."""
    if not settings.REDIS_URL:
        if not os.access(settings.DATA_DIR, os.W_OK):
            raise BrokerUnreachable("the data directory cannot be written")
        return
    try:
        with _redis() as server:
            server.ping()
    except redis.RedisError as error:
        raise BrokerUnreachable(f"{type(error).__name__}") from error


def _last_in_redis(key: str) -> datetime | None:
    try:
        with _redis() as server:
            stored = server.get(key)
    except redis.RedisError:
        return None
    if not isinstance(stored, bytes):
        return None
    return datetime.fromtimestamp(float(stored), UTC)


def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE
    )
