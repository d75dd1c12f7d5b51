"""Which tests leak by the word of a gate, in a window of days.

Guarantees: three queries, whatever the data; opted out leaks, those that do not count
and those of excluded runs are in none of it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Max, Min

from results.models import Leak
from results.queries.leak_shapes import Gated
from results.queries.windows import runs_in

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet


class _Kind(NamedTuple):
    """One kind of one test."""

    test: int
    number: int
    kind: str
    first_at: datetime
    last_at: datetime
    newest: int
    runs: int


def gated_tests(
    project_id: int, *, window: int, now: datetime | None = None
) -> list[Gated]:
    """Return every test that leaks, by its number."""
    told = Leak.objects.filter(
        run__in=runs_in(project_id, window=window, now=now),
        counted=True,
        opted_out=False,
        test__isnull=False,
    )
    kinds: dict[int, list[_Kind]] = defaultdict(list)
    grouped = told.values_list("test_id", "test__number", "kind").annotate(
        Min("run__started_at"),
        Max("run__started_at"),
        Max("pk"),
        Count("run", distinct=True),
    )
    for row in grouped:
        kind = _Kind(*row)
        kinds[kind.number].append(kind)
    newest = {one.newest for some in kinds.values() for one in some}
    words = {
        pk: (recipe, items)
        for pk, recipe, items in Leak.objects.filter(pk__in=newest).values_list(
            "pk", "recipe", "items"
        )
    }
    first = _first_runs(told, kinds)
    return [
        _gated(sorted(kinds[number], key=lambda one: one.kind), words, first)
        for number in sorted(kinds)
    ]


def _first_runs(
    told: QuerySet[Leak], kinds: dict[int, list[_Kind]]
) -> dict[int, tuple[int, str, int | None]]:
    """Return (run, commit, pull request) of each test's first leak, by its id."""
    first = {some[0].test: min(one.first_at for one in some) for some in kinds.values()}
    rows = told.filter(run__started_at__in=set(first.values())).order_by("-run")
    return {
        test: (run, commit, pr)
        for test, at, run, commit, pr in rows.values_list(
            "test_id", "run__started_at", "run_id", "run__commit", "run__pr"
        )
        if first.get(test) == at
    }


def _gated(
    kinds: list[_Kind],
    words: dict[int, tuple[str, list[str]]],
    first: dict[int, tuple[int, str, int | None]],
) -> Gated:
    told = [words[one.newest] for one in kinds]
    test = kinds[0].test
    return Gated(
        test=test,
        number=kinds[0].number,
        kinds=[one.kind for one in kinds],
        recipe=next((recipe for recipe, _ in told if recipe), ""),
        items=sorted({item for _, items in told for item in items}),
        runs=max(one.runs for one in kinds),
        first_run=first[test][0],
        first_commit=first[test][1],
        first_pr=first[test][2],
        first_at=min(one.first_at for one in kinds),
        last_at=max(one.last_at for one in kinds),
    )
