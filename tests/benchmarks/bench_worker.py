"""How many results a second one worker process stores, end to end.

    python -m tests.benchmarks.bench_worker [--reports N] [--database postgresql]

What the worker does with a queue of reports, in CPU time of its process: read, parse,
identify, blocks, failures, days; ten runs a day, none of the failures seen before.
"""

from __future__ import annotations

import argparse

from tests.benchmarks import installation

installation.install()

from tests.benchmarks import feeding, tables  # noqa: E402 - needs what is set up above
from tests.benchmarks.reports import Shape  # noqa: E402
from tests.benchmarks.tables import Figure  # noqa: E402

WARM = 3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--reports", type=int, default=30)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--tests", type=int, default=12_141)
    options.add_argument("--database", default=installation.SQLITE)
    chosen = options.parse_args()
    fed = feeding.make_project()
    rates, walls = [], []
    for start in range(WARM):
        feeding.send(fed, start, shape=Shape(tests=chosen.tests, seed=1_000 + start))
    feeding.work()
    number = 10
    for _ in range(chosen.rounds):
        for _ in range(chosen.reports):
            shape = Shape(tests=chosen.tests, seed=number)
            feeding.send(fed, number, shape=shape)
            number += 1
        with tables.spending() as spent:
            feeding.work()
            feeding.finish_days()
        results = chosen.reports * chosen.tests
        rates.append(results / spent.cpu)
        walls.append(results / spent.wall)
    title = f"A queue of {chosen.reports} reports, {chosen.database}"
    best = Figure("the best round, CPU time", max(rates), "results/s")
    tables.show(
        title,
        [
            Figure(
                "end to end, CPU time",
                tables.median(rates),
                "results/s",
                least=100_000,
            ),
            best,
            Figure("end to end, wall time", tables.median(walls), "results/s"),
        ],
    )


if __name__ == "__main__":
    main()
