"""Storing parsed results beside one row a result, in turn, on the same database.

    python -m tests.benchmarks.bench_storing [--rounds N] [--database postgresql]

Wall time from the parsed report to the commit. Ours makes blocks, failures and the
run's summary; the peers make rows, and no failures. No texts: no peer stores them.
"""

from __future__ import annotations

import argparse
import io
from collections import defaultdict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tests.benchmarks import installation

installation.install()

from django.db import transaction  # noqa: E402 - as set up above
from django.utils import timezone  # noqa: E402

from formats.assembly import assemble  # noqa: E402
from formats.context import Context  # noqa: E402
from formats.cycles import no_collections  # noqa: E402
from formats.junit import read_junit  # noqa: E402
from results import recording  # noqa: E402
from tests.benchmarks import feeding, row_peers, tables  # noqa: E402
from tests.benchmarks.reports import Shape, report  # noqa: E402
from tests.benchmarks.tables import Figure  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.report import Contribution
    from projects.models import Project


def parsed(seed: int, tests: int) -> Contribution:
    reading = read_junit(io.BytesIO(report(Shape(tests=tests, seed=seed))))
    contribution = assemble([("junit", "report.xml", reading)])
    results = [one._replace(message="", text="") for one in contribution.results]
    return replace(contribution, results=results)


def as_blocks(project: Project, run: int, contribution: Contribution) -> None:
    prepared = recording.prepare(
        project,
        upload_id=run,
        received_at=timezone.now(),
        context=Context(run=f"ci-{run}", branch="main"),
        contribution=contribution,
        kinds=["junit"],
        file_digests=[str(run)],
    )
    with transaction.atomic():
        recording.store(prepared)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=12)
    options.add_argument("--database", default=installation.SQLITE)
    options.add_argument("--tests", type=int, default=12_141)
    chosen = options.parse_args()
    project = feeding.make_project().project
    row_peers.make_table()
    ways: dict[str, Callable[[Project, int, Contribution], None]] = {
        "blocks": as_blocks,
        "bulk_create": row_peers.by_bulk_create,
    }
    if chosen.database == installation.POSTGRESQL:
        ways["COPY"] = row_peers.by_copy
    spent: dict[str, list[float]] = defaultdict(list)
    for number in range(1, chosen.rounds + 2):
        contribution = parsed(number, chosen.tests)
        for name, store in ways.items():
            work = partial(store, project, number, contribution)
            with no_collections(), tables.spending() as took:
                work()
            spent[name].append(took.wall)
    medians = {name: tables.median(times[1:]) for name, times in spent.items()}
    figures = [
        Figure(f"{name}, a report", seconds * 1000, "ms")
        for name, seconds in medians.items()
    ]
    limits = {"bulk_create": 15, "COPY": 3}
    figures += [
        Figure(f"times as fast as {name}", medians[name] / medians["blocks"], least=n)
        for name, n in limits.items()
        if name in medians
    ]
    tables.show(f"Storing {chosen.tests:,} parsed results, {chosen.database}", figures)


if __name__ == "__main__":
    main()
