"""How much room runs take, all tables and indexes counted.

    python -m tests.benchmarks.bench_disk [--runs N] [--database postgresql]

Once without failures, where only results are stored, and once with 59 failures a run
whose texts were never seen before. The names of the test cases are stored once; the
figures are of all runs after the first, and beside them stands what the first one took.
Body files are not counted: they are kept as they were sent, for as long as is chosen.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Grown:
    """By how many bytes the database grew: by the first run, by all later ones."""

    first: int
    later: int
    later_vacuumed: int


def fill(slug: str, *, runs: int, failures: int) -> Grown:
    fed = feeding.make_project(slug)

    def run(number: int) -> None:
        feeding.send(fed, number, shape=Shape(failures=failures, seed=number + 1))
        feeding.work()

    vacuum()
    before = size()
    run(0)
    vacuum()
    first = size()
    for number in range(1, runs + 1):
        run(number)
    feeding.finish_days()
    later = size()
    vacuum()
    return Grown(first - before, later - first, size() - first)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=60)
    options.add_argument("--database", default=installation.SQLITE)
    chosen = options.parse_args()
    runs, results = chosen.runs, chosen.runs * Shape().tests
    plain = fill("acme/plain", runs=runs, failures=0)
    texts = fill("acme/texts", runs=runs, failures=59)
    whole = plain.first + plain.later
    each = "a result, no failures"
    text = "a run with 59 texts"
    in_mb = runs * MEGABYTE
    figures = [
        Figure(each, plain.later / results, "bytes", most=4),
        Figure(f"{each}, vacuumed", plain.later_vacuumed / results, "bytes", most=4),
        Figure(f"{each}, with all names", whole / results, "bytes"),
        Figure("the first run, a test case", plain.first / Shape().tests, "bytes"),
        Figure(text, texts.later / in_mb, "MB", most=0.15),
        Figure(f"{text}, vacuumed", texts.later_vacuumed / in_mb, "MB", most=0.15),
    ]
    tables.show(f"Room for {runs} runs more, {chosen.database}", figures)


if __name__ == "__main__":
    main()
