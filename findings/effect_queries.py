"""Reading effects: of a run, or of a project.

Guarantees: a fixed number of queries; of several exports of one run that tell of the
same effect only the latest is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import Coalesce

from findings.models import Effect, Ledger
from findings.shapes import Page
from results.queries import cursors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.db.models import QuerySet

SETTLED = ("verified", "state_observed", "not_executed")


@dataclass(frozen=True, slots=True)
class EffectFilters:
    """Empty or None: whatever it is."""

    run: int | None = None
    upload: int | None = None
    verdict: str = ""
    external: bool = False  # only those that are disclosed
    effect: str = ""  # its id


@dataclass(frozen=True, slots=True)
class EffectTotals:
    """`disclosed` are the words for external effects, and how often they are said."""

    verdicts: dict[str, int] = field(default_factory=dict)
    disclosed: dict[str, int] = field(default_factory=dict)
    unresolved: int = 0
    cleanup: int = 0  # failed or unknown
    all: int = 0


@dataclass(frozen=True, slots=True)
class LedgerRow:
    id: int
    upload: int
    run: int | None
    pr: int | None
    at: datetime
    effects: int
    run_ended: bool


def list_effects(
    project_id: int,
    filters: EffectFilters,
    *,
    cursor: str | None = None,
    limit: int = 100,
) -> Page[Effect]:
    """Return effects, those of the newest ledger first, each ledger's by sequence."""
    found = _latest(project_id, filters)
    if cursor is not None:
        ledger, number = cursors.read(cursor, int, int)
        found = found.filter(
            Q(ledger_id__lt=ledger) | Q(ledger_id=ledger, number__gt=number)
        )
    rows = list(
        found.select_related("ledger", "test").order_by("-ledger_id", "number")[
            : limit + 1
        ]
    )
    shown = rows[:limit]
    more = (
        cursors.write(shown[-1].ledger_id, shown[-1].number)
        if len(rows) > limit
        else None
    )
    return Page(shown, more)


def totals(project_id: int, filters: EffectFilters) -> EffectTotals:
    """Return how the effects were judged, in one query."""
    verdicts: dict[str, int] = {}
    disclosed: dict[str, int] = {}
    unresolved = cleanup = 0
    names = ("verdict", "disclosure", "unresolved_impact", "cleanup")
    found = _latest(project_id, filters).values(*names)
    for row in found.annotate(n=Count("pk")).order_by():
        n = row["n"]
        verdicts[row["verdict"]] = verdicts.get(row["verdict"], 0) + n
        if row["disclosure"]:
            disclosed[row["disclosure"]] = disclosed.get(row["disclosure"], 0) + n
        unresolved += n * row["unresolved_impact"]
        cleanup += n * (row["cleanup"] in ("failed", "unknown"))
    return EffectTotals(
        verdicts, disclosed, unresolved, cleanup, sum(verdicts.values())
    )


def list_ledgers(project_id: int, *, limit: int = 20) -> Sequence[LedgerRow]:
    """Return the newest ledgers."""
    rows = Ledger.objects.filter(project=project_id, current=True)
    return [
        LedgerRow(
            row.pk,
            row.upload_id,
            row.run_id,
            row.pr,
            row.at,
            row.effects_count,
            row.run_ended,
        )
        for row in rows.order_by("-at", "-pk")[:limit]
    ]


def _latest(project_id: int, filters: EffectFilters) -> QuerySet[Effect]:
    current = Effect.objects.filter(ledger__project=project_id, ledger__current=True)
    # Uploads without a run are taken as of one.
    newer = (
        current.alias(of_run=Coalesce("ledger__run_id", 0))
        .filter(of_run=Coalesce(OuterRef("ledger__run_id"), 0), key=OuterRef("key"))
        .filter(
            Q(ledger__upload__gt=OuterRef("ledger__upload"))
            | Q(
                ledger__upload=OuterRef("ledger__upload"),
                ledger__file__gt=OuterRef("ledger__file"),
            )
        )
    )
    found = current.exclude(Exists(newer))
    if filters.run is not None:
        found = found.filter(ledger__run_id=filters.run)
    if filters.upload is not None:
        found = found.filter(ledger__upload=filters.upload)
    if filters.verdict:
        found = found.filter(verdict=filters.verdict)
    if filters.external:
        found = found.exclude(disclosure="")
    if filters.effect:
        found = found.filter(effect_id=filters.effect)
    return found
