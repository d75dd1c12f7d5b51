"""Tests that somebody's words name, and what they leak.

Guarantees: two queries, whatever is named; no more rows than asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Max, Q

from results.models import Leak, TestCase

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MOST = 200


class Mentioned(NamedTuple):
    id: int
    nodeid: str
    file: str
    name: str


class Leaking(NamedTuple):
    """That a test leaks something, by gates' words. `leak` is the newest fact."""

    leak: int
    test: int | None
    nodeid: str | None
    kind: str
    runs: int


def mentioned(
    project_id: int,
    *,
    files: Collection[str],
    names: Collection[str],
    limit: int = MOST,
) -> list[Mentioned]:
    """Return tests of these files and tests of these names."""
    if not files and not names:
        return []
    fits = Q(file__in=files) | Q(name__in=names)
    for file in sorted(files):
        fits |= Q(file__endswith=f"/{file}")
        for start in starts_of(file):
            fits |= Q(nodeid__startswith=start)
    found = TestCase.objects.filter(fits, project_id=project_id)
    rows = found.order_by("pk").values_list("pk", "nodeid", "file", "name")
    return [Mentioned(*row) for row in rows[:limit]]


def starts_of(file: str) -> tuple[str, ...]:
    """How the node ids of a module's tests begin where a report gives no file."""
    if not file.endswith(".py"):
        return ()
    module = file.removesuffix(".py").replace("/", ".")
    return f"{module}::", f"{module}."


def leaking(
    project_id: int,
    *,
    tests: Iterable[int] = (),
    families: Iterable[str] = (),
    limit: int = MOST,
) -> list[Leaking]:
    """Return what these tests leak, and who leaks something of these families."""
    fits = Q(test__in=list(tests))
    for family in sorted(families):
        fits |= Q(kind__startswith=f"{family}.")
    rows = (
        Leak.objects.filter(fits, project_id=project_id, counted=True)
        .values("test", "test__nodeid", "kind")
        .annotate(runs=Count("run", distinct=True), leak=Max("pk"))
        .order_by("-leak")
    )
    return [
        Leaking(row["leak"], row["test"], row["test__nodeid"], row["kind"], row["runs"])
        for row in rows[:limit]
    ]
