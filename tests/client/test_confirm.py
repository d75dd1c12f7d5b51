"""`healthboard-ci confirm` on a real suite, in real pytest processes."""

from __future__ import annotations

import json

import pytest

SUITE = """\
state = {"kettle": "cold", "cup": None}

def test_fills(): pass
def test_leaks(): state["kettle"] = "hot"
def test_pours(): state["cup"] = "tea"
def test_stirs(): pass
def test_victim(): assert state["kettle"] == "cold"
def test_brittle(): assert state["cup"] == "tea"
def test_skipped():
    import pytest
    pytest.skip("never")
def test_broken(): assert False
"""
FILE = "test_kitchen.py"


@pytest.fixture
def suite(job):
    """A suite whose settings would spoil each experiment, if they counted."""
    job.write(FILE, SUITE)
    options = "-x -p no:cacheprovider -n 2 --reruns 2 --strict-markers"
    job.write("pytest.ini", f"[pytest]\naddopts = {options}\n")
    job.token = ""
    return job


def _lines(said):
    return [line.replace(f"{FILE}::", "") for line in said.out.splitlines()]


def test_a_leaker_is_confirmed_and_a_bystander_refuted(suite):
    said = suite.ci(
        *("confirm", f"{FILE}::test_victim", "--against"),
        *(f"{FILE}::test_stirs", f"{FILE}::test_leaks", f"{FILE}::test_fills"),
    )
    assert said.code == 0, said.text
    assert _lines(said) == [
        "refuted leaker: test_stirs (by pair: the victim failed in 0 of 1 runs after it)",
        "confirmed leaker: test_leaks (by pair: the victim failed in 2 of 2 runs after it)",
        "  reproduce: pytest -p no:randomly test_leaks test_victim",
        "5 pytest processes (2 candidates, 0 of bisection), 8 test executions",
    ]


def test_nothing_is_left_behind(suite):
    before = {path.name for path in suite.folder.iterdir()}
    suite.ci("confirm", f"{FILE}::test_victim", "--against", f"{FILE}::test_leaks")
    after = {path.name for path in suite.folder.iterdir()}
    assert after - before <= {"__pycache__"}


def test_a_brittle_test_is_told_which_one_it_needs(suite):
    said = suite.ci(
        *("confirm", f"{FILE}::test_brittle", "--against"),
        *(f"{FILE}::test_fills", f"{FILE}::test_pours"),
    )
    assert said.code == 0
    assert _lines(said)[:2] == [
        "refuted setter: test_fills (by pair: the brittle test failed in 1 of 1 runs after it)",
        "confirmed setter: test_pours (by pair: the brittle test failed in 0 of 2 runs after it)",
    ]


def test_an_order_trace_is_bisected(suite):
    names = ("fills", "leaks", "pours", "stirs", "victim", "brittle")
    lines = [
        {"v": 1, "test": f"{FILE}::test_{name}", "worker": "gw0", "pid": 7}
        | {"position": place, "outcome": "passed"}
        for place, name in enumerate(names)
    ]
    other = {**lines[0], "test": f"{FILE}::test_broken", "worker": "gw1", "pid": 8}
    suite.write("order.jsonl", "".join(json.dumps(x) + "\n" for x in [other, *lines]))
    said = suite.ci("confirm", f"{FILE}::test_victim", "--order", "order.jsonl")
    assert said.code == 0, said.text
    assert "confirmed leaker: test_leaks (by bisection" in _lines(said)[0]
    # fills leaks pours stirs; pours stirs; fills leaks; leaks
    assert "(0 candidates, 4 of bisection)" in said.out


@pytest.mark.parametrize(
    ("victim", "code", "words"),
    [
        ("test_skipped", 2, "alone it cannot be run to its end"),
        ("test_missing", 2, "alone it cannot be run to its end"),
        ("test_broken", 1, "no candidate changes how it ends"),
        ("test_fills", 1, "no candidate changes how it ends"),
    ],
)
def test_what_cannot_be_proven_has_an_exit_code(suite, victim, code, words):
    said = suite.ci("confirm", f"{FILE}::{victim}", "--against", f"{FILE}::test_stirs")
    assert said.code == code
    assert words in said.out


def test_a_process_that_dies_in_the_victim_is_a_failure(suite):
    suite.write(
        FILE,
        SUITE.replace(
            'assert state["kettle"] == "cold"',
            '__import__("os")._exit(7) if state["kettle"] == "hot" else None',
        ),
    )
    said = suite.ci(
        "confirm", f"{FILE}::test_victim", "--against", f"{FILE}::test_leaks"
    )
    assert "confirmed leaker: test_leaks" in _lines(said)[0]


def test_a_process_that_hangs_is_ended_and_proves_nothing(suite):
    suite.write(FILE, "import time\ndef test_hangs(): time.sleep(600)\n")
    said = suite.ci(
        *("confirm", f"{FILE}::test_hangs", "--against", f"{FILE}::test_x"),
        *("--timeout", "3", "--repeat", "1"),
    )
    assert said.code in (1, 2)
    assert "confirmed" not in said.out


def test_without_a_server_candidates_or_an_order_are_needed(suite):
    assert suite.ci("confirm", f"{FILE}::test_victim").code == 64


def test_the_server_is_asked_and_told(connected, project):
    """The board's own candidates, and a proof that its page then shows."""
    job = connected
    job.write(FILE, SUITE)
    names = ("fills", "leaks", "pours", "stirs", "victim")
    for number in range(8):
        order = names if number % 2 else ("victim", *names[:4])
        job.write("order.jsonl", "".join(_trace(order)))
        said = job.ci(
            *("upload", "order.jsonl", "--run", f"r{number}", "--commit", f"c{number}"),
            "--strict",
        )
        assert said.code == 0, said.text
    project.settle()
    said = job.ci("confirm", f"{FILE}::test_victim")
    assert said.code == 0, said.text
    assert "confirmed leaker: test_leaks" in said.out.replace(f"{FILE}::", "")
    proofs = project.items(f"{project.path}/victims/{FILE}%3A%3Atest_victim/proofs")
    told = {proof["result"]: proof["leaker"] for proof in proofs}
    [leaker] = project.items(f"{project.path}/tests", nodeid=f"{FILE}::test_leaks")
    assert told["confirmed"] == leaker["id"]


def _trace(order):
    """A run in this order; the victim fails after the leaker."""
    dirty = False
    for place, name in enumerate(order):
        dirty = dirty or name == "leaks"
        failed = name == "victim" and dirty
        line = {"v": 1, "test": f"{FILE}::test_{name}", "worker": "main", "pid": 1}
        line |= {"position": place, "phase": "call", "duration": 0.1}
        yield json.dumps({**line, "outcome": "failed" if failed else "passed"}) + "\n"
