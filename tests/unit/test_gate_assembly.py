"""Gates in an upload: outcomes without them, and each leak told once."""

from __future__ import annotations

import io
import json

import pytest

from formats.assembly import assemble
from formats.gates import LeakFact
from formats.junit import read_junit
from formats.order import read_order
from formats.outcomes import Outcome
from formats.own_patterns import OwnPattern, OwnPatterns
from formats.reportlog import read_reportlog

NODEID = "tests/test_a.py::test_x"
WORDS = f"{NODEID} removed 2 module(s) from sys.modules and did not restore them"
TEARDOWN = f"failed on teardown with &quot;Failed: {WORDS}: a.b, c&quot;"
GATE = f'<error message="{TEARDOWN}">E   Failed: {WORDS}: a.b, c</error>'
OWN = '<failure message="ValueError: no">E   ValueError: no</failure>'
LOST = '<error message="OSError: gone">E   OSError: gone</error>'
OUTPUT = f"<system-out>E   Failed: {WORDS}</system-out>"


def case(*children, name="test_x"):
    inner = "".join(children)
    return (
        f'<testcase classname="tests.test_a" name="{name}" time="1">{inner}</testcase>'
    )


def junit(*cases, **attrs):
    said = " ".join(f'{key}="{value}"' for key, value in attrs.items())
    text = f'<testsuite name="pytest" {said}>{"".join(cases)}</testsuite>'
    return "junit", "a.xml", read_junit(io.BytesIO(text.encode()))


def log(*phases, nodeid=NODEID):
    lines = [
        {
            "$report_type": "TestReport",
            "nodeid": nodeid,
            "when": when,
            "outcome": "failed" if said else "passed",
            "longrepr": {
                "reprcrash": {"message": said},
                "reprtraceback": {
                    "reprentries": [{"data": {"lines": [f"E   {said}"]}}]
                },
            }
            if said
            else None,
            "sections": [["Captured stdout", f"E   Failed: {WORDS}"]],
        }
        for when, said in phases
    ]
    raw = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n"
    return "reportlog", "log.jsonl", read_reportlog(io.BytesIO(raw))


def trace(*outcomes, nodeid=NODEID):
    lines = [
        {
            "v": 1,
            "test": nodeid,
            "outcome": outcome,
            "worker": "gw0",
            "pid": 7,
            "position": n,
        }
        for n, outcome in enumerate(outcomes)
    ]
    raw = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n"
    return "order", "order.jsonl", read_order(io.BytesIO(raw))


def fact(kind="sys_modules.removed", test=NODEID, **fields):
    return LeakFact(test, kind, item_count=2, **fields)


def only(contribution):
    [result] = contribution.results
    return result


CASES = {
    "the gate alone": ([GATE], Outcome.PASSED, 1),
    "with output": ([GATE, OUTPUT], Outcome.PASSED, 1),
    "a failure of its own": ([OWN, GATE], Outcome.FAILED, 1),
    "an error of its own": ([LOST, GATE], Outcome.ERROR, 1),
    "all three": ([OWN, LOST, GATE], Outcome.ERROR, 1),
    "skipped": (["<skipped/>", GATE], Outcome.SKIPPED, 1),
    "expected to fail": (['<skipped type="pytest.xfail"/>', GATE], Outcome.XFAILED, 1),
    "no gate": ([OWN], Outcome.FAILED, 0),
    "a gate's words in the output alone": ([OWN, OUTPUT], Outcome.FAILED, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_the_outcome_is_that_without_the_gate(name):
    children, outcome, leaks = CASES[name]
    contribution = assemble([junit(case(*children))])
    assert only(contribution).outcome is outcome
    assert len(contribution.leaks) == leaks
    assert only(contribution).flaky is False


def test_a_failure_of_its_own_keeps_its_words_and_its_output():
    result = only(assemble([junit(case(OWN, GATE, "<system-out>hello</system-out>"))]))
    assert (result.message, result.gated) == ("ValueError: no", True)
    assert "hello" in result.text
    assert "sys.modules" not in result.text


def test_elements_are_counted_as_reported():
    contribution = assemble([junit(case(GATE), case(name="test_y"))])
    counts = contribution.reported
    assert (counts.tests, counts.passed, counts.errors) == (2, 1, 1)
    assert [leak.reported for leak in contribution.leaks] == [Outcome.ERROR]


@pytest.mark.parametrize("first", ["", OWN])
def test_a_teardown_element_of_its_own_is_of_the_case_before_it(first):
    """pytest writes a second element where the call failed too."""
    contribution = assemble([junit(case(first), case(GATE), tests="1")])
    result = only(contribution)
    assert result.outcome is (Outcome.FAILED if first else Outcome.PASSED)
    assert (result.attempts, result.flaky, len(contribution.leaks)) == ((), False, 1)
    assert contribution.repeats == ""


def test_a_rerun_that_only_a_gate_failed_is_not_flaky():
    rerun = GATE.replace("<error", "<flakyError").replace("</error", "</flakyError")
    contribution = assemble([junit(case(rerun))])
    result = only(contribution)
    assert [one.outcome for one in result.attempts] == [Outcome.PASSED]
    assert (result.outcome, result.flaky) == (Outcome.PASSED, False)
    assert len(contribution.leaks) == 1


def test_attempts_as_cases_of_which_a_gate_failed_one_are_not_flaky():
    contribution = assemble([junit(case(GATE), case())], repeats="attempts")
    assert only(contribution).flaky is False
    assert len(contribution.leaks) == 1


PHASES = {
    "teardown": ([("call", ""), ("teardown", f"Failed: {WORDS}")], Outcome.PASSED, 1),
    "call": ([("call", f"Failed: {WORDS}")], Outcome.PASSED, 1),
    "both fail": (
        [("call", "ValueError: no"), ("teardown", f"Failed: {WORDS}")],
        Outcome.FAILED,
        1,
    ),
    "another": ([("call", ""), ("teardown", "OSError: gone")], Outcome.ERROR, 0),
}


@pytest.mark.parametrize("name", PHASES)
def test_phases_of_a_report_log(name):
    phases, outcome, leaks = PHASES[name]
    contribution = assemble([log(("setup", ""), *phases)])
    assert only(contribution).outcome is outcome
    assert len(contribution.leaks) == leaks
    reported = contribution.reported
    assert reported.failed + reported.errors == 1


def test_report_log_and_trace_agree_with_the_report():
    together = [
        junit(case(GATE)),
        log(("setup", ""), ("call", ""), ("teardown", f"Failed: {WORDS}")),
        trace("error"),
    ]
    for readings in (together, together[::2], together[1:], list(reversed(together))):
        contribution = assemble(readings)
        result = only(contribution)
        assert (result.outcome, result.flaky) == (Outcome.PASSED, False)
        [leak] = contribution.leaks
        assert (leak.fact.worker, leak.fact.position) == ("gw0", 0)
        assert not [n for n in contribution.notes if n.code == "conflicting-results"]


@pytest.mark.parametrize("word", ["failed", "error"])
def test_a_trace_has_no_words_against_the_report(word):
    contribution = assemble([junit(case(GATE)), trace(word)])
    assert only(contribution).outcome is Outcome.PASSED
    assert contribution.notes == []


def test_a_log_with_words_of_its_own_still_disagrees():
    words = log(("setup", ""), ("call", "ValueError: no"))
    contribution = assemble([junit(case(GATE)), words])
    assert only(contribution).outcome is Outcome.FAILED
    assert [n.code for n in contribution.notes] == ["conflicting-results"]


def test_a_payload_is_of_the_reports_case_and_counts_before_the_text():
    payload = fact(enforced=False, recipe="restore it")
    contribution = assemble([junit(case(GATE))], gates=[payload])
    [leak] = contribution.leaks
    assert leak.case.key == only(contribution).key
    assert (leak.from_text, leak.fact.recipe) == (False, "restore it")
    assert leak.fact.enforced is True  # the text shows that it was
    assert leak.reported is Outcome.ERROR


def test_another_kind_is_another_leak():
    contribution = assemble([junit(case(GATE))], gates=[fact("env.set")])
    assert sorted(leak.fact.kind for leak in contribution.leaks) == [
        "env.set",
        "sys_modules.removed",
    ]


def test_a_text_that_a_payload_speaks_is_the_gates():
    words = "test_x left HOME set to another value"
    failure = f'<failure message="Failed: {words}&#10;use monkeypatch"/>'
    spoken = fact("env.set", message=words)
    contribution = assemble([junit(case(failure))], gates=[spoken])
    assert only(contribution).outcome is Outcome.PASSED
    assert len(contribution.leaks) == 1
    for other in (
        fact("env.set"),
        fact("env.set", "tests/test_a.py::test_y", message=words),
    ):
        assert (
            only(assemble([junit(case(failure))], gates=[other])).outcome
            is Outcome.FAILED
        )


def test_payloads_alone():
    contribution = assemble([], gates=[fact(), fact(), fact(test=None)])
    assert (contribution.results, contribution.reported.tests) == ([], 0)
    keys = [leak.case and leak.case.key for leak in contribution.leaks]
    assert keys == ["tests.test_a::test_x", None]


def test_a_session_guards_text_leaves_the_case_as_it_is():
    guard = "1 entry left: /b/1.json  [no agent_session]  agent_session=None  prompt=''"
    contribution = assemble([junit(case(f'<error message="Failed: {guard}"/>'))])
    assert only(contribution).outcome is Outcome.ERROR
    [leak] = contribution.leaks
    assert (leak.case, leak.fact.detail.path) == (None, "/b/1.json")


def test_a_projects_own_pattern():
    own = OwnPatterns(
        [OwnPattern("threads", "threads.alive", r"(?P<test>\S+) runs on")]
    )
    failure = f'<failure message="Failed: {NODEID} runs on"/>'
    contribution = assemble([junit(case(failure))], own_patterns=own)
    assert only(contribution).outcome is Outcome.PASSED
    assert [leak.fact.kind for leak in contribution.leaks] == ["threads.alive"]


def test_the_sample(shared):
    raw = (shared / "samples" / "gate-sys-modules-junit.xml").read_bytes()
    contribution = assemble([("junit", "a.xml", read_junit(io.BytesIO(raw)))])
    outcomes = [one.outcome.value for one in contribution.results]
    assert sorted(outcomes) == [
        "failed",
        "failed",
        "passed",
        "passed",
        "passed",
        "skipped",
    ]
    [leak] = contribution.leaks
    assert (leak.fact.item_count, len(leak.fact.items)) == (59, 6)
    assert leak.fact.recipe.startswith("Every later importer")


def explicit(test_id, *children):
    named = f'<properties><property name="test_id" value="{test_id}"/></properties>'
    return case(named, *children)


def test_a_payload_finds_the_case_with_an_explicit_id_by_its_node_id():
    fact = LeakFact(test_nodeid=NODEID, kind="env.changed", message=f"{NODEID} left A")
    told = assemble([junit(explicit("T-1", OWN))], gates=[fact])
    [result], [leak] = told.results, told.leaks
    assert leak.case.key == result.key


def test_a_payloads_message_is_found_in_the_case_with_an_explicit_id():
    fact = LeakFact(test_nodeid=NODEID, kind="env.changed", message=f"{NODEID} left A")
    failure = (
        f'<error message="Failed: {NODEID} left A">E   Failed: {NODEID} left A</error>'
    )
    told = assemble([junit(explicit("T-1", failure))], gates=[fact])
    assert [one.outcome for one in told.results] == [Outcome.PASSED]
    assert len(told.leaks) == 1


def test_of_two_explicit_cases_with_one_node_id_none_is_guessed():
    fact = LeakFact(test_nodeid=NODEID, kind="env.changed")
    told = assemble([junit(explicit("T-1"), explicit("T-2"))], gates=[fact])
    assert len(told.results) == 2
    assert told.leaks[0].case.key not in {one.key for one in told.results}


def test_a_case_that_has_the_node_id_itself_goes_before_an_explicit_one():
    fact = LeakFact(test_nodeid=NODEID, kind="env.changed")
    told = assemble([junit(explicit("T-1"), case())], gates=[fact])
    [plain] = [one for one in told.results if "T-1" not in one.key]
    assert told.leaks[0].case.key == plain.key
