"""Counts of leakers and unstable tests, and what is believed of failing tests.

Guarantees: one or two queries each, whatever the data.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Count

from leaks.models import (
    Leaker,
    LeakerDecision,
    LeakerState,
    Pair,
    PairKind,
    PairStatus,
    Proof,
    Verdict,
)
from leaks.shapes import Cause, DecisionRow, LeakerTotals, ProofRow
from results.queries.windows import end_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

_CLAIMED = (PairStatus.PROVEN, PairStatus.CONFIRMED)
_LATEST = 100


def leaker_totals(project_id: int) -> LeakerTotals:
    """Count a project's leakers by state, and sum what the open ones cost."""
    rows = list(
        Leaker.objects.filter(project_id=project_id).values_list(
            "state", "kinds", "owner", "failed_runs", "lost_s"
        )
    )
    live = [row for row in rows if row[0] == LeakerState.OPEN]
    return LeakerTotals(
        states=dict(Counter(row[0] for row in rows)),
        failed_runs=sum(row[3] for row in live),
        lost_s=sum(row[4] for row in live),
        kinds=sorted({kind for row in rows for kind in row[1]}),
        owners=sorted({row[2] for row in rows} - {""}),
    )


def open_leakers(project_ids: Collection[int]) -> dict[int, int]:
    """Count the open leakers of each project that has any."""
    rows = Leaker.objects.filter(project__in=project_ids, state=LeakerState.OPEN)
    return dict(rows.order_by().values_list("project_id").annotate(Count("pk")))


def unstable_totals(
    project_id: int, *, window: int, now: datetime | None = None
) -> dict[str, int]:
    """Count the tests of each class that failed (or leaked) in the window."""
    end = end_of(project_id, now=now)
    rows = Verdict.objects.filter(
        project_id=project_id, last_failed__gt=end.moment - timedelta(days=window)
    )
    found = dict(rows.order_by().values_list("name").annotate(Count("pk")))
    return {name: found[name] for name in sorted(found, key=lambda one: -found[one])}


def causes_of(test_ids: Collection[int]) -> dict[int, list[Cause]]:
    """Say what is believed of tests: the claimed leakers first, else the class.

    A leaker that a person dismissed is nobody's cause.
    """
    names: dict[int, tuple[str, str]] = {}
    for test, name, evidence in Verdict.objects.filter(test__in=test_ids).values_list(
        "test_id", "name", "evidence"
    ):
        stretch = evidence.get("stretch") or [""]
        names[test] = name, stretch[0] if name == "regression" else ""
    found: dict[int, list[Cause]] = defaultdict(list)
    pairs = Pair.objects.filter(
        victim__in=test_ids, kind=PairKind.VICTIM, status__in=_CLAIMED, current=True
    ).select_related("test__leaker")
    for pair in pairs.order_by("-posterior", "pk"):
        leaker = getattr(pair.test, "leaker", None)
        if leaker is None or leaker.state == LeakerState.DISMISSED:
            continue
        found[pair.victim_id].append(
            Cause(
                test=pair.victim_id,
                name=names.get(pair.victim_id, ("victim", ""))[0],
                leaker=leaker.pk,
                leaker_test=pair.test_id,
                leaker_nodeid=pair.test.nodeid,
                status=pair.status,
                posterior=pair.posterior,
            )
        )
    for test, (name, since) in names.items():
        found.setdefault(test, [Cause(test=test, name=name, since=since)])
    return dict(found)


def leaker_ids(test_ids: Iterable[int]) -> dict[int, int]:
    """Return the ids of those leakers that some tests are."""
    rows = Leaker.objects.filter(test__in=list(test_ids))
    return dict(rows.values_list("test_id", "pk"))


def decisions_of(leaker_id: int) -> list[DecisionRow]:
    """List what people decided of a leaker, the newest first."""
    rows = LeakerDecision.objects.filter(leaker_id=leaker_id).order_by("-at", "-pk")
    fields = ("at", "by", "what", "before", "after", "note")
    return [DecisionRow(*row) for row in rows.values_list(*fields)[:_LATEST]]


def proofs_of(test_id: int) -> list[ProofRow]:
    """List the reproductions with a test as the leaker, the newest first."""
    rows = Proof.objects.filter(leaker_id=test_id).order_by("-pk")
    fields = ("victim_id", "victim__nodeid", "result", "how", "command")
    counts = ("runs", "failed", "commit")
    return [
        ProofRow(*row)
        for row in rows.values_list("created_at", "told_by", *fields, *counts)[:_LATEST]
    ]
