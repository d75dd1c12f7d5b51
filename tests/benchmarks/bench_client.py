"""Measures the client: its start, and confirm against bisection on recorded suites.

    python -m tests.benchmarks.bench_client [start proof]

The recorded suites themselves cannot be run here, so their proven labels answer: a
victim fails after one of its leakers unless one of its cleaners ran in between, a
brittle test passes after one of its setters. The candidates are those that the method
ranks from all recorded runs, without the labels.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from analysis.judge import judge_all
from healthboard_client.probing import Ending, Laboratory
from healthboard_client.proving import Search
from tests.recorded import INJECTED, POLLUTERS, REAL, Suite, load_suite

SOURCES = Path(__file__).resolve().parents[2] / "client" / "src"
ROUNDS, TRIES = 15, 10


def say(line: str = "") -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def start() -> None:
    """Wall time of a whole process, beside that of an empty one."""
    say("| start | median ms |")
    say("|---|---:|")
    client = ("-m", "healthboard_client")
    for name, arguments in {
        "an empty Python": ("-c", ""),
        "healthboard-ci --help": (*client, "--help"),
        "healthboard-ci shards (no server)": (
            *(*client, "shards", "--index", "1", "--count", "2"),
            __file__,
        ),
        "healthboard-ci upload --dry-run": (*client, "upload", "--dry-run", __file__),
    }.items():
        say(f"| {name} | {1000 * statistics.median(_timed(arguments)):.0f} |")
    say()


def _timed(arguments: Sequence[str]) -> list[float]:
    from_here = {**os.environ, "PYTHONPATH": str(SOURCES), "HEALTHBOARD_URL": ""}
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments], env=from_here, capture_output=True, check=True
        )
        times.append(time.perf_counter() - began)
    return times


def proof() -> None:
    say(
        "| suite | pairs to prove | proven | first candidate | processes / tests: confirm |"
        " bisection |"
    )
    say("|---|---:|---:|---:|---:|---:|")
    for name in (*REAL, *INJECTED):
        _suite(load_suite(name))


def _suite(suite: Suite) -> None:
    labels = json.loads((POLLUTERS / suite.name / "labels.json").read_text())["labels"]
    ranked = {
        suite.nodeids[one.test]: [suite.nodeids[c.test] for c in one.candidates]
        for one in judge_all(suite.history)
    }
    total = proven = first = 0
    costs = [[0, 0], [0, 0]]
    for label in labels:
        order = _order(suite.name, label)
        if label["type"] not in ("victim", "brittle") or not order:
            continue
        total += 1
        names = list(dict.fromkeys(ranked.get(label["victim"], [])))[:TRIES]
        for place, candidates in enumerate((names, [])):
            lab = Laboratory(_oracle(label))
            search = Search(label["victim"], lab)
            found = search.prove(candidates, lambda kind, order=order: order)
            costs[place][0] += lab.processes
            costs[place][1] += lab.tests
            if place == 0:
                proven += bool(found.confirmed)
                first += bool(found.confirmed) and found.pairs == 1
    cells = [f"{processes} / {tests:,}" for processes, tests in costs]
    say(f"| {suite.name} | {total} | {proven} | {first} | {cells[0]} | {cells[1]} |")


def _oracle(label: dict[str, Any]) -> Callable[[Sequence[str]], Ending]:
    """How the victim ends after these tests, by its proven labels."""
    brittle = label["type"] == "brittle"
    causes = set(_list(label, "setters" if brittle else "polluters"))
    undo = label.get("unsetters" if brittle else "cleaners") or {}
    groups = [set(each["set"]) for each in _list(label, "multi")]

    def run(tests: Sequence[str]) -> Ending:
        live: set[str] = set()
        for test in tests[:-1]:
            live -= {cause for cause in live if test in undo.get(cause, ())}
            live.add(test)
        changed = bool(live & causes) or any(group <= live for group in groups)
        return Ending.FAILED if changed is not brittle else Ending.PASSED

    return run


def _list(label: dict[str, Any], name: str) -> list[Any]:
    return list(label.get(name) or [])


def _order(name: str, label: dict[str, Any]) -> list[str]:
    """What ran before it in the newest run in which it ended as its kind asks."""
    wanted = ("passed",) if label["type"] == "brittle" else ("failed", "error")
    for path in sorted((POLLUTERS / name / "runs").glob("*.jsonl"), reverse=True):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        lines.sort(key=lambda line: line["start"])
        for place, line in enumerate(lines):
            if line["test"] == label["victim"] and line["outcome"] in wanted:
                mine = (line["worker"], line["pid"])
                return [
                    one["test"]
                    for one in lines[:place]
                    if (one["worker"], one["pid"]) == mine
                ]
    return []


if __name__ == "__main__":
    asked = sys.argv[1:] or ["start", "proof"]
    for part in asked:
        {"start": start, "proof": proof}[part]()
