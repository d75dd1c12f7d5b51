"""The stages in order, and the one loop that runs them.

Guarantees: an item is claimed before it is worked on; work that raises is given back
with its error and is tried again later; a stage that is asked twice does its work once.
Here stands the one catch-all of the code base.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from django.utils import timezone

from formats.cycles import no_collections

if TYPE_CHECKING:
    from datetime import datetime

log = logging.getLogger(__name__)


class Steps(Protocol):
    """What the module of a stage offers. `Any`: each stage has its own item."""

    def claim(self, now: datetime, /) -> Any | None:
        """Take one waiting item by a conditional UPDATE, or return None."""

    def work(self, item: Any, /) -> None:
        """Do it, and store the result in one short transaction."""

    def give_back(self, item: Any, error: str, /) -> None:
        """Note an unknown error, and when to try again."""

    def waiting(self, project_id: int | None, /) -> int:
        """Count what waits, of a project or of all."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One arrow of the pipeline; work that was done wakes the stages in `then`.

    Its module is named, not imported, so that a process holds the code of its own
    stages alone. A worker loads them before it takes work (`tasks.load_code`).
    """

    name: str
    queue: str
    module: str
    then: tuple[str, ...] = ()

    def load(self) -> Steps:
        return cast("Steps", import_module(self.module))


STAGES: tuple[Stage, ...] = (
    Stage(
        "ingest",
        "ingest",
        "ingest.processing",
        then=("findings", "days", "leaks", "pulls"),
    ),
    Stage("findings", "ingest", "findings.storing"),
    Stage("classes", "ingest", "results.reclassifying", then=("days",)),
    Stage("days", "ingest", "results.days"),
    Stage("leaks", "analyse", "leaks.recounting", then=("verdicts",)),
    Stage("pulls", "ingest", "pulls.facts", then=("verdicts",)),
    Stage("verdicts", "analyse", "pulls.verdicts", then=("events",)),
    Stage("review", "analyse", "review.keeping"),
    Stage("events", "notify", "notify.fanning", then=("deliver",)),
    Stage("deliver", "notify", "notify.sending"),
    Stage("remarks", "notify", "notify.remarking"),
    Stage("sweep", "analyse", "ingest.retention"),
    Stage("forget", "analyse", "results.retention"),
    Stage("prune", "analyse", "findings.retention"),
)
BY_NAME = {stage.name: stage for stage in STAGES}


def drain(stage: Stage, *, limit: int = 100) -> int:
    """Work on up to `limit` waiting items; return how many were claimed."""
    steps = stage.load()
    done = 0
    while done < limit:
        item = steps.claim(timezone.now())
        if item is None:
            break
        done += 1
        started = time.perf_counter()
        try:
            with no_collections():
                steps.work(item)
        except Exception as error:  # the stage boundary
            log.exception("stage=%s item=%s failed", stage.name, item)
            steps.give_back(item, f"{type(error).__name__}: {error}")
        else:
            spent = (time.perf_counter() - started) * 1000
            log.info("stage=%s item=%s ms=%.0f", stage.name, item, spent)
    return done


def drain_all() -> int:
    """Run every stage until nothing waits that is due; return the items done."""
    total = 0
    while done := sum(drain(stage) for stage in STAGES):
        total += done
    return total
