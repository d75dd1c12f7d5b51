"""The stages in order, and the one loop that runs them.

Guarantees: an item is claimed before it is worked on; work that raises is given back
with its error and is tried again later; a stage that is asked twice does its work once.
Here stands the one catch-all of the code base.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from findings import storing as findings
from formats.cycles import no_collections
from ingest import processing, retention
from leaks import recounting as leaks
from results import days, reclassifying
from results import retention as old_facts

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Stage:
    """One arrow of the pipeline.

    `claim` takes one waiting item by a conditional UPDATE, or returns None. `work`
    does it and stores the result in one short transaction. `give_back` notes an
    unknown error and when to try again. `waiting` counts, for a project or for all.
    Work that was done wakes the stages in `then`.
    """

    name: str
    queue: str
    claim: Callable[[datetime], Any | None]  # Any: each stage has its own item
    work: Callable[[Any], None]
    give_back: Callable[[Any, str], None]
    waiting: Callable[[int | None], int]
    then: tuple[str, ...] = ()


STAGES: tuple[Stage, ...] = (
    Stage(
        "ingest",
        "ingest",
        processing.claim,
        processing.work,
        processing.give_back,
        processing.waiting,
        then=("findings", "days", "leaks"),
    ),
    Stage(
        "findings",
        "analyse",
        findings.claim,
        findings.work,
        findings.give_back,
        findings.waiting,
    ),
    Stage(
        "classes",
        "analyse",
        reclassifying.claim,
        reclassifying.work,
        reclassifying.give_back,
        reclassifying.waiting,
        then=("days",),
    ),
    Stage("days", "analyse", days.claim, days.work, days.give_back, days.waiting),
    Stage("leaks", "analyse", leaks.claim, leaks.work, leaks.give_back, leaks.waiting),
    Stage(
        "sweep",
        "analyse",
        retention.claim,
        retention.work,
        retention.give_back,
        retention.waiting,
    ),
    Stage(
        "forget",
        "analyse",
        old_facts.claim,
        old_facts.work,
        old_facts.give_back,
        old_facts.waiting,
    ),
)
BY_NAME = {stage.name: stage for stage in STAGES}


def drain(stage: Stage, *, limit: int = 100) -> int:
    """Work on up to `limit` waiting items; return how many were claimed."""
    done = 0
    while done < limit:
        item = stage.claim(timezone.now())
        if item is None:
            break
        done += 1
        started = time.perf_counter()
        try:
            with no_collections():
                stage.work(item)
        except Exception as error:  # the stage boundary
            log.exception("stage=%s item=%s failed", stage.name, item)
            stage.give_back(item, f"{type(error).__name__}: {error}")
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
