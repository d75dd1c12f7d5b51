"""How long until an upload is accepted, and until it is visible on its run's page.

    python -m tests.benchmarks.bench_inbox [--rounds N]

A real `serve` with its web and worker processes; the clients are this process. Visible
means: posted, processed, and the run's page was read with its count of tests on it.
"""

from __future__ import annotations

import argparse
import gzip
import re
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import tables
from tests.benchmarks.reports import Shape, report
from tests.benchmarks.tables import Figure, percentile
from tests.benchmarks.visiting import Visitor
from tests.sending import Upload
from tests.services.serving import serving

if TYPE_CHECKING:
    from tests.services.serving import Serve

CLIENTS = 8
A_SECOND = 2.0
START = "2026-03-02T10:{:02}:{:02}+00:00"


def body(number: int, shape: Shape) -> bytes:
    context = {
        "run": f"ci-{number}",
        "branch": "main",
        "started_at": START.format(number // 60 % 60, number % 60),
    }
    files = [("junit", "report.xml", report(shape))]
    return Upload(context=context, files=files).body


def visible(server: Serve, *, tests: int, rounds: int, first: int) -> list[float]:
    """Seconds from the post to the read page, of each round."""
    token = server.client().token
    found = re.search(r"Sign in as admin with (\S+)", server.text)
    assert found
    person, client = Visitor(server.port), Visitor(server.port, token=token)
    person.sign_in(found[1], origin=server.address)
    spent = []
    for number in range(first, first + rounds + 1):
        upload = body(number, Shape(tests=tests, seed=number))
        started = time.perf_counter()
        run = client.run_of(client.send(upload))
        status, page = person.ask("GET", f"/p/acme/app/runs/{run}")
        spent.append(time.perf_counter() - started)
        assert status == 200
        assert f"{tests:,}".encode() in page
        time.sleep(0.5)
    return spent[1:]  # the first one makes the test cases


def accepted(server: Serve, *, posts: int, first: int, encoding: str) -> list[float]:
    """Seconds that each post took, two a second over eight clients in turn."""
    token = server.client().token
    bodies = [body(first + n, Shape(seed=first + n)) for n in range(posts)]
    if encoding:
        bodies = [gzip.compress(one, 6) for one in bodies]
    spent: list[float] = [0.0] * posts
    start = time.perf_counter() + 1

    def client(place: int) -> None:
        visitor = Visitor(server.port, token=token)
        for number in range(place, posts, CLIENTS):
            time.sleep(max(0.0, start + number / A_SECOND - time.perf_counter()))
            begun = time.perf_counter()
            visitor.send(bodies[number], encoding=encoding)
            spent[number] = time.perf_counter() - begun

    threads = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return spent


def _in_ms(values: list[float], share: float) -> float:
    return percentile(values, share) * 1000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--posts", type=int, default=80)
    chosen = options.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="healthboard-bench-") as folder,
        serving(Path(folder, "data")) as server,
    ):
        usual = visible(server, tests=12_141, rounds=chosen.rounds, first=1_000)
        figures = [
            Figure("12,141 cases visible, median", tables.median(usual), "s", most=0.3),
            Figure("12,141 cases visible, slowest", max(usual), "s"),
        ]
        large = visible(server, tests=100_000, rounds=3, first=2_000)
        name = "100,000 cases visible, median"
        figures.append(Figure(name, tables.median(large), "s", most=3))
        limits = {"": (70, 150), "gzip": (15, 60)}
        for place, (encoding, (middle, rare)) in enumerate(limits.items()):
            first = 3_000 + 1_000 * place
            spent = accepted(server, posts=chosen.posts, first=first, encoding=encoding)
            name = f"accepted, {encoding or 'raw'}"
            figures += [
                Figure(f"{name}, p50", _in_ms(spent, 0.5), "ms", most=middle),
                Figure(f"{name}, p99", _in_ms(spent, 0.99), "ms", most=rare),
            ]
    tables.show("The inbox of `serve`", figures)


if __name__ == "__main__":
    main()
