"""What the plugin writes, read by those whom it is for: the server, and a JUnit reader."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from formats.assembly import assemble
from formats.detection import detect
from formats.gates import read_gate
from formats.junit import read_junit
from formats.order import read_order
from formats.outcomes import Outcome
from formats.report import OrderQuality
from tests.client.suites import AGENT, Ran, run, write

SUITE = {
    **AGENT,
    "conftest.py": "",
    "tests/test_one.py": """
        import os, sys
        import pytest
        import agent.loop, agent.context

        def test_passes(): pass
        def test_fails(): assert 0
        def test_purges():
            for name in ("agent.loop", "agent.context"): del sys.modules[name]
        def test_leaks_twice():
            del sys.modules["agent"]
            os.environ["LEFT"] = "1"
        def test_fails_and_leaks():
            os.environ["LEFT_TOO"] = "1"
            assert 0
        @pytest.mark.allow_leak("env", reason="meant")
        def test_is_allowed(): os.environ["MEANT"] = "1"
        @pytest.mark.parametrize("value", ["a b", "é[1]::x"])
        def test_parameter(value): os.environ["LEFT_" + value[0]] = "1"
        def test_sets_back():
            for name in ("LEFT", "LEFT_TOO"): os.environ.pop(name, None)

        @pytest.fixture(scope="module")
        def forgetting(): os.environ["FORGOTTEN"] = "1"
        def test_uses(forgetting): pass
    """,
}
PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


@pytest.fixture(scope="module", params=[[], ["-n2"]], ids=["one", "xdist"])
def ran(request, tmp_path_factory) -> Ran:
    where = tmp_path_factory.mktemp("read")
    write(where, SUITE, gates="sys_modules env", enforce="error")
    return run(where, "--junitxml=junit.xml", *request.param, plugins="xdist")


def _read(ran: Ran, name: str, reader):
    with (ran.where / name).open("rb") as file:
        return reader(file)


def test_the_server_tells_the_files_by_their_content(ran):
    for name, kind in (("order.jsonl", "order"), ("gate.json", "gate")):
        head = (ran.where / ".healthboard" / name).read_bytes()
        assert detect(head, "some.thing") == kind


def test_the_server_reads_the_trace(ran):
    reading = _read(ran, ".healthboard/order.jsonl", read_order)
    assert reading.notes == []
    assert reading.order is OrderQuality.TRACED
    outcomes = {one.nodeid.rpartition("::test_")[2]: one for one in reading.elements}
    assert len(reading.elements) == 10
    assert outcomes["passes"].outcome is PASSED
    assert outcomes["fails"].outcome is FAILED
    assert outcomes["purges"].outcome is Outcome.ERROR


def test_the_server_reads_the_leaks(ran):
    reading = _read(ran, ".healthboard/gate.json", read_gate)
    assert reading.notes == []
    assert len(reading.leaks) == len(ran.leaks)
    for fact, told in zip(reading.leaks, ran.leaks, strict=True):
        assert fact.test_nodeid == told["test"]
        assert (fact.kind, list(fact.items)) == (told["kind"], told["items"])
        assert (fact.worker, fact.position) == (told["worker"], told["position"])
        assert fact.raised is (told["enforced"] and not told["opted_out"])
    assert sum(fact.raised for fact in reading.leaks) == len(
        [one for one in ran.leaks if one["enforced"]]
    )


@pytest.fixture(scope="module")
def joined(ran):
    """One upload of all three files, as the server joins them."""
    files = [
        ("junit", "junit.xml", _read(ran, "junit.xml", read_junit)),
        ("order", "order.jsonl", _read(ran, ".healthboard/order.jsonl", read_order)),
    ]
    gates = _read(ran, ".healthboard/gate.json", read_gate).leaks
    return assemble(files, gates=gates)


def test_a_gate_s_failure_is_not_the_test_s_own(joined):
    outcomes = {one.name + one.params: one.outcome for one in joined.results}
    assert Counter(outcomes.values()) == {PASSED: 8, FAILED: 2}
    assert outcomes["test_purges"] is PASSED
    assert outcomes["test_leaks_twice"] is PASSED
    assert outcomes["test_fails_and_leaks"] is FAILED


def test_each_leak_is_told_once(joined, ran):
    told = Counter((one.fact.test_nodeid, one.fact.kind) for one in joined.leaks)
    assert told == Counter((one["test"], one["kind"]) for one in ran.leaks)
    assert {one.from_text for one in joined.leaks} == {False}


def test_the_report_alone_tells_the_leak_of_modules(ran):
    """Without the gate's file the server knows it by the text in the report."""
    alone = assemble([("junit", "junit.xml", _read(ran, "junit.xml", read_junit))])
    facts = {leak.fact.test_nodeid: leak.fact for leak in alone.leaks}
    fact = facts["tests/test_one.py::test_purges"]
    assert fact.kind == "sys_modules.removed"
    assert sorted(fact.items) == ["agent.context", "agent.loop"]
    assert "fresh_import" in fact.recipe


def test_any_reader_understands_the_report(ran):
    suite = ElementTree.parse(ran.where / "junit.xml").getroot()[0]
    case = next(one for one in suite if one.get("name") == "test_purges")
    (error,) = case
    assert error.tag == "error"
    message = error.get("message")
    assert message.startswith('failed on teardown with "')
    assert "removed 2 module(s) from sys.modules" in message
    assert "monkeypatch.delitem" in error.text
