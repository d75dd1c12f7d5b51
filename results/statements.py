"""One row at a time, by statements whose text is made once.

Guarantees: the values are what the model's fields make of them, as with `save`; both
databases get the same statement. Building one through the ORM costs several times what
the database takes for it, and recording an upload needs a dozen.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db import models

    type Names = tuple[str, ...]
    type Values = tuple[Any, ...]  # Any: a value of any column


def insert(
    row: models.Model, *, key: Names = (), returning: str = "id"
) -> int | str | None:
    """Insert a row; None, and nothing done, where one with its `key` is there."""
    statement = _inserting(type(row), key, "DO NOTHING" if key else "", (returning,))
    found = _run(statement, _values(row))
    return None if found is None else found[0]


def upsert(
    row: models.Model, *, key: Names, rise: str, put: Names = (), returning: Names
) -> Values:
    """Insert a row, or hold the one with its `key`: `rise` is one more, and `put` are
    as in the row."""
    model = type(row)
    statement = _inserting(model, key, _merging(model, rise, put), returning)
    found = _run(statement, _values(row))
    fields: list[Any] = [model._meta.get_field(name) for name in returning]
    # Either way there is a row. SQLite knows no dates.
    return tuple(f.to_python(v) for f, v in zip(fields, found or (), strict=True))


def change(model: type[models.Model], pk: int, values: Mapping[str, Any]) -> None:
    """Give one row new values, by field."""
    statement, fields = _changing(model, tuple(values))
    new = [
        field.get_db_prep_save(value, connection)
        for field, value in zip(fields, values.values(), strict=True)
    ]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*new, pk])


def _run(statement: str, values: list[Any]) -> Values | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: Values | None = cursor.fetchone()
        return found


def _values(row: models.Model) -> list[Any]:
    return [
        field.get_db_prep_save(getattr(row, field.attname), connection)
        for field in _fields(type(row))
    ]


@lru_cache(maxsize=64)
def _fields(model: type[models.Model]) -> tuple[Any, ...]:  # Any: fields
    """Return what an INSERT names: all but a number that the database gives."""
    given = model._meta.auto_field
    return tuple(one for one in model._meta.concrete_fields if one is not given)


@lru_cache(maxsize=64)
def _inserting(
    model: type[models.Model], key: Names, otherwise: str, returning: Names
) -> str:
    columns = ", ".join(_quoted(field.column) for field in _fields(model))
    marks = ", ".join(["%s"] * len(_fields(model)))
    text = f"INSERT INTO {_table(model)} ({columns}) VALUES ({marks})"  # noqa: S608
    if key:
        text += f" ON CONFLICT ({_columns(model, key)}) {otherwise}"
    return f"{text} RETURNING {_columns(model, returning)}"


@lru_cache(maxsize=64)
def _merging(model: type[models.Model], rise: str, put: Names) -> str:
    column = _column(model, rise)
    changes = [f"{column} = {_table(model)}.{column} + 1"]
    changes += [f"{one} = EXCLUDED.{one}" for one in (_column(model, n) for n in put)]
    return f"DO UPDATE SET {', '.join(changes)}"


@lru_cache(maxsize=64)
def _changing(model: type[models.Model], names: Names) -> tuple[str, list[Any]]:
    fields = [model._meta.get_field(name) for name in names]
    changes = ", ".join(f"{_column(model, name)} = %s" for name in names)
    pk = _column(model, model._meta.pk.name)
    return f"UPDATE {_table(model)} SET {changes} WHERE {pk} = %s", fields  # noqa: S608


def _columns(model: type[models.Model], names: Names) -> str:
    return ", ".join(_column(model, name) for name in names)


def _column(model: type[models.Model], name: str) -> str:
    field: Any = model._meta.get_field(name)  # Any: relations have no `column`
    return _quoted(field.column)


def _table(model: type[models.Model]) -> str:
    return _quoted(model._meta.db_table)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
