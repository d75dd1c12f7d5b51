"""A working process of `serve`: Celery on one thread, in one role the beat on another.

Guarantees: one process of a role at a time in a data directory, so that what a killed
one had leased can be taken over at once; the schema is checked and all code of the
role's stages loaded first.
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

from healthboard import lifeline, locks, tasks  # noqa: E402
from healthboard.celery import app  # noqa: E402
from healthboard.roles import BY_NAME, Role  # noqa: E402

log = logging.getLogger(__name__)


def main(role: Role) -> int:
    lifeline.hold(grace=5)
    locks.wait_for(settings.DATA_DIR / role.lock)
    # It warns of root because of pickled messages; ours are JSON.
    warnings.simplefilter("ignore", SecurityWarning)
    app.conf.broker_transport_options["polling_interval"] = role.looks
    worker = app.Worker(
        pool="solo",
        concurrency=1,
        hostname=f"{role.name}@%h",
        queues=role.queue,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )
    gc.collect()
    gc.freeze()  # what is loaded stays, and need not be looked at
    if role.beat:
        scheduler = app.conf.beat_scheduler
        EmbeddedService(app, thread=True, scheduler_cls=scheduler).start()
    tasks.wake_queue(role.queue)
    log.info("%s=ready queue=%s", role.name, role.queue)
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main(BY_NAME[sys.argv[1]]))
