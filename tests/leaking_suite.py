"""Seeded histories of a small suite as CI would send them: JUnit and order traces."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.history import State, make_run
from healthboard.pipeline import drain_all
from tests.histories import Leak, World, simulate
from tests.sending import Upload, bearer, post

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analysis.history import History, Run
    from projects.creation import Created

FILE = 20
OUTCOMES = {State.PASSED: "passed", State.FAILED: "failed", State.UNOBSERVED: "xfailed"}
# One leaker with three victims, and one test that flakes, among sixty.
LEAKER, VICTIMS, FLAKE = 4, (11, 25, 38), 50
WORLD = World(60, leaks=(Leak((LEAKER,), VICTIMS),), flakes={FLAKE: 0.3})


def nodeid(test: int) -> str:
    return f"tests/test_{test // FILE}.py::test_{test:02}"


def story(seed: int = 1, *, runs: int = 40, **options: Any) -> History:
    """What happened; two runs of each commit, so that a flake can be told."""
    rng = np.random.default_rng(seed)
    return simulate(WORLD, rng, runs=runs, commits=runs // 2, **options)


def junit(run: Run) -> bytes:
    cases = []
    for test, state in zip(run.tests.tolist(), run.states.tolist(), strict=True):
        child = '<failure message="state is dirty"/>' if state == State.FAILED else ""
        cases.append(
            f'<testcase classname="tests.test_{test // FILE}" name="test_{test:02}"'
            f' time="0.5">{child}</testcase>'
        )
    return f'<testsuite name="pytest">{"".join(cases)}</testsuite>'.encode()


def report(failing: set[int], *, tests: int = 60) -> bytes:
    """A report of the suite in which just these failed."""
    states = [
        State.FAILED if test in failing else State.PASSED for test in range(tests)
    ]
    return junit(make_run([list(enumerate(states))]))


def in_order(tests: list[int], *, failing: set[int]) -> Run:
    """A run of these tests in one process, in this order."""
    states = [State.FAILED if test in failing else State.PASSED for test in tests]
    return make_run([list(zip(tests, states, strict=True))])


def trace(run: Run) -> bytes:
    lines = []
    for process in range(run.processes):
        start, stop = run.offsets[process], run.offsets[process + 1]
        for place in range(start, stop):
            line = {
                "v": 1,
                "test": nodeid(int(run.tests[place])),
                "worker": f"gw{process}",
                "pid": 100 + process,
                "position": place - int(start),
                "start": 1_000.0 + place - int(start),
                "duration": 0.5,
                "outcome": OUTCOMES[State(int(run.states[place]))],
                "phase": "call",
            }
            lines.append(json.dumps(line))
    return "\n".join(lines).encode()


def uploads(
    history: History, *, start: datetime, traced: bool = True
) -> Iterator[Upload]:
    """One upload a run, an hour after the other."""
    for number, run in enumerate(history.runs):
        at = start + timedelta(hours=number)
        context = {
            "run": f"ci-{number}",
            "branch": "main",
            "commit": f"{run.commit:040x}",
            "started_at": at.isoformat(),
        }
        files = [("junit", "junit.xml", junit(run))]
        if traced:
            files.append(("order", "order.jsonl", trace(run)))
        yield Upload(context, files)


def send_all(created: Created, history: History, **options: Any) -> None:
    """Post a history; nothing is processed yet."""
    for upload in uploads(history, **options):
        answer = post(upload, bearer(created.token))
        assert answer.status_code == 202, answer.content


GATED = {
    "schema": "healthboard.gate/1",
    "gate": "ours",
    "leaks": [
        {
            "test": nodeid(7),
            "kind": "sys_modules.removed",
            "items": ["shop.cart"],
            "recipe": "put them back",
        }
    ],
}


def send_gate(acme: Created, *, run: str = "gated", drain: bool = True) -> None:
    """Send what a gate said of test 7, and process it."""
    context = {"run": run, "branch": "main", "commit": "d" * 40, "pr": 7}
    raw = json.dumps(GATED).encode()
    answer = post(Upload(context, [("gate", "gate.json", raw)]), bearer(acme.token))
    assert answer.status_code == 202, answer.content
    if drain:
        drain_all()
