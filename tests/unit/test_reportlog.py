"""pytest-reportlog: phases, attempts, workers, texts."""

from __future__ import annotations

import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.limits import Limits
from formats.outcomes import Outcome
from formats.report import Element, OrderQuality, Reading, Rejected, Reported
from formats.reportlog import read_reportlog

START: dict[str, object] = {"pytest_version": "8.4.2", "$report_type": "SessionStart"}
END: dict[str, object] = {"exitstatus": 0, "$report_type": "SessionFinish"}


def phase(
    when: object, outcome: str = "passed", /, **fields: object
) -> dict[str, object]:
    return {
        "nodeid": "a.py::test_a",
        "when": when,
        "outcome": outcome,
        "duration": 0.5,
        "$report_type": "TestReport",
        **fields,
    }


def attempt(outcome: str = "passed", **fields: object) -> list[dict[str, object]]:
    return [phase("setup", **fields), phase("call", outcome, **fields),
            phase("teardown", **fields)]  # fmt: skip


def encode(records: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(*records: dict[str, object], **limits: int) -> Reading:
    raw = encode([START, *records, END])
    return read_reportlog(io.BytesIO(raw), limits=Limits(**limits))


def only(*records: dict[str, object]) -> Element:
    (element,) = read(*records).elements
    return element


CRASH: dict[str, object] = {
    "reprcrash": {"path": "/x/a.py", "lineno": 3, "message": "AssertionError: no"},
    "reprtraceback": {
        "reprentries": [
            {
                "type": "ReprEntry",
                "data": {
                    "lines": ["    def test_a():", ">       assert 0", "E   no"],
                    "reprfileloc": {"path": "a.py", "lineno": 3, "message": "Error"},
                },
            }
        ]
    },
    "sections": [],
    "chain": None,
}


@pytest.mark.parametrize(
    ("records", "outcome"),
    [
        (attempt(), Outcome.PASSED),
        (attempt("failed"), Outcome.FAILED),
        (attempt("skipped"), Outcome.SKIPPED),
        ([phase("setup"), phase("call", wasxfail=""), phase("teardown")],
         Outcome.XPASSED),
        ([phase("setup"), phase("call", "skipped", wasxfail="known")], Outcome.XFAILED),
        ([phase("setup"), phase("call", "failed", longrepr="[XPASS(strict)] x")],
         Outcome.FAILED),
        ([phase("setup", "skipped"), phase("teardown")], Outcome.SKIPPED),
        ([phase("setup", "skipped", wasxfail="no run"), phase("teardown")],
         Outcome.XFAILED),
        ([phase("setup", "failed"), phase("teardown")], Outcome.ERROR),
        ([phase("setup"), phase("call"), phase("teardown", "failed")], Outcome.ERROR),
        ([*attempt("failed")[:2], phase("teardown", "failed")], Outcome.ERROR),
        ([phase("setup"), phase("call")], Outcome.PASSED),
        ([phase("setup"), phase("???", "failed", longrepr="x")], Outcome.ERROR),
    ],
    ids=["passed", "failed", "skipped", "xpassed", "xfailed", "strict", "skip-mark",
         "xfail-no-run", "setup", "teardown", "both", "no-teardown", "crash"],
)  # fmt: skip
def test_phases_fold_into_one_outcome(records, outcome):
    element = only(*records)

    assert element.outcome is outcome
    assert element.attempts == ()


def test_duration_is_the_sum_and_start_the_first():
    element = only(
        phase("setup", start=10.0), phase("call", start=11.0), phase("teardown")
    )

    assert (element.duration, element.start) == (1.5, 10.0)


@pytest.mark.parametrize("word", ["rerun", "retried"])
def test_repeated_calls_are_attempts(word):
    element = only(
        phase("setup"),
        phase("call", word, longrepr=CRASH),
        phase("teardown"),
        phase("setup", word, longrepr="no"),
        *attempt(),
    )

    outcomes = [one.outcome for one in element.attempts]
    assert outcomes == [Outcome.FAILED, Outcome.ERROR]
    assert element.outcome is Outcome.PASSED
    assert element.attempts[0].message == "AssertionError: no"


def test_failed_subtest_fails_its_test_and_is_no_attempt():
    sub = {
        **phase("call", "failed", longrepr="E   sub"),
        "$report_type": "SubTestReport",
    }
    good = {**phase("call"), "$report_type": "SubTestReport"}

    element = only(phase("setup"), sub, good, phase("call"), phase("teardown"))

    assert (element.outcome, element.attempts) == (Outcome.FAILED, ())
    assert element.message == "sub"


def test_texts_of_each_form():
    crash = only(phase("setup"), phase("call", "failed", longrepr=CRASH))
    skip = only(phase("setup", "skipped", longrepr=["a.py", 7, "Skipped: not today"]))
    text = only(phase("setup"), phase("call", "failed", longrepr="one\nE   two\nthree"))
    xfail = only(
        phase("setup"), phase("call", "skipped", wasxfail="known", longrepr=CRASH)
    )

    assert crash.message == "AssertionError: no"
    assert crash.text == (
        "    def test_a():\n>       assert 0\nE   no\n\na.py:3: Error"
    )
    assert (skip.message, skip.text) == ("not today", "a.py:7: not today")
    assert (text.message, text.text) == ("two", "one\nE   two\nthree")
    assert xfail.message == "known"


def test_chained_exceptions_are_all_told():
    link = [CRASH["reprtraceback"], CRASH["reprcrash"], "During handling"]
    element = only(
        phase("setup"),
        phase("call", "failed", longrepr={**CRASH, "chain": [link, link]}),
    )

    assert element.text.count("assert 0") == 2
    assert "During handling" in element.text


def test_output_is_kept_of_failures_only_and_cut_with_both_ends():
    sections = [["Captured stdout call", "BEGIN" + "x" * 100 + "END"]]
    reading = read(
        *attempt("failed", sections=sections),
        *attempt(nodeid="a.py::test_b", sections=sections),
        output=20,
    )

    failed, passed = reading.elements
    assert "--- Captured stdout call ---\nBEGIN" in failed.text
    assert failed.text.endswith("END")
    assert "characters left out" in failed.text
    assert passed.text == ""


def test_texts_of_all_failures_together_are_bounded():
    failures = [
        line
        for i in range(10)
        for line in attempt(
            "failed", nodeid=f"a.py::test_{i}", longrepr="E   " + "x" * 40
        )
    ]

    reading = read(*failures, kept=100)

    assert sum(len(e.text) for e in reading.elements) <= 100
    assert all(e.message for e in reading.elements)
    assert [note.code for note in reading.notes] == ["texts-left-out"]


@pytest.mark.parametrize(
    "longrepr",
    [None, 1, [], {}, [1, 2], {"reprcrash": 1, "reprtraceback": [], "chain": 7},
     {"reprcrash": {"message": 1}, "chain": [1, [], [{"reprentries": [1, {}]}]]}],
    ids=range(7),
)  # fmt: skip
def test_odd_longrepr_is_no_fault(longrepr):
    assert only(*attempt("failed", longrepr=longrepr)).outcome is Outcome.FAILED


def test_collection_failure_is_a_pseudo_case_once():
    broken: dict[str, object] = {
        "nodeid": "b.py", "outcome": "failed", "longrepr": "E   ImportError: x",
        "$report_type": "CollectReport",
    }  # fmt: skip
    fine: dict[str, object] = {**broken, "nodeid": "c.py", "outcome": "passed"}

    reading = read(broken, fine, broken, *attempt())

    (collected,) = [e for e in reading.elements if e.collection]
    assert (collected.nodeid, collected.outcome) == ("b.py", Outcome.ERROR)
    assert collected.message == "ImportError: x"
    assert reading.reported == Reported(tests=1, passed=1)


def worker(
    name: str, test: str, start: float, **fields: object
) -> list[dict[str, object]]:
    where: dict[str, object] = {
        "worker_id": name,
        "testrun_uid": "u1",
        "nodeid": f"a.py::{test}",
    }
    return attempt("passed", **{**where, **fields}, start=start, item_index=0)


def places(reading: Reading) -> dict[str, tuple[str, int | None]]:
    return {e.nodeid[6:]: (e.process, e.position) for e in reading.elements}


def test_order_within_a_worker_is_that_of_start():
    reading = read(
        *worker("gw0", "late", 20.0), *worker("gw1", "other", 15.0),
        *worker("gw0", "early", 10.0),
    )  # fmt: skip

    assert places(reading) == {
        "late": ("gw0:u1", 1),
        "other": ("gw1:u1", 0),
        "early": ("gw0:u1", 0),
    }
    assert reading.order is OrderQuality.TRACED


def crash(test: str) -> dict[str, object]:
    text = f"worker 'gw0' crashed while running 'a.py::{test}'"
    return phase("???", "failed", nodeid=f"a.py::{test}", longrepr=text, start=0)


COLLECT: dict[str, object] = {
    "nodeid": "",
    "outcome": "passed",
    "$report_type": "CollectReport",
}


def test_crash_belongs_to_the_worker_it_names():
    reading = read(
        *worker("gw0", "fine", 1.0), crash("boom"), *worker("gw1", "next", 2.0)
    )

    assert places(reading) == {
        "fine": ("gw0:u1", 0), "boom": ("gw0:u1", 1), "next": ("gw1:u1", 0),
    }  # fmt: skip
    assert reading.order is OrderQuality.TRACED


@pytest.mark.parametrize(
    ("between", "order"),
    [
        ([COLLECT], OrderQuality.TRACED),
        ([{**COLLECT, "worker_id": "gw0", "testrun_uid": "u1"}], OrderQuality.TRACED),
        ([], OrderQuality.ASSUMED),
    ],
    ids=["collected", "collected-by-name", "untold"],
)
def test_successor_of_a_crashed_worker(between, order):
    reading = read(
        *worker("gw0", "fine", 1.0),
        crash("boom"),
        *between,
        *worker("gw0", "next", 2.0),
    )

    assert places(reading)["next"] == ("gw0:u1 #2", 0)
    assert reading.order is order


def test_tests_side_by_side_without_workers_have_no_order():
    one, two = attempt(nodeid="a.py::one"), attempt(nodeid="a.py::two")

    reading = read(one[0], two[0], one[1], two[1], one[2], two[2])

    assert reading.order is OrderQuality.UNKNOWN
    assert set(places(reading).values()) == {("", None)}


def test_second_session_in_one_file_is_another_process():
    reading = read(*attempt(), END, START, *attempt(nodeid="a.py::test_b"))

    assert {e.process for e in reading.elements} == {"main", "main:session 2"}


def test_test_that_never_ended_is_left_out_and_named():
    reading = read(*attempt(), phase("setup", nodeid="a.py::test_hangs"))

    assert [e.nodeid for e in reading.elements] == ["a.py::test_a"]
    assert [note.code for note in reading.notes] == ["unfinished-test"]
    assert "test_hangs" in reading.notes[0].message


def test_unknown_types_and_keys_are_ignored():
    reading = read(
        {"$report_type": "WarningMessage", "outcome": 1},
        {"$report_type": "Future", "nodeid": None},
        {"$report_type": 7},
        *attempt(future={"x": [1]}, user_properties=[["a", float("nan")]]),
    )

    assert reading.reported == Reported(tests=1, passed=1)


@pytest.mark.parametrize(
    "bad",
    [b"nonsense\n", b"[]\n",
     encode([{"$report_type": "TestReport"}]),
     encode([phase("call", "ok")]),
     encode([phase("call", nodeid="")]),
     encode([phase("call", nodeid=3)]),
     encode([phase("call", when=None)])],
    ids=range(7),
)  # fmt: skip
def test_bad_line_rejects_the_file_with_its_number(bad):
    with pytest.raises(Rejected) as caught:
        read_reportlog(io.BytesIO(encode([START]) + bad + encode([END])))

    assert caught.value.line == 2


def test_other_json_lines_are_no_report_log():
    with pytest.raises(Rejected) as caught:
        read_reportlog(io.BytesIO(b'{"v": 1, "test": "a"}\n'))

    assert caught.value.line == 1


def test_torn_and_compressed_log():
    raw = encode([START, *attempt()]) + b'{"nodeid": "a.py::test_b", "wh'

    reading = read_reportlog(io.BytesIO(gzip.compress(raw)))

    assert reading.reported.tests == 1
    assert [note.code for note in reading.notes] == ["torn-line"]


def judge(raw: bytes) -> Reading | Rejected:
    try:
        return read_reportlog(io.BytesIO(raw))
    except Rejected as verdict:
        return verdict


@given(st.data())
def test_mutated_bytes_are_read_or_rejected(data):
    raw = bytearray(encode([START, *attempt("failed", longrepr=CRASH), COLLECT]))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    assert isinstance(judge(bytes(raw)), Reading | Rejected)


SCRAP = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["reprcrash", "chain", "message", "data"]), inner
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*phase("call"), "longrepr", "sections",
                                        "wasxfail", "start", "worker_id"]), SCRAP))  # fmt: skip
def test_any_values_are_read_or_rejected(fields):
    raw = encode([START, phase("setup"), {**phase("call", "failed"), **fields}])

    verdict = judge(raw)

    assert isinstance(verdict, Reading) or verdict.line == 3
