"""The plain ways to store results, for comparison: one row a result.

The table has the columns that a result needs and the one index that a test's history
needs. Both peers resolve the test cases as the product does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection, models, transaction
from django.utils import timezone

from formats.outcomes import CODE
from results.testcases import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats.report import Contribution
    from projects.models import Project


class ResultRow(models.Model):
    """One result; the table exists for one benchmark."""

    run_id = models.BigIntegerField()
    test_id = models.IntegerField()
    outcome = models.SmallIntegerField()
    duration_ms = models.IntegerField()
    process = models.SmallIntegerField()
    position = models.IntegerField()

    class Meta:
        app_label = "benchmarks"
        indexes = [models.Index(fields=["test_id", "run_id"], name="bench_history")]

    def __str__(self) -> str:
        return f"{self.test_id} in {self.run_id}"


FIELDS = ("run_id", "test_id", "outcome", "duration_ms", "process", "position")


def make_table() -> None:
    with connection.schema_editor() as editor:
        editor.create_model(ResultRow)


def _rows(
    project: Project, run: int, contribution: Contribution
) -> Iterator[tuple[int, ...]]:
    results = contribution.results
    numbers = resolve(project.pk, results, seen_at=timezone.now()).numbers.tolist()
    for number, one in zip(numbers, results, strict=True):
        duration = round((one.duration or 0.0) * 1000)
        yield run, number, CODE[one.outcome], duration, one.process, one.position


def by_bulk_create(project: Project, run: int, contribution: Contribution) -> None:
    rows = [
        ResultRow(**dict(zip(FIELDS, row, strict=True)))
        for row in _rows(project, run, contribution)
    ]
    with transaction.atomic():
        ResultRow.objects.bulk_create(rows)


def by_copy(project: Project, run: int, contribution: Contribution) -> None:
    """PostgreSQL only."""
    table = ResultRow._meta.db_table
    rows = list(_rows(project, run, contribution))  # it asks the same connection
    statement = f"COPY {table} ({', '.join(FIELDS)}) FROM STDIN"
    with (
        transaction.atomic(),
        connection.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        for row in rows:
            copy.write_row(row)
