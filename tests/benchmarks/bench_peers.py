"""A report's way into the store, beside tools that are installed for this only.

    python -m venv /some/where && /some/where/bin/pip install flakebox==0.4.4
    python -m tests.benchmarks.bench_peers --flakebox /some/where/bin/flakebox

The same files, in turn. flakebox: the whole command, as it is used in CI. Ours: what
the worker process takes from the claim to the rebuilt day.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

from tests.benchmarks import installation

installation.install()

from tests.benchmarks import feeding, tables  # noqa: E402 - as set up above
from tests.benchmarks.reports import Shape, write  # noqa: E402
from tests.benchmarks.tables import Figure, Spent  # noqa: E402


def by_flakebox(program: Path, database: Path, report: Path, commit: str) -> Spent:
    """Return what recording a report took, as a whole process."""
    command = [str(program), "--db", str(database), "record", f"--junit={report}"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tables.spending() as spent:
        subprocess.run(
            [*command, f"--commit={commit}"], check=True, capture_output=True
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    spent.cpu = user + system
    return spent


def by_worker() -> Spent:
    with tables.spending() as spent:
        feeding.work()
        feeding.finish_days()
    return spent


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--flakebox", type=Path, required=True)
    options.add_argument("--rounds", type=int, default=15)
    chosen = options.parse_args()
    fed = feeding.make_project()
    ours: list[Spent] = []
    theirs: list[Spent] = []
    with tempfile.TemporaryDirectory(prefix="healthboard-bench-") as folder:
        for number in range(chosen.rounds + 1):
            shape = Shape(seed=number + 1)
            report = write(Path(folder, "report.xml"), shape)
            feeding.send(fed, number, shape=shape)
            ours.append(by_worker())
            database = Path(folder, "flakebox.db")
            theirs.append(
                by_flakebox(chosen.flakebox, database, report, f"sha{number}")
            )
    wall = [tables.median([one.wall for one in some[1:]]) for some in (ours, theirs)]
    cpu = [tables.median([one.cpu for one in some[1:]]) for some in (ours, theirs)]
    tables.show(
        "A report of 12,141 cases",
        [
            Figure("the worker, wall", wall[0] * 1000, "ms"),
            Figure("flakebox record, wall", wall[1] * 1000, "ms"),
            Figure("ours in theirs, wall", wall[0] / wall[1], most=0.6),
            Figure("ours in theirs, CPU", cpu[0] / cpu[1], most=0.6),
        ],
    )


if __name__ == "__main__":
    main()
