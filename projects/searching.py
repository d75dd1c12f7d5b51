"""`icontains` that knows every letter's case, on both databases.

Guarantees: SQLite's LIKE knows the case of ASCII letters alone; what is asked with
another letter is compared there by Unicode's case folding, as PostgreSQL does by UPPER.
What is asked in ASCII keeps the database's own, faster way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.backends.signals import connection_created
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.db.models import Field
from django.db.models.lookups import IContains

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler

_FUNCTION = "FOLDED_CONTAINS"


class FoldedContains(IContains):
    """Stands for Django's `icontains` of every field."""

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> tuple[str, list[str | int]]:
        if not isinstance(self.rhs, str) or self.rhs.isascii():
            sql, params = self.as_sql(compiler, connection)
            return sql, list(params)
        lhs, params = self.process_lhs(compiler, connection)
        return f"{_FUNCTION}({lhs}, %s)", [*params, self.rhs.casefold()]


def install() -> None:
    """Take Django's place, and teach each new connection to SQLite."""
    Field.register_lookup(FoldedContains)
    connection_created.connect(_teach, sender=DatabaseWrapper)


def _teach(connection: BaseDatabaseWrapper, **_: Any) -> None:  # Any: a signal's rest
    connection.connection.create_function(_FUNCTION, 2, _contains, deterministic=True)


def _contains(text: str | None, folded: str) -> bool | None:
    return None if text is None else folded in str(text).casefold()
