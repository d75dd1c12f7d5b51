"""The files of one upload as one contribution."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.assembly import assemble
from formats.junit import read_junit
from formats.outcomes import Outcome
from formats.prefixes import IdentityRules
from formats.report import (
    Attempt,
    Contribution,
    Element,
    Note,
    OrderQuality,
    Reading,
    Reported,
)
from formats.report import TestResult as Result

if TYPE_CHECKING:
    from pathlib import Path

PASSED, FAILED, SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED


def told(name: str, outcome: Outcome = PASSED, **fields: object) -> Element:
    """A test as pytest's JUnit report has it."""
    fields = {"classname": "t", "pytest": True, **fields}
    return Element(name=name, outcome=outcome, **fields)  # type: ignore[arg-type]


def seen(name: str, outcome: Outcome = PASSED, **fields: object) -> Element:
    """The same test as a trace has it."""
    nodeid = f"t.py::{name}"
    fields = {"process": "gw0:1", "position": 0, **fields}
    return Element(nodeid, nodeid=nodeid, outcome=outcome, pytest=True, **fields)  # type: ignore[arg-type]


def report(*elements: Element, **fields: object) -> tuple[str, str, Reading]:
    reported = Reported(tests=len(elements))
    fields = {"reported": reported, "order": OrderQuality.ASSUMED, **fields}
    return "junit", "a.xml", Reading(list(elements), **fields)  # type: ignore[arg-type]


def trace(*elements: Element, **fields: object) -> tuple[str, str, Reading]:
    fields = {"order": OrderQuality.TRACED, **fields}
    return "order", "order.jsonl", Reading(list(elements), **fields)  # type: ignore[arg-type]


def by_name(contribution: Contribution) -> dict[str, Result]:
    names = {result.name: result for result in contribution.results}
    assert len(names) == len(contribution.results)
    return names


def test_report_alone():
    started = datetime(2025, 3, 1, tzinfo=UTC)
    note = Note("odd", "something odd", 3)

    contribution = assemble(
        [
            report(
                told("a", duration=1.5, process="vm: pytest", position=0, line=7),
                told(
                    "b", FAILED, message="m", text="x", process="vm: pytest", position=1
                ),
                started_at=started,
                zoneless_start="2025-03-01T00:00:00",
                wall_s=2.0,
                notes=[note],
            )
        ]
    )

    assert contribution == Contribution(
        results=[
            Result("t::a", "t::a", 1, "", "", "a", "", PASSED, 1.5, process=0,
                       position=0, line=7),
            Result("t::b", "t::b", 1, "", "", "b", "", FAILED, message="m",
                       text="x", process=0, position=1),
        ],
        processes=["vm: pytest"],
        order=OrderQuality.ASSUMED,
        reported=Reported(tests=2),
        started_at=started,
        zoneless_start="2025-03-01T00:00:00",
        duration_s=1.5,
        wall_s=2.0,
        notes=[note],
    )  # fmt: skip


def test_nothing_at_all():
    assert assemble([]) == Contribution([], [], OrderQuality.UNKNOWN, Reported())


def test_trace_gives_place_and_report_gives_text():
    contribution = assemble(
        [
            report(
                told("a", FAILED, message="m", text="x", process="vm", position=5),
                told("b", duration=2.0),
                wall_s=3.0,
            ),
            trace(
                seen(
                    "a", FAILED, process="gw1:7", position=3, start=12.5, duration=0.5
                ),
                seen("b", process="gw0:6", duration=9.0),
                wall_s=99.0,
            ),
        ]
    )

    a, b = by_name(contribution)["a"], by_name(contribution)["b"]
    assert (a.outcome, a.message, a.text, a.nodeid) == (FAILED, "m", "x", "t.py::a")
    assert contribution.processes[a.process] == "gw1:7"
    assert (a.position, a.start, a.duration) == (3, 12.5, 0.5)
    assert b.duration == 2.0
    assert contribution.order is OrderQuality.TRACED
    assert contribution.wall_s == 3.0
    assert (contribution.only_in_report, contribution.only_in_trace) == (0, 0)


def test_one_sided_tests_are_counted_and_told():
    contribution = assemble(
        [
            report(told("a", process="vm"), told("b")),
            trace(seen("b"), seen("c", FAILED)),
        ]
    )

    assert (contribution.only_in_report, contribution.only_in_trace) == (1, 1)
    assert [note.code for note in contribution.notes] == [
        "only-in-report",
        "only-in-trace",
    ]
    assert "t::a" in contribution.notes[0].message
    assert "t.py::c" in contribution.notes[1].message
    results = by_name(contribution)
    assert results["a"].process == -1
    assert results["c"].outcome is FAILED
    assert contribution.reported == Reported(tests=3, failed=1)


def test_module_that_was_not_collected_is_not_one_sided():
    broken = told("m", Outcome.ERROR, classname="", collection=True)

    contribution = assemble([report(broken, told("b")), trace(seen("b"))])

    assert contribution.only_in_report == 0


@pytest.mark.parametrize(
    ("reported", "traced", "outcome", "conflict"),
    [
        (PASSED, Outcome.XPASSED, Outcome.XPASSED, False),
        (SKIPPED, Outcome.XFAILED, Outcome.XFAILED, False),
        (PASSED, FAILED, FAILED, True),
        (FAILED, PASSED, FAILED, True),
        (FAILED, Outcome.ERROR, Outcome.ERROR, True),
    ],
)
def test_trace_refines_or_contradicts(reported, traced, outcome, conflict):
    contribution = assemble([report(told("a", reported)), trace(seen("a", traced))])

    assert contribution.results[0].outcome is outcome
    codes = [note.code for note in contribution.notes]
    assert codes == (["conflicting-results"] if conflict else [])


def test_attempts_of_trace_and_texts_of_report_are_joined():
    contribution = assemble(
        [
            report(told("a", attempts=(Attempt(PASSED, None, "m1", "x1"),))),
            trace(seen("a", attempts=(Attempt(FAILED, 0.5),))),
        ]
    )

    (one,) = contribution.results
    assert one.attempts == (Attempt(FAILED, 0.5, "m1", "x1"),)
    assert one.flaky is True


def test_same_test_in_two_reports_counts_once():
    contribution = assemble(
        [report(told("a", duration=1.0)), report(told("a", duration=2.0), told("b"))]
    )

    assert len(contribution.results) == 2
    assert contribution.notes == []
    assert contribution.reported.tests == 3


def test_contradicting_reports_leave_the_worse_and_a_note():
    contribution = assemble(
        [report(told("a")), report(told("a", FAILED, message="m")), report(told("a"))]
    )

    (one,) = contribution.results
    assert (one.outcome, one.message, one.attempts) == (FAILED, "m", ())
    assert [note.message for note in contribution.notes] == [
        "1 test has different results in the files of this upload, the worse one "
        "counts: t::a (failed, passed in different files)"
    ]


def test_traces_of_several_workers_add_up():
    line = seen("a", FAILED, process="gw0:1", position=4, start=1.0)
    again = seen("a", PASSED, process="gw1:2", position=0, start=2.0)

    contribution = assemble([trace(line), trace(again), trace(line)])

    (one,) = contribution.results
    assert [attempt.outcome for attempt in one.attempts] == [FAILED]
    assert (one.outcome, one.flaky) == (PASSED, True)
    assert contribution.processes == ["gw1:2"]


def test_processes_of_several_reports_are_kept_apart():
    contribution = assemble(
        [report(told("a", process="vm")), report(told("b", process="vm"))]
    )

    assert len(contribution.processes) == 2
    assert {result.process for result in contribution.results} == {0, 1}


@pytest.mark.parametrize(
    ("qualities", "order"),
    [
        (["assumed", "assumed"], "assumed"),
        (["assumed", "unknown"], "unknown"),
        (["unknown", "traced-trace"], "traced"),
        (["assumed", "assumed-trace"], "assumed"),
    ],
)
def test_order_is_that_of_the_traces_else_the_least_sure(qualities, order):
    readings = []
    for number, quality in enumerate(qualities):
        name, _, kind = quality.partition("-")
        make = trace if kind else report
        readings.append(make(seen(f"t{number}"), order=OrderQuality(name)))

    assert assemble(readings).order == order


def test_unknown_order_gives_no_place():
    contribution = assemble(
        [report(told("a", process="vm", position=3), order=OrderQuality.UNKNOWN)]
    )

    assert contribution.processes == []
    assert contribution.results[0][-6:-2] == (-1, -1, None, None)


def test_names_equal_but_for_volatile_parts_are_numbered_not_attempts():
    first, second = "at[2025-03-01 10:00:00]", "at[2025-03-01 11:00:00]"
    readings = [
        report(told(second), told(first), told("z")),
        trace(seen(first, position=1), seen(second, FAILED, position=0)),
    ]

    contribution = assemble(readings)

    assert {one.nodeid: (one.key, one.outcome) for one in contribution.results} == {
        f"t.py::{second}": ("t::at[<time>]#1", FAILED),
        f"t.py::{first}": ("t::at[<time>]#2", PASSED),
        "t::z": ("t::z", PASSED),
    }
    volatile, numbered = contribution.notes[:2]
    assert (volatile.code, numbered.code) == ("volatile-names", "numbered-names")
    assert "2025-03-01 10:00:00" in volatile.message


def test_rules_of_the_project_join_reports():
    rules = IdentityRules(strip_classname_prefixes=("web.",))

    contribution = assemble(
        [report(told("a", classname="web.cart")), report(told("a", classname="cart"))],
        rules=rules,
    )

    assert [result.key for result in contribution.results] == ["cart::a"]


def test_notes_of_several_files_name_their_file():
    note = Note("odd", "something", 3)

    contribution = assemble([report(notes=[note]), report(notes=[note])])

    assert contribution.notes == [
        Note("odd", "a.xml: something", 3),
        Note("odd", "a.xml (2): something", 3),
    ]


OUTCOMES = st.sampled_from(list(Outcome))
NAMES = st.sampled_from(
    ["a", "b", "c[1]", "at[2025-03-01 10:00]", "at[2025-03-01 11:00]"]
)
REPORTS = st.lists(
    st.builds(told, NAMES, OUTCOMES, message=st.sampled_from(["", "m", "n"]),
              process=st.sampled_from(["", "p", "q"]), position=st.integers(0, 3)),
    max_size=4,
).map(lambda elements: report(*elements))  # fmt: skip
TRACES = st.lists(
    st.builds(seen, NAMES, OUTCOMES, process=st.sampled_from(["gw0:1", "gw1:2"]),
              position=st.integers(0, 3), start=st.none() | st.floats(0, 9)),
    max_size=4,
    unique_by=lambda element: element.nodeid,
).map(lambda elements: trace(*elements))  # fmt: skip


@given(st.lists(REPORTS | TRACES, max_size=4).flatmap(
    lambda files: st.tuples(st.just(files), st.permutations(files))))  # fmt: skip
def test_order_of_the_files_changes_nothing(both):
    files, shuffled = both

    one, other = assemble(files), assemble(shuffled)

    assert one == other
    keys = [result.key for result in one.results]
    assert len(set(keys)) == len(keys)


def from_bug(shared: Path, number: str, repeats: str = "auto") -> Contribution:
    (folder,) = shared.glob(f"bugs/{number}-*")
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    readings = []
    for name in expected["inputs"]:
        with (folder / name).open("rb") as stream:
            readings.append(("junit", name, read_junit(stream)))
    return assemble(readings, repeats=repeats)


@pytest.mark.parametrize(
    ("number", "unique"),
    [("22", 2), ("24", 2), ("25", 3), ("27", 3), ("28", 3), ("30", 3), ("31", 2),
     ("40", 2), ("42", 2), ("57", 2)],
)  # fmt: skip
def test_reported_identity_faults(shared, number, unique):
    contribution = from_bug(shared, number)

    assert len(contribution.results) == unique
    assert not any(result.flaky for result in contribution.results)


def test_reported_attempts_by_setting(shared):
    contribution = from_bug(shared, "40", repeats="attempts")

    told = [(result.outcome, result.flaky) for result in contribution.results]
    assert told == [(PASSED, True), (PASSED, False)]


def test_reported_skipped_attempts(shared):
    told = [result.outcome for result in from_bug(shared, "42").results]

    assert told == [PASSED, FAILED]
