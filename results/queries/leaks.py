"""Reads of leaks: single facts, as gates told them; only those that count.

Guarantees: one query a page, whatever the data; the newest run first, and inside a run
in the order in which they were told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from results.models import Leak
from results.queries import cursors
from results.queries.leak_shapes import LeakDetail, LeakRow
from results.queries.shapes import Page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

__all__ = [
    "LeakDetail",
    "LeakRow",
    "gate_heard",
    "leaking_runs",
    "leaking_tests",
    "list_leaks",
]


def list_leaks(
    project_id: int,
    *,
    run: int | None = None,
    test: int | None = None,
    kind: str | None = None,
    pr: int | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[LeakRow]:
    """List leaks. `run` and `test` are ids, `kind` a whole one."""
    leaks = Leak.objects.filter(project_id=project_id, counted=True)
    exact = {"run_id": run, "test_id": test, "kind": kind, "run__pr": pr}
    leaks = leaks.filter(**{k: v for k, v in exact.items() if v is not None})
    if cursor is not None:
        leaks = _after(leaks, cursor)
    ordered = leaks.select_related("run", "test").only(
        *_LEAK_FIELDS, "run__name", "run__commit", "run__pr", "run__started_at"
    )
    found = list(ordered.order_by("-run", "shard", "place")[: limit + 1])
    shown = found[:limit]
    rows = [_row(leak) for leak in shown]
    if len(found) <= limit:
        return Page(rows)
    last = shown[-1]
    return Page(rows, cursors.write(last.run_id, last.shard_id, last.place))


def leaking_tests(run_id: int) -> set[int]:
    """Return the ids of the tests that leak in a run by a gate's word."""
    told = Leak.objects.filter(run_id=run_id, counted=True, opted_out=False)
    return set(told.exclude(test=None).values_list("test_id", flat=True))


def leaking_runs(case_id: int, run_ids: Iterable[int]) -> set[int]:
    """Return those of some runs in which a test leaks."""
    told = Leak.objects.filter(test_id=case_id, run_id__in=list(run_ids))
    return set(
        told.filter(counted=True, opted_out=False).values_list("run_id", flat=True)
    )


def gate_heard(project_id: int, gate: str) -> bool:
    """Tell whether this gate ever spoke in a run outside of a pull request."""
    told = Leak.objects.filter(project_id=project_id, gate=gate, run__pr__isnull=True)
    return told.exists()


_LEAK_FIELDS = (
    "shard_id",
    "place",
    "source",
    "kind",
    "gate",
    "items",
    "item_count",
    "phase",
    "worker",
    "position",
    "enforced",
    "opted_out",
    "message",
    "recipe",
    "detail",
    "test__nodeid",
)


def _after(leaks: QuerySet[Leak], cursor: str) -> QuerySet[Leak]:
    run, shard, place = cursors.read(cursor, int, int, int)
    return leaks.filter(
        Q(run__lt=run)
        | Q(run=run, shard__gt=shard)
        | Q(run=run, shard=shard, place__gt=place)
    )


def _row(leak: Leak) -> LeakRow:
    run, test = leak.run, leak.test
    return LeakRow(
        id=leak.pk,
        test=leak.test_id,
        nodeid=test.nodeid if test is not None else None,
        kind=leak.kind,
        gate=leak.gate,
        items=list(leak.items),
        item_count=leak.item_count,
        phase=leak.phase,
        worker=leak.worker,
        position=leak.position,
        enforced=leak.enforced,
        opted_out=leak.opted_out,
        message=leak.message,
        recipe=leak.recipe,
        detail=LeakDetail(**leak.detail) if leak.detail else None,
        source=leak.source,
        run=leak.run_id,
        run_name=run.name,
        started_at=run.started_at,
        commit=run.commit,
        pr=run.pr,
    )
