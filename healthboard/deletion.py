"""Deleting a project with everything below it: rows of every table, and body files.

Guarantees: no secret of the project works any more before the first row goes; rows go
some at a time, so that other projects' uploads do not wait; a deletion that was
interrupted goes on when it is asked for again. The audit log stays, and says who did
it. This is the one place that deletes from tables of other packages: what hangs on a
project is read off the models, so a new table cannot be forgotten.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from django.apps import apps
from django.db import IntegrityError, models, transaction

from ingest import bodies
from ingest.models import Upload
from projects import audit
from projects.models import AuditEntry, Membership, Project, Secret, Token
from results.models import Run, TestCase

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger(__name__)

_AT_ONCE = 2_000
_ROUNDS = 5
_KEPT = frozenset({AuditEntry})

type Model = type[models.Model]


class NoProject(LookupError):
    """There is no project of this name."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a project holds, for who is asked whether it may go."""

    runs: int
    tests: int
    uploads: int


def contents(slug: str) -> Contents:
    """Count what would be deleted."""
    project = _project(slug)
    return Contents(
        *(
            kind.objects.filter(project=project).count()
            for kind in (Run, TestCase, Upload)
        )
    )


def delete_project(slug: str, *, actor: str) -> Counter[str]:
    """Delete a project; return how many rows of each table went."""
    project = _project(slug)
    with transaction.atomic():
        for kind in (Token, Secret, Membership):
            kind.objects.filter(project=project).delete()
        audit.record(project, actor=actor, action="project.deleted", subject=slug)
        AuditEntry.objects.filter(project=project).update(project=None)
    gone: Counter[str] = Counter()
    for _ in range(_ROUNDS):
        gone += _delete_below(project)
        try:
            with transaction.atomic():
                mine = Project.objects.filter(pk=project.pk)
                mine._raw_delete(mine.db)
        except IntegrityError:
            continue  # a worker has just stored what it had begun to read
        log.info("project %s is deleted by %s: %s", slug, actor, dict(gone))
        return gone
    raise RuntimeError(f"{slug} is still being written to: run the command again")


def paths() -> dict[Model, str]:
    """Return each table below Project with the lookup that leads there."""
    found: dict[Model, str] = {Project: ""}
    queue: list[Model] = [Project]
    for target in queue:
        for kind, name in _pointing_at(target):
            if kind not in found and kind not in _KEPT:
                found[kind] = f"{name}__{found[target]}" if found[target] else name
                queue.append(kind)
    del found[Project]
    return found


def in_order() -> list[Model]:
    """Return these tables so that each comes before those it points at."""
    below = paths()
    order: TopologicalSorter[Model] = TopologicalSorter()
    for target in below:
        order.add(target, *(kind for kind, _ in _pointing_at(target) if kind in below))
    return list(order.static_order())


def _pointing_at(target: Model) -> Iterator[tuple[Model, str]]:
    for kind in apps.get_models(include_auto_created=True):
        for field in kind._meta.concrete_fields:
            if field.related_model is target and kind is not target:
                yield kind, field.name


def _delete_below(project: Project) -> Counter[str]:
    gone: Counter[str] = Counter()
    below = paths()
    TestCase.objects.filter(project=project).exclude(same_as=None).update(same_as=None)
    for kind in in_order():
        rows = kind._base_manager.filter(**{below[kind]: project})
        while ids := list(rows.values_list("pk", flat=True)[:_AT_ONCE]):
            some = kind._base_manager.filter(pk__in=ids)
            files = list(some.values_list("body", flat=True)) if kind is Upload else []
            with transaction.atomic():
                # Nothing points at them any more, so nothing is to be collected.
                gone[kind._meta.label] += some._raw_delete(some.db)
            for name in files:
                bodies.delete(name)
    return gone


def _project(slug: str) -> Project:
    owner, _, name = slug.partition("/")
    project = Project.objects.filter(owner=owner, name=name).first()
    if project is None:
        raise NoProject(f"there is no project {slug}")
    return project
