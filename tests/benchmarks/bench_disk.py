"""How much room runs take, all tables and indexes counted.

    python -m tests.benchmarks.bench_disk [--runs N] [--database postgresql]

Once without failures, where only results are stored, and once with 59 failures a run
whose texts were never seen before. What the test cases themselves take is in it too.
The body files are not: they are kept as they were sent, for as long as is chosen.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.benchmarks import installation

DATA = installation.install()

from django.db import connection  # noqa: E402 - as set up above

from tests.benchmarks import feeding, tables  # noqa: E402
from tests.benchmarks.reports import Shape  # noqa: E402
from tests.benchmarks.tables import Figure  # noqa: E402

MEGABYTE = 1e6


def size() -> int:
    """Return the bytes of the whole database."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Path(DATA, "healthboard.db").stat().st_size


def vacuum() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")


def fill(slug: str, *, runs: int, failures: int) -> tuple[int, int]:
    """Return by how much the database grew: as it is, and after a VACUUM."""
    fed = feeding.make_project(slug)
    vacuum()
    before = size()
    for number in range(runs):
        shape = Shape(failures=failures, seed=number + 1)
        feeding.send(fed, number, shape=shape)
        feeding.work()
    feeding.finish_days()
    grown = size() - before
    vacuum()
    return grown, size() - before


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=60)
    options.add_argument("--database", default=installation.SQLITE)
    chosen = options.parse_args()
    runs, results = chosen.runs, chosen.runs * Shape().tests
    plain, packed = fill("acme/plain", runs=runs, failures=0)
    texts, texts_packed = fill("acme/texts", runs=runs, failures=59)
    figures = [
        Figure("a result, no failures", plain / results, "bytes", most=4),
        Figure("a result, no failures, vacuumed", packed / results, "bytes", most=4),
        Figure("a run with 59 texts", texts / runs / MEGABYTE, "MB", most=0.15),
        Figure(
            "a run with 59 texts, vacuumed",
            texts_packed / runs / MEGABYTE,
            "MB",
            most=0.15,
        ),
    ]
    tables.show(f"Room for {runs} runs, {chosen.database}", figures)


if __name__ == "__main__":
    main()
