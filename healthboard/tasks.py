"""Waking the stages. A lost message costs seconds, since a beat looks anyway."""

from __future__ import annotations

import logging
import time
from typing import Any

from celery import shared_task, signals
from django.utils import timezone
from kombu.exceptions import OperationalError

from api import heartbeat
from healthboard import schema
from healthboard.celery import app
from healthboard.pipeline import BY_NAME, STAGES, drain
from healthboard.roles import QUEUES

log = logging.getLogger(__name__)

AT_ONCE = 10  # items a look, so that stages take turns and a stop is soon obeyed
LOOK_SECONDS = 5.0
LIFE_SECONDS = 15.0
QUIET_SECONDS = 5.0  # after a broker that did not answer
EXPIRES_SECONDS = 60

_quiet_until = 0.0


@shared_task(name="advance", ignore_result=True)  # type: ignore[untyped-decorator]
def advance(name: str) -> None:
    """Work on what waits for a stage; look again, and let the next stage look."""
    if not schema.is_current():
        return
    done = drain(BY_NAME[name], limit=AT_ONCE)
    for follower in BY_NAME[name].then if done else ():
        wake(follower)
    if done == AT_ONCE:
        wake(name)


@shared_task(name="alive", ignore_result=True)  # type: ignore[untyped-decorator]
def alive(queue: str) -> None:
    """Note that somebody serves a queue, and could take work from it."""
    if schema.is_current():
        heartbeat.beat(queue, now=timezone.now())


def wake(name: str) -> None:
    """Ask a worker to look at a stage, without ever failing or delaying the caller."""
    _send(advance, name, BY_NAME[name].queue)


def wake_queue(queue: str) -> None:
    """Ask whoever serves a queue to say so, and to look at all of its stages."""
    _send(alive, queue, queue)
    for stage in STAGES:
        if stage.queue == queue:
            wake(stage.name)


def _send(task: Any, word: str, queue: str) -> None:  # Any: Celery's task
    global _quiet_until
    if time.monotonic() < _quiet_until:
        return
    try:
        task.apply_async((word,), queue=queue, retry=False, expires=EXPIRES_SECONDS)
    except (OperationalError, OSError) as error:
        _quiet_until = time.monotonic() + QUIET_SECONDS
        log.warning("broker=unreachable task=%s(%s) error=%s", task.name, word, error)


@signals.worker_init.connect  # type: ignore[untyped-decorator]
def refuse_another_schema(**_: Any) -> None:
    """Stop a worker of either mode at its start, before it takes any work."""
    if trouble := schema.problem():
        log.error("worker=stopped %s", trouble)
        raise SystemExit(1)


@signals.celeryd_after_setup.connect  # type: ignore[untyped-decorator]
def load_code(*, instance: Any, **_: Any) -> None:
    """Import the stages of this worker's queues: a clone updated later changes nothing."""
    served = instance.app.amqp.queues.consume_from
    for stage in STAGES:
        if stage.queue in served:
            stage.load()


# Set as data, not when Celery "finalizes" itself: that may be before this module is
# imported, and then the beat would look at nothing.
app.conf.beat_schedule = {
    **{
        f"look at {stage.name}": {
            "task": advance.name,
            "schedule": LOOK_SECONDS,
            "args": (stage.name,),
            "options": {"queue": stage.queue, "expires": EXPIRES_SECONDS},
        }
        for stage in STAGES
    },
    **{
        f"life of {queue}": {
            "task": alive.name,
            "schedule": LIFE_SECONDS,
            "args": (queue,),
            "options": {"queue": queue, "expires": EXPIRES_SECONDS},
        }
        for queue in QUEUES
    },
}
