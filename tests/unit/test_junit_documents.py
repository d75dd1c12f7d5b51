"""Suites and whole documents: what counts, names, declared numbers, order, times."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

from formats.junit import read_junit
from formats.outcomes import Outcome
from formats.report import OrderQuality, Reading, Reported

CASE = '<testcase classname="c" name="n" time="1"/>'


def read(xml: str) -> Reading:
    return read_junit(io.BytesIO(xml.encode()))


def told(reading: Reading) -> list[tuple[str, str]]:
    return [(note.code, note.message) for note in reading.notes]


@pytest.mark.parametrize(
    ("xml", "tests", "suites"),
    [
        (f"<testsuite>{CASE}</testsuite>", 1, 1),
        (f"<testsuites>{CASE}</testsuites>", 1, 0),
        (f"<testsuites><testsuite>{CASE}<testsuite>{CASE}</testsuite>{CASE}</testsuite></testsuites>", 3, 2),
        (f"<testsuites><testsuites><testsuite>{CASE}</testsuite></testsuites></testsuites>", 1, 1),
        (f'<testsuites xmlns="urn:x"><testsuite>{CASE}</testsuite></testsuites>', 1, 1),
        ('<j:testsuites xmlns:j="urn:x"><j:testsuite><j:testcase name="a"/></j:testsuite></j:testsuites>', 1, 1),
        (f'<testsuite xsi:noNamespaceSchemaLocation="junit.xsd">{CASE}</testsuite>', 1, 1),
        (f"<testsuite><system-out><![CDATA[{CASE}]]></system-out>{CASE}</testsuite>", 1, 1),
        (f"<testsuite><properties>{CASE}</properties></testsuite>", 0, 1),
        (f"<testsuite><group>{CASE}</group>{CASE}</testsuite>", 1, 1),
        (f"<testsuite><testcase name='a'>{CASE}<x>{CASE}</x></testcase></testsuite>", 1, 1),
        (f"<testsuite>{CASE}{CASE}</testsuite>", 2, 1),
        ("<testsuite tests='0'/>", 0, 1),
    ],
)  # fmt: skip
def test_a_case_counts_when_all_its_ancestors_are_suites(xml, tests, suites):
    reading = read(xml)
    assert (reading.reported.tests, len(reading.elements), reading.suites) == (
        tests,
        tests,
        suites,
    )


def test_numbers_are_made_from_cases_whatever_is_declared():
    reading = read(
        '<testsuite name="s" tests="0" failures="0" skipped="9">'
        '<testcase name="a"/><testcase name="b"><failure/></testcase>'
        '<testcase name="c"><error/></testcase><testcase name="d"><skipped/></testcase>'
        '<testcase name="e"><skipped type="pytest.xfail"/></testcase></testsuite>'
    )
    assert reading.reported == Reported(
        tests=5, passed=1, failed=1, errors=1, skipped=2
    )
    assert reading.declared_tests == 0
    assert told(reading) == [
        (
            "declared-counts-differ",
            "counts differ: 0 tests declared, 5 listed, 0 failed declared, 1 listed, "
            "9 skipped declared, 2 listed (suite s)",
        )
    ]


def test_declared_but_not_listed():
    reading = read(
        '<testsuites><testsuite name="UI" tests="0" skipped="1" failures="0"/>'
        '<testsuite name="unit" tests="6" skipped="1" failures="0">'
        f"{CASE * 3}</testsuite></testsuites>"
    )
    assert told(reading) == [
        ("declared-not-listed", "declared but not listed: 1 skipped (suite UI)"),
        (
            "declared-not-listed",
            "declared but not listed: 1 skipped, 2 other tests (suite unit)",
        ),
    ]
    assert reading.reported.skipped == 0


@pytest.mark.parametrize(
    "xml",
    [
        f'<testsuite tests="2" failures="0">{CASE}<testsuite tests="1">{CASE}</testsuite></testsuite>',
        f'<testsuite tests="1">{CASE}<testsuite tests="1">{CASE}</testsuite></testsuite>',
        '<testsuite tests="2" skipped="1" disabled="1"><testcase status="disabled"/><testcase><skipped/></testcase></testsuite>',
        f'<testsuite tests="many" errors="">{CASE}</testsuite>',
        f"<testsuite>{CASE}</testsuite>",
    ],
)
def test_declared_numbers_that_fit_are_not_told(xml):
    assert told(read(xml)) == []


def test_many_differing_suites_make_few_notes():
    reading = read(f"<testsuites>{'<testsuite tests="7" name="s"/>' * 50}</testsuites>")
    assert len(reading.notes) == 7  # five suites, how many more, and: no case at all
    assert reading.notes[5].message == "and in 45 more suites"


@pytest.mark.parametrize(
    ("xml", "declared", "wall"),
    [
        ('<testsuites tests="9" time="4"><testsuite tests="2" time="1"/></testsuites>', 9, 4.0),
        ('<testsuites><testsuite tests="2" time="1"/><testsuite tests="3"/></testsuites>', 5, 1.0),
        ('<testsuite tests="2" time="1,5"><testsuite tests="1"/></testsuite>', 2, 1.5),
        ("<testsuites><testsuite/></testsuites>", None, None),
    ],
)  # fmt: skip
def test_the_documents_own_totals(xml, declared, wall):
    reading = read(xml)
    assert (reading.declared_tests, reading.wall_s) == (declared, wall)


def test_total_time_is_the_sum_of_readable_times():
    times = ("0.5", "1,5", "NaN", "", "-3")
    cases = "".join(f'<testcase classname="c" name="n" time="{t}"/>' for t in times)
    reading = read(f"<testsuite>{cases}</testsuite>")
    assert reading.total_time_s == 2.0
    assert [e.duration for e in reading.elements] == [0.5, 1.5, None, None, 0.0]
    assert read("<testsuite><testcase/></testsuite>").total_time_s is None


def test_names_of_enclosing_suites_with_their_package():
    reading = read(
        '<testsuites name="all"><testsuite name="Smoke" package="cart">'
        f'{CASE}<testsuite name="x.Y" package="x">{CASE}</testsuite></testsuite>'
        f'<testsuite package="only">{CASE}</testsuite>{CASE}</testsuites>'
    )
    assert [e.suites for e in reading.elements] == [
        ("cart.Smoke",),
        ("cart.Smoke", "x.Y"),
        ("only",),
        (),
    ]


# Results of suites and of collection


def test_results_of_a_suite_are_kept_and_are_no_tests():
    reading = read(
        '<testsuites><testsuite name="tap" file="a.t"><error message="died">at 3</error>'
        f"<system-out>last words</system-out>{CASE}</testsuite>"
        "<failure>all of it</failure></testsuites>"
    )
    died, passed, failure = reading.elements
    assert (died.name, died.collection, died.outcome) == ("a.t", True, Outcome.ERROR)
    assert died.message == "died"
    assert died.text == "at 3\n\n[system-out]\nlast words"
    assert not passed.collection
    assert (failure.collection, failure.outcome) == (True, Outcome.FAILED)
    assert reading.suite_level_results == 2
    assert reading.reported == Reported(tests=1, passed=1)


def test_a_file_that_pytest_could_not_collect():
    reading = read(
        '<testsuites name="pytest tests"><testsuite name="pytest">'
        '<testcase classname="" name="tests.test_broken" time="0.000">'
        '<error message="collection failure">ImportError</error></testcase>'
        '<testcase classname="" name="tests.test_gone" time="0.000">'
        '<skipped message="collection skipped">why</skipped></testcase>'
        "</testsuite></testsuites>"
    )
    broken, gone = reading.elements
    assert (broken.collection, broken.pytest, broken.outcome) == (True, True, "error")
    assert (gone.collection, gone.pytest, gone.outcome) == (False, True, "skipped")
    assert reading.reported == Reported(tests=2, errors=1, skipped=1)


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (f'<testsuite name="pytest">{CASE}</testsuite>', True),
        (f'<testsuites name="pytest tests"><testsuite name="mine">{CASE}</testsuite></testsuites>', True),
        (f'<testsuites><testsuite name="cart">{CASE}</testsuite></testsuites>', False),
        ('<testsuite><testcase file="tests/test_a.py" classname="tests.test_a.TestX" name="n"/></testsuite>', True),
        ('<testsuite><testcase file="tests\\test_a.py" classname="tests.test_a" name="n"/></testsuite>', True),
        ('<testsuite><testcase file="tests/test_a.py" classname="tests.test_ab" name="n"/></testsuite>', False),
        ('<testsuite><testcase file="a.js" classname="a" name="n"/></testsuite>', False),
    ],
)  # fmt: skip
def test_who_wrote_it(xml, expected):
    assert read(xml).elements[0].pytest is expected


# Order


def pytest_suite(cases: str, attrs: str = 'time="99"', inside: str = "") -> Reading:
    return read(f'<testsuite name="pytest" {attrs}>{inside}{cases}</testsuite>')


def in_files(*modules: str, inside: str = "") -> str:
    return "".join(
        f'<testcase classname="tests.{module}" name="n{i}" time="1">{inside}</testcase>'
        for i, module in enumerate(modules)
    )


def test_document_order_is_assumed_within_a_suite():
    reading = read(
        f'<testsuites><testsuite name="a" hostname="h">{CASE * 2}</testsuite>'
        f'<testsuite name="a" hostname="h">{CASE}</testsuite></testsuites>'
    )
    assert reading.order is OrderQuality.ASSUMED
    places = [(e.process, e.position) for e in reading.elements]
    assert places == [("h: a", 0), ("h: a", 1), ("h: a #2", 0)]


@pytest.mark.parametrize(
    ("reading", "order"),
    [
        (pytest_suite(in_files("a", "a", "b")), OrderQuality.ASSUMED),
        (pytest_suite(in_files("a", "a.TestX", "a", "b")), OrderQuality.ASSUMED),
        (pytest_suite(in_files("a", "b", "a")), OrderQuality.UNKNOWN),
        (pytest_suite(in_files("a", "b"), 'time="1.2"'), OrderQuality.UNKNOWN),
        (pytest_suite(in_files("a", "b"), 'time="2"'), OrderQuality.ASSUMED),
        (pytest_suite(in_files("a", "b"), 'time="1.9995"'), OrderQuality.ASSUMED),
        (pytest_suite(in_files("a", "b"), ""), OrderQuality.ASSUMED),
        (pytest_suite(""), OrderQuality.UNKNOWN),
    ],
)
def test_order_of_pytest(reading, order):
    assert reading.order is order
    if order is OrderQuality.UNKNOWN:
        assert {(e.process, e.position) for e in reading.elements} <= {("", None)}


@pytest.mark.parametrize(
    ("name", "value", "order"),
    [
        ("parallel", "methods", OrderQuality.UNKNOWN),
        ("numprocesses", "4", OrderQuality.UNKNOWN),
        ("junit.jupiter.execution.parallel.enabled", "true", OrderQuality.UNKNOWN),
        ("parallel", "none", OrderQuality.ASSUMED),
        ("numprocesses", "0", OrderQuality.ASSUMED),
        ("colour", "4", OrderQuality.ASSUMED),
    ],
)
def test_a_parallel_runners_property(name, value, order):
    properties = f'<properties><property name="{name}" value="{value}"/></properties>'
    assert pytest_suite(in_files("a"), inside=properties).order is order


def test_cases_that_name_their_worker_keep_their_order():
    worker = '<properties><property name="worker" value="{}"/></properties>'
    cases = "".join(
        in_files(module, inside=worker.format(gw))
        for module, gw in (("a", "gw0"), ("b", "gw1"), ("a", "gw0"))
    )
    reading = pytest_suite(cases, 'time="1.5"')
    assert reading.order is OrderQuality.ASSUMED
    assert [(e.worker, e.position) for e in reading.elements] == [
        ("gw0", 0),
        ("gw1", 0),
        ("gw0", 1),
    ]
    assert len({e.process for e in reading.elements}) == 2


def test_a_worker_property_of_a_suite():
    properties = '<properties><property name="worker_id" value="gw2"/></properties>'
    reading = pytest_suite(in_files("a", "b"), 'time="1"', properties)
    assert reading.order is OrderQuality.ASSUMED
    assert {e.worker for e in reading.elements} == {"gw2"}


# Start


def test_the_earliest_stamp_with_a_zone_starts_the_run():
    reading = read(
        '<testsuites timestamp="2025-03-01T10:00:07Z">'
        f'<testsuite timestamp="2025-03-01T12:00:02+02:00">{CASE}</testsuite>'
        '<testsuite timestamp="0001-01-01T00:00:00Z"/><testsuite timestamp="..."/>'
        '<testsuite timestamp="2025-03-01T03:00:00"/></testsuites>'
    )
    assert reading.started_at == datetime(2025, 3, 1, 10, 0, 2, tzinfo=UTC)
    assert reading.zoneless_start == "2025-03-01T03:00:00"


def test_a_stamp_without_a_zone_stays_as_written():
    reading = read(f'<testsuite timestamp=" 2025-03-01T12:30:00 ">{CASE}</testsuite>')
    assert reading.started_at is None
    assert reading.zoneless_start == "2025-03-01T12:30:00"


ATTEMPT = '<testcase classname="t.test_a" name="test_x"{}>{}</testcase>'
FAILED = '<failure message="no"/>'


@pytest.mark.parametrize(
    "cases",
    [
        # pytest-rerunfailures: earlier attempts are childless, each test counts once.
        [ATTEMPT.format(' time="0.1"', ""), ATTEMPT.format("", FAILED)],
        [ATTEMPT.format("", ""), ATTEMPT.format("", ""), ATTEMPT.format("", FAILED)],
    ],
)
def test_attempts_explain_a_number_of_tests_that_differs(cases):
    reading = read(
        '<testsuites><testsuite name="pytest" tests="2" failures="1" errors="0" '
        f'skipped="0">{CASE}{"".join(cases)}</testsuite></testsuites>'
    )
    assert (reading.declared_tests, reading.reported.tests) == (2, 1 + len(cases))
    assert told(reading) == []


@pytest.mark.parametrize(
    ("declared", "failures", "text"),
    [
        # As many as there are names, but another number does not fit either.
        (2, 0, "2 tests declared, 3 listed, 0 failed declared, 1 listed"),
        # Fewer than there are names: repeats do not explain it.
        (1, 1, "1 tests declared, 3 listed"),
    ],
)
def test_attempts_do_not_explain_other_differences(declared, failures, text):
    reading = read(
        f'<testsuite name="s" tests="{declared}" failures="{failures}">'
        f"{CASE}{ATTEMPT.format('', '')}{ATTEMPT.format('', FAILED)}</testsuite>"
    )
    assert told(reading) == [
        ("declared-counts-differ", f"counts differ: {text} (suite s)")
    ]
