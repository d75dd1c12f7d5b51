"""How many uploads a project may send: a token bucket a project.

Guarantees: a project gets HEALTHBOARD_RATE a second on average and HEALTHBOARD_BURST at
once; a rate of 0 is no limit. With REDIS_URL all web processes share the buckets; without it each has its own.
A store that cannot be reached lets everything through: the inbox matters more.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from functools import cache
from typing import Any

import redis
from django.conf import settings

log = logging.getLogger(__name__)

_KEY = "healthboard:rate:{}"
_TIMEOUT_S = 0.5

# One step for all: refill by the time gone by, take one if there is one. The clock is
# the store's own. Answers the seconds to wait, as text, since Lua's numbers are cut.
_TAKE = """
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local kept = redis.call('HMGET', KEYS[1], 'level', 'at')
local level = math.min(burst, (tonumber(kept[1]) or burst)
    + math.max(0, now - (tonumber(kept[2]) or now)) * rate)
local wait = 0
if level >= 1 then level = level - 1 else wait = (1 - level) / rate end
redis.call('HSET', KEYS[1], 'level', tostring(level), 'at', string.format('%.6f', now))
redis.call('EXPIRE', KEYS[1], math.ceil(burst / rate) + 1)
return tostring(wait)
"""


def take(project_id: int) -> int:
    """Take one upload from a project's bucket; return the seconds to wait, or 0."""
    if not settings.HEALTHBOARD_RATE:
        return 0
    if settings.REDIS_URL:
        try:
            wait = _shared_wait(project_id)
        except redis.RedisError as error:
            log.warning("the rate of project %s is not checked: %s", project_id, error)
            wait = 0.0
    else:
        wait = _own.wait(project_id, now=time.monotonic())
    return math.ceil(wait)


def forget() -> None:
    """Fill all of this process's buckets."""
    _own.clear()


class Buckets:
    """The buckets of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._levels: dict[int, tuple[float, float]] = {}

    def wait(self, key: int, *, now: float) -> float:
        """Take one; return the seconds to wait if there is none."""
        rate, burst = settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST
        with self._lock:
            level, at = self._levels.get(key, (float(burst), now))
            level = min(float(burst), level + max(0.0, now - at) * rate)
            if level >= 1:
                self._levels[key] = (level - 1, now)
                return 0.0
            self._levels[key] = (level, now)
            return (1 - level) / rate

    def clear(self) -> None:
        with self._lock:
            self._levels.clear()


_own = Buckets()


@cache
def _connect(url: str) -> tuple[Any, Any]:  # Any: redis-py types its scripts loosely
    client = redis.Redis.from_url(
        url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S
    )
    return client, client.register_script(_TAKE)


def _shared_wait(project_id: int) -> float:
    _, script = _connect(settings.REDIS_URL)
    answer = script(
        keys=[_KEY.format(project_id)],
        args=[settings.HEALTHBOARD_RATE, settings.HEALTHBOARD_BURST],
    )
    return float(answer)
