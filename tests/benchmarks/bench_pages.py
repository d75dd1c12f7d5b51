"""How long pages and API reads take on ten million results in SQLite.

    python -m tests.benchmarks.bench_pages [--data DIRECTORY] [--asks N]

Server time: a request through all of Django in this process, signed in, each for
another test or run. The database is built first where the directory has none. The
number of queries must be the same for all requests of a line.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import installation

_options = argparse.ArgumentParser(description=__doc__)
_options.add_argument("--data", type=Path)
_options.add_argument("--runs", type=int, default=800)
_options.add_argument("--asks", type=int, default=60)
CHOSEN = _options.parse_args()
_folder = tempfile.TemporaryDirectory(prefix="healthboard-bench-")
DATA = CHOSEN.data or Path(_folder.name, "data")
if not (DATA / "healthboard.db").exists():
    command = ["-m", "tests.benchmarks.million", "--data", str(DATA)]
    command += ["--runs", str(CHOSEN.runs)]
    subprocess.run([sys.executable, *command], check=True)
installation.install(kept=DATA)

from django.contrib.auth.models import User  # noqa: E402 - as set up above
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from healthboard import collected  # noqa: E402
from results.models import Block, Run, TestCase  # noqa: E402
from tests.benchmarks import tables  # noqa: E402
from tests.benchmarks.tables import Figure, percentile  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT_MS = 150
PAGE, API = "/p/acme/app/", "/api/v1/"
WORDS = ("basket", "cursor", "parcel", "expires", "queue-", "number_3")


def addresses(rng: random.Random) -> dict[str, Callable[[], str]]:
    """What is asked, by its name in the table."""
    cases = list(TestCase.objects.values_list("pk", "nodeid"))
    runs = list(Run.objects.values_list("pk", flat=True))

    def case() -> int:
        return int(rng.choice(cases)[0])

    def run() -> int:
        return int(rng.choice(runs))

    def word() -> str:
        return rng.choice(WORDS)

    return {
        "projects": lambda: "/",
        "project": lambda: f"{PAGE}?window={rng.choice((7, 14, 30, 90))}",
        "runs": lambda: f"{PAGE}runs",
        "run": lambda: f"{PAGE}runs/{run()}",
        "run's results": lambda: f"{PAGE}runs/{run()}/results",
        "run, compared": lambda: f"{PAGE}runs/{run()}/compare",
        "tests": lambda: f"{PAGE}tests",
        "tests, filtered": lambda: f"{PAGE}tests?q={word()}",
        "test and its history": lambda: f"{PAGE}tests/{case()}",
        "uploads": lambda: f"{PAGE}uploads",
        "search": lambda: f"{PAGE}search?q={word()}",
        "API: runs": lambda: f"{API}projects/acme/app/runs",
        "API: run": lambda: f"{API}runs/{run()}",
        "API: results": lambda: f"{API}runs/{run()}/results",
        "API: tests": lambda: f"{API}projects/acme/app/tests",
        "API: test": lambda: f"{API}tests/{case()}",
        "API: history": lambda: f"{API}tests/{case()}/history",
        "API: history, 500": lambda: f"{API}tests/{case()}/history?limit=500",
        "API: status": lambda: f"{API}projects/acme/app/status",
        "API: trend": lambda: f"{API}projects/acme/app/trends?metric=pass_rate",
    }


def measure(
    client: Client, address: Callable[[], str]
) -> tuple[list[float], list[float], set[int]]:
    """Return wall and CPU milliseconds, and the numbers of queries that were seen."""
    walls, cpus, counts = [], [], set()
    for number in range(CHOSEN.asks + 1):
        path = address()
        with tables.spending() as spent:
            answer = client.get(path)
            assert answer.status_code == 200, (path, answer.status_code)
        if number:  # the first request loads templates
            walls.append(spent.wall * 1000)
            cpus.append(spent.cpu * 1000)
    for _ in range(5):
        with CaptureQueriesContext(connection) as captured:
            client.get(address())
        counts.add(len(captured))
    return walls, cpus, counts


def main() -> None:
    collected.collect()
    user, _ = User.objects.get_or_create(username="reader", is_superuser=True)
    client = Client()
    client.force_login(user)
    tables.say(f"\n{Block.objects.count():,} blocks, {Run.objects.count():,} runs\n")
    tables.say("| page | p50 ms | p95 ms | CPU p95 ms | queries | |")
    tables.say("|---|---:|---:|---:|---:|---|")
    for name, address in addresses(random.Random(3)).items():
        walls, cpus, counts = measure(client, address)
        p95 = Figure(name, percentile(walls, 0.95), "ms", most=LIMIT_MS)
        shown = " or ".join(map(str, sorted(counts)))
        middle, cpu = percentile(walls, 0.5), percentile(cpus, 0.95)
        figures = f"{middle:.0f} | {p95.value:.0f} | {cpu:.0f} | {shown}"
        tables.say(f"| {name} | {figures} | {p95.verdict} |")


if __name__ == "__main__":
    main()
