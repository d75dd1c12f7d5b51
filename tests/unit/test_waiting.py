"""Waiting for other processes: the answer, or the words of what did not come."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.waiting import goes_through, until

TESTS = Path(__file__).parents[1]
# The one function; the watchdog of a server; what measures, and so must wait.
MAY_SLEEP = {"waiting.py", "services/guard.py"}


def test_the_first_true_answer_is_returned():
    answers = iter([0, "", None, "here"])
    assert until(lambda: next(answers), every=0) == "here"


def test_what_did_not_come_is_said():
    with pytest.raises(AssertionError, match=r"^not in time: the demo$"):
        until(lambda: False, what="the demo", seconds=0)
    with pytest.raises(AssertionError, match="came to 7"):
        until(lambda: False, what=lambda: "came to 7", seconds=0)


def test_an_attempt_goes_through_or_is_refused_as_named():
    assert goes_through(lambda: None, OSError)
    assert not goes_through(lambda: int("x"), ValueError)
    with pytest.raises(ValueError, match="invalid literal"):
        goes_through(lambda: int("x"), OSError)


def test_no_test_sleeps():
    found = [
        f"{path.relative_to(TESTS)}:{node.lineno}"
        for path in sorted(TESTS.rglob("*.py"))
        if str(path.relative_to(TESTS)) not in MAY_SLEEP
        and "benchmarks" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "time.sleep"
    ]
    assert found == []
