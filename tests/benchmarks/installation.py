"""A throw-away Healthboard for a benchmark: its data directory, database and project.

`install()` comes before any model is imported. With DATABASE_URL the facts go to a
new database of that server, else into SQLite as `serve` sets it up.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import django

from tests.services import databases, postgres

POSTGRESQL = "postgresql"
SQLITE = "sqlite"
_ending = ExitStack()
atexit.register(_ending.close)


def install(*, kept: Path | None = None) -> Path:
    """Set up Django on an empty installation, or one that is kept between calls.

    `--database postgresql` among the arguments of the process chooses the real one.
    """
    data = kept or Path(tempfile.mkdtemp(prefix="healthboard-bench-"))
    data.mkdir(parents=True, exist_ok=True)
    (data / "static").mkdir(exist_ok=True)  # whitenoise minds its absence
    if kept is None:
        _ending.callback(shutil.rmtree, data, ignore_errors=True)
    address = ""
    if POSTGRESQL in sys.argv:
        address = _ending.enter_context(databases.fresh(postgres.url()))
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "healthboard.settings",
        "HEALTHBOARD_DATA": str(data),
        "DATABASE_URL": address,
        "REDIS_URL": "",
        "SECRET_KEY": "for benchmarks only",
        "ALLOWED_HOSTS": "*",
        "HEALTHBOARD_RATE": "0",
        "LOG_LEVEL": "WARNING",
    }
    django.setup()
    return data
