"""The worker process of `serve`: Celery on one thread, its beat on another.

Guarantees: one worker at a time in a data directory, so that what a killed one had
leased can be taken over at once; all code is loaded and the schema checked first.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import warnings

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "healthboard.settings")
django.setup()

from celery.beat import EmbeddedService  # noqa: E402 - the models need the set-up
from celery.platforms import SecurityWarning  # noqa: E402
from django.conf import settings  # noqa: E402

from healthboard import lifeline, locks, pipeline, tasks  # noqa: E402
from healthboard.celery import app  # noqa: E402

log = logging.getLogger(__name__)

QUEUES = ("ingest", "analyse", "notify")


def main() -> int:
    lifeline.hold(grace=5)
    locks.wait_for(settings.DATA_DIR / lifeline.WORKER_LOCK)
    # It warns of root because of pickled messages; ours are JSON.
    warnings.simplefilter("ignore", SecurityWarning)
    worker = app.Worker(
        pool="solo",
        concurrency=1,
        queues=",".join(QUEUES),
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )
    gc.freeze()  # what is loaded stays, and need not be looked at
    beat = EmbeddedService(app, thread=True, scheduler_cls=app.conf.beat_scheduler)
    beat.start()
    for stage in pipeline.STAGES:
        tasks.wake(stage.name)
    log.info("worker=ready queues=%s", ",".join(QUEUES))
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main())
