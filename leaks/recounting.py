"""The stage that recounts a project's leakers, victims and classes from its facts.

Guarantees: a recount reads everything anew, so run by run and wholly by command give
the same answer; what it stores is stored in one transaction together with its end, and
only by the process that holds the lease.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from ingest import leases
from leaks.costs import of_leakers
from leaks.fixes import fixes_now
from leaks.judging import judge_project
from leaks.leakers import leakers_now
from leaks.memory import Memory
from leaks.pairs import pairs_now
from leaks.verdicts import verdicts_now
from leaks.writing import (
    Place,
    known_pairs,
    write_leakers,
    write_pairs,
    write_verdicts,
)
from results import recounts
from results.queries.executions import names_of_all

if TYPE_CHECKING:
    from datetime import datetime

    from results.models import Recount


_memory = Memory()


def claim(now: datetime) -> Recount | None:
    """Take the next project whose facts changed, also from a process that died."""
    claimed = recounts.claim(now, lease=leases.new_lease())
    if claimed is None and _release_dead():
        return recounts.claim(now, lease=leases.new_lease())
    return claimed


def _release_dead() -> int:
    owners = {leases.owner_of(lease) for lease in recounts.leases()}
    return sum(recounts.release(owner) for owner in owners if leases.is_dead(owner))


def give_back(recount: Recount, error: str) -> None:
    recounts.give_back(recount, error)


def waiting(project_id: int | None = None) -> int:
    """Count the projects, or say of one whether it is, not up to date."""
    return recounts.waiting(project_id)


def work(recount: Recount) -> None:
    """Judge a claimed project and store it, unless another has taken it over."""
    started = time.thread_time()
    project = recount.project
    judged = judge_project(project, memory=_memory)
    pairs = pairs_now(judged, known_pairs(project.pk))
    leakers = leakers_now(judged, pairs, of_leakers(judged, pairs))
    names = names_of_all(project.pk)
    verdicts = verdicts_now(judged, [nodeid for _, nodeid in names])
    ids = {number: pk for number, (pk, _) in enumerate(names) if pk}
    place = Place(project.pk, ids, timezone.now())
    fixes = fixes_now(judged)
    cost = time.thread_time() - started
    with transaction.atomic():
        if not recounts.finish(recount, cost=cost):
            return
        write_pairs(place, pairs)
        write_leakers(place, leakers, fixes)
        write_verdicts(place, verdicts)
