"""One case: outcome, message, text and attempts, by its children and attributes."""

from __future__ import annotations

import io

import pytest

from formats.junit import read_junit
from formats.limits import Limits
from formats.outcomes import Outcome
from formats.report import Attempt, Element, Reading


def read(xml: str, **limits: int) -> Reading:
    return read_junit(io.BytesIO(xml.encode()), limits=Limits(**limits))


def case(inside: str, attrs: str = "", **limits: int) -> Element:
    xml = f'<testsuite name="s"><testcase classname="c" name="n" {attrs}>{inside}</testcase></testsuite>'
    (element,) = read(xml, **limits).elements
    return element


@pytest.mark.parametrize(
    ("inside", "attrs", "outcome"),
    [
        ("", "", Outcome.PASSED),
        ("<warning/>", "", Outcome.PASSED),
        ("<failure/>", "", Outcome.FAILED),
        ("<failure/><failure/>", "", Outcome.FAILED),
        ("<error/>", "", Outcome.ERROR),
        ("<failure/><error/>", "", Outcome.ERROR),
        ("<skipped/>", "", Outcome.SKIPPED),
        ("<disabled/>", "", Outcome.SKIPPED),
        ("<ignored/>", "", Outcome.SKIPPED),
        ("<skipped/><failure/>", "", Outcome.SKIPPED),
        ("<skipped/><error/>", "", Outcome.ERROR),
        ('<skipped type="pytest.xfail" message="known"/>', "", Outcome.XFAILED),
        ('<skipped type="XFAIL"/>', "", Outcome.XFAILED),
        ('<skipped message="expected test failure"/>', "", Outcome.XFAILED),
        ('<failure message="[XPASS(strict)] known"/>', "", Outcome.FAILED),
        ("<flakyFailure/>", "", Outcome.PASSED),
        ("<flakyError/><flakyFailure/>", "", Outcome.PASSED),
        ("<flakyFailure/><rerunFailure/>", "", Outcome.PASSED),
        ("<failure/><flakyFailure/>", "", Outcome.FAILED),
        ("<failure/><rerunError/>", "", Outcome.FAILED),
        ("<error/><rerunFailure/>", "", Outcome.ERROR),
        ("<rerunFailure/>", "", Outcome.FAILED),
        ("<rerunError/>", "", Outcome.ERROR),
        ("", 'status="run" result="completed"', Outcome.PASSED),
        ("", 'status="notrun"', Outcome.SKIPPED),
        ("", 'status="NotRun"', Outcome.SKIPPED),
        ("", 'status="not run"', Outcome.SKIPPED),
        ("", 'status="run" result="suppressed"', Outcome.SKIPPED),
        ("", 'status="todo"', Outcome.SKIPPED),
        ("", 'status="inconclusive"', Outcome.SKIPPED),
        ("", 'status="failed"', Outcome.FAILED),
        ("", 'status="broken"', Outcome.FAILED),
        ("", 'result="Errored"', Outcome.ERROR),
        ("", 'status="whatever"', Outcome.PASSED),
        ("<failure/>", 'status="disabled"', Outcome.SKIPPED),
        ("<failure/>", 'status="passed"', Outcome.FAILED),
        ("<error/>", 'status="skipped"', Outcome.ERROR),
        ("<properties><failure/></properties>", "", Outcome.PASSED),
        ("<x:failure/>", "", Outcome.FAILED),
    ],
)
def test_children_and_status_decide_the_outcome(inside, attrs, outcome):
    assert case(inside, attrs).outcome is outcome


def test_only_three_attributes_and_a_status_among_them():
    reading = read(
        '<testsuite><testcase name="a" classname="c" status="disabled"/>'
        '<testcase name="b" status="failed" time="1"/><testcase status="skip"/></testsuite>'
    )
    assert [e.outcome for e in reading.elements] == [
        Outcome.SKIPPED,
        Outcome.FAILED,
        Outcome.SKIPPED,
    ]
    assert [e.name for e in reading.elements] == ["a", "b", ""]


def test_several_failures_message_is_the_first_and_the_text_holds_all():
    element = case(
        '<failure message="subtotal is 9"/><failure message="tax is 0">at tax.py:3</failure>'
    )
    assert element.message == "subtotal is 9"
    assert element.text == "subtotal is 9\n\ntax is 0\nat tax.py:3"


def test_a_skip_keeps_the_text_of_the_failure_beside_it():
    element = case("<skipped/><failure>no selector</failure>")
    assert (element.outcome, element.message) == (Outcome.SKIPPED, "no selector")
    assert "no selector" in element.text
    element = case(
        '<skipped message="later"/><failure message="still broken">x</failure>'
    )
    assert element.message == "later"
    assert "still broken\nx" in element.text


def test_a_skip_keeps_its_message():
    element = case('<skipped type="pytest.skip" message="why">a.py:3: why</skipped>')
    assert (element.message, element.text) == ("why", "a.py:3: why")


def test_a_teardown_error_after_a_skip_keeps_both():
    element = case('<skipped message="why"/><error message="broke">trace</error>')
    assert (element.outcome, element.message) == (Outcome.ERROR, "broke")
    assert "trace" in element.text
    assert "why" in element.text


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<failure message="m" type="t">body</failure>', "m"),
        ("<failure type='t'>\n  first line  \nsecond</failure>", "first line"),
        ("<failure type='t'/>", "t"),
        ("<failure/>", ""),
    ],
)
def test_message_is_the_attribute_else_the_first_line_else_the_type(inside, message):
    assert case(inside).message == message


def test_a_failing_status_alone_is_its_message():
    assert case("", 'status="failed"').message == "failed"


def test_entities_are_resolved_exactly_once():
    element = case(
        "<failure message='a &amp;amp; b&#10;c'>&lt;b&gt; &amp;lt; <![CDATA[&lt;]]></failure>"
    )
    assert element.message == "a &amp; b\nc"
    assert element.text == "<b> &lt; &lt;"
    (named,) = read(
        '<testsuite><testcase name="a &gt; b &quot;x&quot; &amp;amp; caf\u00e9 &#233; &#x1F600;"/></testsuite>'
    ).elements
    assert named.name == 'a > b "x" &amp; caf\u00e9 \u00e9 \U0001f600'


def test_output_is_kept_of_a_failing_case_only():
    out = "<system-out>to out</system-out><system-err>to err</system-err>"
    failing = case(f"{out}<failure>trace</failure>")
    assert failing.text == "trace\n\n[system-out]\nto out\n\n[system-err]\nto err"
    assert case(out).text == ""
    assert case(f"<skipped/>{out}").text == ""
    assert case(out, 'status="failed"').text.startswith("[system-out]\nto out")


def test_long_output_keeps_both_ends_and_says_what_is_cut():
    output = "A" * 40 + "x" * 1000 + "Z" * 40
    element = case(f"<failure/><system-out>{output}</system-out>", output=80)
    assert element.text == (
        f"[system-out]\n{'A' * 40}\n[… 1,000 of 1,080 characters left out …]\n{'Z' * 40}"
    )


def test_a_long_message_is_cut_but_stays_whole_in_the_text():
    element = case(f"<failure message='{'m' * 500}'/>", message=100)
    assert "[… 400 of 500 characters left out …]" in element.message
    assert element.text == "m" * 500


def test_long_output_of_passing_cases_is_told_in_one_note():
    reading = read(
        f"<testsuite><testcase name='a'><system-out>{'x' * 200}</system-out></testcase>"
        f"<testcase name='b'><system-out>{'x' * 20}</system-out></testcase></testsuite>",
        output=100,
    )
    (note,) = reading.notes
    assert note.code == "output-left-out"
    assert "1 case that did not fail" in note.message
    assert "200 characters" in note.message


def test_texts_of_a_whole_file_are_bounded():
    one = (
        "<testcase name='a'><failure message='m'>" + "t" * 50 + "</failure></testcase>"
    )
    reading = read(f"<testsuite>{one * 5}</testsuite>", kept=60)
    assert [len(e.text) for e in reading.elements] == [50, 50, 0, 0, 0]
    assert {e.message for e in reading.elements} == {"m"}
    assert reading.reported.failed == 5
    assert [note.code for note in reading.notes] == ["texts-left-out"]


def test_failures_of_one_case_are_bounded():
    element = case("<failure message='m'/>" * 50 + "<error message='e'/>", parts=10)
    assert element.outcome is Outcome.ERROR
    assert element.text.count("m") == 10
    assert element.text.endswith("e")


# Attempts


def test_flaky_children_are_earlier_failed_attempts():
    element = case(
        '<flakyFailure message="no" time="0.5"><stackTrace>at A</stackTrace>'
        '<system-out>out</system-out></flakyFailure><flakyError type="E"/>'
    )
    assert element.outcome is Outcome.PASSED
    assert element.attempts == (
        Attempt(Outcome.FAILED, 0.5, "no", "at Aout"),
        Attempt(Outcome.ERROR, None, "E", ""),
    )


def test_reruns_beside_a_failure_are_attempts_that_failed_too():
    element = case('<failure message="1"/><rerunFailure message="2"/><rerunError/>')
    assert (element.outcome, element.message) == (Outcome.FAILED, "1")
    assert [a.outcome for a in element.attempts] == [Outcome.FAILED, Outcome.ERROR]


def test_reruns_alone_make_the_last_of_them_the_result():
    element = case('<rerunFailure message="1"/><rerunError message="2">t</rerunError>')
    assert (element.outcome, element.message) == (Outcome.ERROR, "2")
    assert [a.message for a in element.attempts] == ["1"]


def test_flaky_but_configured_to_fail_holds_a_pass_among_its_attempts():
    reading = read(
        '<testsuite><testcase name="n"><failure message="configured to fail"/>'
        "<flakyFailure>first</flakyFailure></testcase></testsuite>"
    )
    (element,) = reading.elements
    assert element.outcome is Outcome.FAILED
    assert [a.outcome for a in element.attempts] == [Outcome.FAILED, Outcome.PASSED]
    assert reading.rerun_or_flaky == 1


# Properties


def test_properties_of_a_case():
    element = case(
        '<properties><property name="test_id" value="T-1"/>'
        '<property name="worker_id" value="gw3"/></properties>'
    )
    assert (element.test_id, element.worker) == ("T-1", "gw3")


def test_file_and_line():
    element = case("", 'file="tests/test_a.py" line="17"')
    assert (element.file, element.line) == ("tests/test_a.py", 17)
    assert case("", 'line="x"').line is None
