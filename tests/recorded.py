"""Recorded order traces and their labels, for tests and benchmarks alone.

The labels are read here and nowhere else: the method never sees them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any  # one line of JSON holds anything

import numpy as np

from analysis.history import History, Run, State, state_of

POLLUTERS = Path(__file__).resolve().parents[2] / "shared" / "polluters"
REAL = ("breathe", "crom", "httpproblem", "krllint")
INJECTED = ("knack-inj",)


@dataclass(frozen=True)
class Suite:
    """A recorded suite: history, names, and the labels for judging the judge.

    truth  victim number -> (type, numbers of proven leakers or setters)
    """

    name: str
    history: History
    nodeids: tuple[str, ...]
    truth: dict[int, tuple[str, frozenset[int]]]


def load_suite(name: str) -> Suite:
    folder = POLLUTERS / name
    traces = [
        [json.loads(line) for line in path.read_text().splitlines()]
        for path in sorted((folder / "runs").glob("*.jsonl"))
    ]
    nodeids = tuple(sorted({line["test"] for trace in traces for line in trace}))
    number = {nodeid: index for index, nodeid in enumerate(nodeids)}
    history = History(
        runs=tuple(_run(trace, number) for trace in traces),
        n_tests=len(nodeids),
        files=_numbered([nodeid.split("::")[0] for nodeid in nodeids]),
        folders=_numbered(
            [nodeid.split("::")[0].rpartition("/")[0] for nodeid in nodeids]
        ),
    )
    labels = json.loads((folder / "labels.json").read_text())["labels"]
    truth = {
        number[label["victim"]]: (label["type"], _causes(label, number))
        for label in labels
    }
    return Suite(name=name, history=history, nodeids=nodeids, truth=truth)


def _numbered(names: list[str]):
    known = {name: index for index, name in enumerate(sorted(set(names)))}
    return np.array([known[name] for name in names], dtype=np.int32)


def _causes(label: dict[str, Any], number: dict[str, int]) -> frozenset[int]:
    names = set(label.get("polluters", [])) | set(label.get("setters", []))
    for group in label.get("multi", []):
        names.update(group["set"])
    return frozenset(number[name] for name in names)


def _run(trace: list[dict[str, Any]], number: dict[str, int]) -> Run:
    processes: dict[tuple[str, int], list[tuple[int, State, float, float]]] = {}
    for line in sorted(trace, key=lambda line: line["start"]):
        state = state_of(line["outcome"], phase=line["phase"])
        if state is not None:
            row = (number[line["test"]], state, line["start"], line["duration"])
            processes.setdefault((line["worker"], line["pid"]), []).append(row)
    rows = [row for process in processes.values() for row in process]
    lengths = [len(process) for process in processes.values()]
    starts = np.array([row[2] for row in rows])
    return Run(
        tests=np.array([row[0] for row in rows], dtype=np.int32),
        states=np.array([row[1] for row in rows], dtype=np.int8),
        offsets=np.concatenate(([0], np.cumsum(lengths))).astype(np.int32),
        starts=starts,
        stops=starts + np.array([row[3] for row in rows]),
    )
