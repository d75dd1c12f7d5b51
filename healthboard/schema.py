"""Whether the database has exactly the migrations that this process has loaded.

What a process knows is read once: files replaced under it change nothing until it
restarts. A database that moved on makes a worker stop taking work, not fail it.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Count, Max

from healthboard import locks

if TYPE_CHECKING:
    from collections.abc import Set

log = logging.getLogger(__name__)

type Key = tuple[str, str]


class Behind(RuntimeError):
    """The database does not fit this code; the message says what to do."""


@cache
def known() -> tuple[frozenset[Key], frozenset[Key]]:
    """The migrations of this code, and those that they replace."""
    loader = MigrationLoader(None)
    replaced = {key for m in loader.disk_migrations.values() for key in m.replaces}
    return frozenset(loader.disk_migrations), frozenset(replaced)


def newer() -> str:
    """Say that the database knows more than this code; empty if it does not."""
    ours, replaced = known()
    apps = {app for app, _ in ours}
    strange = {key for key in _applied() if key[0] in apps} - ours - replaced
    if not strange:
        return ""
    return f"the database is newer than this code ({_names(strange)}); update the code"


def missing() -> str:
    """Say that the database lacks migrations; empty if it does not."""
    ours, _ = known()
    lacking = ours - _applied()
    return f"the database lacks {_names(lacking)}; run migrate" if lacking else ""


def problem() -> str:
    return newer() or missing()


def bring_up() -> None:
    """Migrate the embedded database if it is behind, one process at a time.

    Raises `Behind` for a database that an operator migrates, and for a newer one.
    """
    if trouble := newer():
        raise Behind(trouble)
    if not missing():
        return
    if not settings.EMBEDDED:
        raise Behind(missing())
    with locks.held(settings.DATA_DIR / "migrate.lock"):
        if missing():
            call_command("migrate", interactive=False, verbosity=0)


def is_current() -> bool:
    """Ask the database, at the cost of one small query; complain when it moved."""
    recorder = MigrationRecorder(connection)
    mark = recorder.migration_qs.aggregate(last=Max("id"), count=Count("id"))
    trouble = _judged(mark["last"], mark["count"])
    if trouble:
        log.error("schema=mismatch taking no work: %s, then restart", trouble)
    return not trouble


@cache
def _judged(last: int | None, count: int) -> str:
    return problem()


def _applied() -> set[Key]:
    return set(MigrationRecorder(connection).applied_migrations())


def _names(keys: Set[Key]) -> str:
    first = ", ".join(".".join(key) for key in sorted(keys)[:3])
    return first if len(keys) <= 3 else f"{first} …"
