"""The worker's sign of life, and whether the broker can be reached.

Guarantees: `beat` costs one small write where the broker keeps its own things (a file
in the data directory, or a key in Redis); nobody has to clean up after a dead worker.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import redis
from django.conf import settings

STALE = timedelta(seconds=90)
_FILE = "worker-heartbeat"
_KEY = "healthboard:worker-heartbeat"
_PATIENCE = 2.0  # seconds; a probe must answer before its caller gives up


class BrokerUnreachable(Exception):
    """Redis does not answer, or the data directory cannot be written."""


def beat(*, now: datetime) -> None:
    """Note that a worker is alive. Called by the worker, every few seconds."""
    if settings.REDIS_URL:
        with _redis() as server:
            server.set(_KEY, now.timestamp(), ex=STALE * 2)
        return
    path = settings.DATA_DIR / _FILE
    path.touch()
    os.utime(path, (now.timestamp(), now.timestamp()))


def last_beat() -> datetime | None:
    """Return when a worker last was alive, or None when none ever was."""
    if settings.REDIS_URL:
        return _last_in_redis()
    try:
        seconds = (settings.DATA_DIR / _FILE).stat().st_mtime
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


def _last_in_redis() -> datetime | None:
    try:
        with _redis() as server:
            stored = server.get(_KEY)
    except redis.RedisError:
        return None
    if not isinstance(stored, bytes):
        return None
    return datetime.fromtimestamp(float(stored), UTC)


def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE
    )
