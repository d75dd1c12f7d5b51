"""A report's way into the store, beside tools that are installed for this only.

    python -m venv /some/where && /some/where/bin/pip install flakebox==0.4.4
    python -m tests.benchmarks.bench_peers --flakebox /some/where/bin/flakebox

The same files, in turn. flakebox: the whole command, as it is used in CI. Ours: what
the worker process takes from the claim to the rebuilt day.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from tests.benchmarks import installation

installation.install()

from tests.benchmarks import feeding, tables  # noqa: E402 - as set up above
from tests.benchmarks.reports import Shape, write  # noqa: E402
from tests.benchmarks.tables import Figure  # noqa: E402


def by_flakebox(program: Path, database: Path, report: Path, commit: str) -> float:
    """Return the seconds that recording a report took."""
    command = [str(program), "--db", str(database), "record", f"--junit={report}"]
    started = time.perf_counter()
    subprocess.run([*command, f"--commit={commit}"], check=True, capture_output=True)
    return time.perf_counter() - started


def by_worker() -> float:
    with tables.spending() as spent:
        feeding.work()
        feeding.finish_days()
    return spent.wall


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--flakebox", type=Path, required=True)
    options.add_argument("--rounds", type=int, default=15)
    chosen = options.parse_args()
    fed = feeding.make_project()
    ours, theirs = [], []
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
    mine, other = tables.median(ours[1:]), tables.median(theirs[1:])
    tables.show(
        "A report of 12,141 cases, wall time",
        [
            Figure("the worker", mine * 1000, "ms"),
            Figure("flakebox record", other * 1000, "ms"),
            Figure("ours in theirs", mine / other, most=0.6),
        ],
    )


if __name__ == "__main__":
    main()
