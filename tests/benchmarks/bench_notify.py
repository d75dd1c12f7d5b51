"""Many events to many endpoints of which half fail, and how soon a leaker is told of.

    python -m tests.benchmarks.bench_notify [--events N] [--endpoints N] [--rounds N]

The soak runs the stages in this process against receivers of another one: flat memory,
nothing lost, each id once. The latency is that of a real `serve`: from the post of a
run of 12,000 tests with a gate's payload until `leaker.new` has arrived.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from tests.benchmarks import installation, tables
from tests.benchmarks.reports import Shape, report
from tests.benchmarks.tables import Figure
from tests.benchmarks.visiting import Visitor
from tests.receiving import receiving
from tests.sending import Upload
from tests.services.serving import prepared, serving

PIECES = 10


def receivers(count: int, pipe: Any) -> None:
    """Serve in a process of its own: every second path fails until it is told."""
    seen: Counter[tuple[str, str]] = Counter()
    guard, healed = threading.Lock(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            fails = int(self.path[1:]) % 2 and not healed.is_set()
            if not fails:
                with guard:
                    seen[self.path, json.loads(body)["id"]] += 1
            self.send_response(500 if fails else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pipe.send(server.server_address[1])
    pipe.recv()
    healed.set()
    pipe.send(True)
    pipe.recv()
    paths = Counter(path for path, _ in seen)
    pipe.send([[paths[f"/{n}"] for n in range(count)], max(seen.values())])


def soak(events: int, endpoints: int) -> list[Figure]:
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=receivers, args=(endpoints, theirs), daemon=True)
    process.start()
    port = ours.recv()
    project = _subscribe(port, endpoints)
    memory, started = [], time.perf_counter()
    for piece in range(PIECES):
        _tell(project, piece * (events // PIECES), events // PIECES)
        _drain()
        memory.append(_resident())
        tables.say(f"{piece + 1}/{PIECES}: {memory[-1]:.0f} MB")
    healthy = time.perf_counter() - started
    ours.send(True)
    ours.recv()
    while _hurry():
        _drain()
    ours.send(True)
    got, most = ours.recv()
    total = events // PIECES * PIECES
    return [
        Figure("events", total),
        Figure("deliveries that arrived", sum(got), least=total * endpoints),
        Figure("events missing at the worst endpoint", total - min(got), most=1),
        Figure("most times that one arrived", most, most=2),
        Figure("deliveries a second, half of them failing", sum(got) / 2 / healthy),
        Figure("memory, first tenth to last", memory[-1] - memory[0], "MB", most=30),
    ]


def _subscribe(port: int, endpoints: int) -> Any:
    from django.conf import settings
    from django.core.management import call_command

    from notify import endpoints as making
    from projects.creation import create_project

    call_command("migrate", verbosity=0)
    settings.HEALTHBOARD_WEBHOOK_ALLOW = [ip_network("127.0.0.0/8")]
    project = create_project("acme/app", actor="bench").project
    for n in range(endpoints):
        url = f"http://127.0.0.1:{port}/{n}"
        wanted = making.Wanted(url, folds=False)
        making.create(project, wanted, actor="bench")
    return project


def _tell(project: Any, first: int, count: int) -> None:
    from django.db import transaction
    from django.utils import timezone

    from notify.models import EventType
    from notify.outbox import write_event

    with transaction.atomic():
        for n in range(first, first + count):
            write_event(
                project.pk,
                EventType.UNBLOCKED,
                f"{n}",
                occurred_at=timezone.now(),
                data={"number": n},
            )


def _drain() -> None:
    from healthboard.pipeline import BY_NAME, drain

    while drain(BY_NAME["events"]) + drain(BY_NAME["deliver"]):
        pass


def _hurry() -> int:
    """Let the time of every next try have come; return how many wait."""
    from django.utils import timezone

    from notify.models import Delivery, Endpoint

    Endpoint.objects.update(held_until=None)
    return Delivery.objects.exclude(due_at=None).update(due_at=timezone.now())


def _resident() -> float:
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def latency(rounds: int) -> list[Figure]:
    spent = []
    with (
        receiving() as receiver,
        tempfile.TemporaryDirectory(prefix="healthboard-bench-") as folder,
        serving(
            prepared(Path(folder, "data")), HEALTHBOARD_WEBHOOK_ALLOW="127.0.0.0/8"
        ) as server,
    ):
        client = Visitor(server.port, token=server.client().token)
        hook = {"url": receiver.url, "events": ["leaker.new"]}
        path = "/api/v1/projects/acme/app/webhooks"
        _post(server, path, hook)
        for n in range(rounds):
            body = _leaking(n)
            started = time.perf_counter()
            client.send(body)
            _until(lambda wanted=n + 1: len(receiver.received) >= wanted)
            spent.append(time.perf_counter() - started)
    return [
        Figure("leaker.new after the post, median", tables.median(spent), "s", most=5),
        Figure("leaker.new after the post, slowest", max(spent), "s", most=5),
    ]


def _leaking(n: int) -> bytes:
    leak = {
        "test": f"tests/test_leak.py::test_{n}",
        "kind": "env.set",
        "items": ["HOME"],
    }
    gate = {"schema": "healthboard.gate/1", "gate": "env", "leaks": [leak]}
    context = {"run": f"r{n}", "branch": "main"}
    files = [
        ("junit", "report.xml", report(Shape(tests=12_000, seed=n))),
        ("gate", "gate.json", json.dumps(gate).encode()),
    ]
    return Upload(context=context, files=files).body


def _post(server: Any, path: str, body: dict[str, Any]) -> None:
    import urllib.request

    headers = {
        "Authorization": f"Bearer {server.client().token}",
        "Content-Type": "application/json",
    }
    asked = urllib.request.Request(
        server.address + path, json.dumps(body).encode(), headers
    )
    with urllib.request.urlopen(asked, timeout=30) as answer:
        assert answer.status == 201


def _until(condition: Any) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--events", type=int, default=10_000)
    options.add_argument("--endpoints", type=int, default=20)
    options.add_argument("--rounds", type=int, default=5)
    chosen = options.parse_args()
    figures = latency(chosen.rounds) if chosen.rounds else []
    installation.install()
    figures += soak(chosen.events, chosen.endpoints)
    tables.show("Telling people", figures)


if __name__ == "__main__":
    main()
