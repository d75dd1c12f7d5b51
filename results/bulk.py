"""Many rows at once, past the cost of a model instance a row.

Guarantees: the rows are in the database when `insert` returns, in the caller's
transaction. Defaults are not filled in: the fields must be all that need a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection, models

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    type Row = tuple[Any, ...]  # Any: a value of any column


def insert(
    model: type[models.Model],
    names: Sequence[str],
    rows: Sequence[Row],
    *,
    ignore: Sequence[str] = (),
) -> None:
    """Insert rows: by COPY on PostgreSQL, by `executemany` elsewhere.

    `ignore` is the key of which rows may be there already; they stay as they are.
    """
    if not rows:
        return
    fields = [model._meta.get_field(name) for name in names]
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    columns = ", ".join(quote(field.column) for field in fields)  # type: ignore[union-attr,arg-type]
    if connection.vendor == "postgresql" and not ignore:
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row(row)
        return
    marks = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608
    if ignore:
        unique: list[Any] = [model._meta.get_field(name) for name in ignore]
        key = ", ".join(quote(field.column) for field in unique)
        statement += f" ON CONFLICT ({key}) DO NOTHING"
    prepare = [_preparer(field) for field in fields]
    with connection.cursor() as cursor:
        cursor.executemany(
            statement,
            [
                tuple(
                    value if change is None else change(value)
                    for change, value in zip(prepare, row, strict=True)
                )
                for row in rows
            ],
        )


def _preparer(field: Any) -> Callable[[Any], Any] | None:  # Any: a field, its value
    """Return how the driver wants this field's values; None: as they are."""
    if isinstance(field, models.DateTimeField):
        return connection.ops.adapt_datetimefield_value
    return None
