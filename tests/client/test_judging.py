"""What makes a build red, by the reasons that were named: every answer by hand."""

from __future__ import annotations

import pytest

from healthboard_client.judging import Facts, described, judge
from healthboard_client.options import FAIL_ON

EMPTY = ("introduced", "inherited", "inherited_fixed_upstream", "fixed", "unknown")


def _run(**fields):
    return {
        "id": 7,
        "run": "r",
        "outcome": "passed",
        "failed_outside": False,
        "environment": {"os": "linux", "python": "3.12"},
        "started_at": "2026-03-02T10:00:00Z",
        **fields,
    }


def _gate(answer="pass", unquarantined=0, quarantined=(), reasons=("Nothing failed.",)):
    return {
        "answer": answer,
        "unquarantined": unquarantined,
        "quarantined": list(quarantined),
        "reasons": list(reasons),
    }


def _pull(**fields):
    shares = {share: [] for share in EMPTY}
    return {
        "number": 538,
        "verdict": "clear",
        "sentence": "Nothing failed.",
        "leaks": shares,
        "failures": shares,
        "findings": [],
        "blockers": {"direct": [], "order": [], "cycles": []},
        "advice": [],
        **fields,
    }


def _introduced(*nodeids):
    items = [{"test": n, "nodeid": nodeid} for n, nodeid in enumerate(nodeids)]
    return {share: items if share == "introduced" else [] for share in EMPTY}


RED = _gate("fail", 1, reasons=("t.py::a fails.",))
FINDINGS = [
    {"severity": "P0", "state": state, "path": "a.py", "title": f"is {state}"}
    for state in ("open", "reopened", "resolved", "accepted", "won't fix", "fixed")
]


@pytest.mark.parametrize(
    ("facts", "reason", "found"),
    [
        (Facts([_run()], [RED], _pull()), "introduced-failure", []),
        (
            Facts([_run()], [RED], _pull(failures=_introduced("t.py::a"))),
            "introduced-failure",
            ["t.py::a"],
        ),
        (
            Facts(
                [_run()],
                [_gate(quarantined=["t.py::a"])],
                _pull(failures=_introduced("t.py::a")),
            ),
            "introduced-failure",
            [],
        ),
        (Facts([_run()], [RED]), "introduced-failure", ["r: t.py::a fails."]),
        (
            Facts([_run()], [_gate()], _pull(leaks=_introduced("t.py::b"))),
            "introduced-leak",
            ["t.py::b"],
        ),
        (
            Facts(
                [_run()],
                [_gate()],
                leakers=[
                    {"nodeid": "old", "kinds": [], "first_seen": {"run": 6}},
                    {"nodeid": "new", "kinds": ["env.set"], "first_seen": {"run": 7}},
                    {"nodeid": "odd", "kinds": [], "first_seen": None},
                ],
            ),
            "introduced-leak",
            ["new (env.set)"],
        ),
        (Facts([_run()], [RED], _pull()), "failure", ["r: t.py::a fails."]),
        (Facts([_run()], [_gate(quarantined=["t.py::a"])]), "failure", []),
        (
            Facts(
                [_run(failed_outside=True)],
                [_gate("fail", reasons=("The command failed.",))],
            ),
            "failure",
            ["r: The command failed."],
        ),
        (
            Facts([_run()], [_gate()], _pull(findings=FINDINGS)),
            "p0",
            ["a.py: is open", "a.py: is reopened"],
        ),
        (
            Facts(
                [_run()], [_gate()], _pull(findings=[{**FINDINGS[0], "severity": "P1"}])
            ),
            "p0",
            [],
        ),
        (
            Facts(
                [_run()],
                [_gate()],
                _pull(blockers={"direct": [540, "o/r#3"], "order": [], "cycles": []}),
            ),
            "blocked",
            ["#540", "o/r#3"],
        ),
        (
            Facts([_run(outcome="damaged")], [_gate("fail")]),
            "incomplete",
            ["r is damaged"],
        ),
        (
            Facts([_run(outcome="no_results")], [_gate("fail")]),
            "incomplete",
            ["r is no results"],
        ),
        (Facts([_run(outcome="failed")], [RED]), "incomplete", []),
        (
            Facts(
                [_run()],
                [_gate()],
                flaky=[{"nodeid": name} for name in ("known", "twice", "now", "first")],
                known_flaky=[
                    {
                        "nodeid": "known",
                        "failed_runs": 1,
                        "since": "2026-03-01T00:00:00Z",
                    },
                    {
                        "nodeid": "twice",
                        "failed_runs": 2,
                        "since": "2026-03-02T11:00:00Z",
                    },
                    {
                        "nodeid": "now",
                        "failed_runs": 1,
                        "since": "2026-03-02T11:00:00Z",
                    },
                ],
            ),
            "new-flaky",
            ["first", "now"],
        ),
    ],
)
def test_each_reason(facts, reason, found):
    [answer] = judge(facts, [reason])
    assert (answer.reason, answer.found) == (reason, found)
    assert answer.red is bool(found)


@pytest.mark.parametrize("reason", ["p0", "blocked"])
def test_what_cannot_be_told_is_said_and_not_red(reason):
    [answer] = judge(Facts([_run()], [_gate()]), [reason])
    assert (answer.red, bool(answer.unknown)) == (False, True)


def test_a_green_build_answers_every_reason():
    answers = judge(Facts([_run()], [_gate()], _pull()), FAIL_ON)
    assert [answer.red for answer in answers] == [False] * len(FAIL_ON)


def test_the_answer_in_words():
    pull = _pull(
        sentence="1 failure: 1 introduced.",
        failures=_introduced(*(f"t{n}" for n in range(12))),
        advice=["Rebase onto main."],
    )
    facts = Facts([_run()], [RED], pull)
    lines = list(described(facts, judge(facts, ["introduced-failure", "p0"])))
    assert lines == [
        "r (linux, 3.12): fail. t.py::a fails.",
        "pull request 538: 1 failure: 1 introduced.",
        *(f"  NO introduced-failure: t{n}" for n in range(10)),
        "     and 2 more",
        "  ok p0",
        "  -> Rebase onto main.",
    ]
