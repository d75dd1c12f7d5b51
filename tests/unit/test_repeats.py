"""The same id twice in one report."""

from __future__ import annotations

import pytest

from formats.assembly import assemble
from formats.outcomes import Outcome
from formats.repeats import Repeats, decide
from formats.report import Attempt, Contribution, Element, Reading
from formats.report import TestResult as Result

PASSED, FAILED, ERROR, SKIPPED = (
    Outcome.PASSED,
    Outcome.FAILED,
    Outcome.ERROR,
    Outcome.SKIPPED,
)


def case(name: str, outcome: Outcome = PASSED, **fields: object) -> Element:
    fields = {"classname": "t", "duration": 1.0, **fields}
    if outcome in (FAILED, ERROR):
        fields = {"message": f"{name} broke", **fields}
    return Element(name=name, outcome=outcome, **fields)  # type: ignore[arg-type]


def report(
    *elements: Element, declared: int | None = None, repeats: str = "auto"
) -> Contribution:
    reading = Reading(list(elements), declared_tests=declared)
    return assemble([("junit", "a.xml", reading)], repeats=repeats)


def result(contribution: Contribution, name: str) -> Result:
    (found,) = [one for one in contribution.results if one.name == name]
    return found


def outcomes(one: Result) -> list[Outcome]:
    return [*(attempt.outcome for attempt in one.attempts), one.outcome]


@pytest.mark.parametrize(
    ("setting", "declared", "distinct", "written", "rule"),
    [
        ("auto", 3, 3, 7, "attempts"),
        ("auto", 7, 3, 7, "invocations"),
        ("auto", None, 3, 7, "invocations"),
        ("auto", 5, 3, 7, "invocations"),
        ("attempts", 7, 3, 7, "attempts"),
        ("invocations", 3, 3, 7, "invocations"),
    ],
)
def test_rule_follows_setting_then_declared_count(
    setting, declared, distinct, written, rule
):
    assert (
        decide(Repeats(setting), declared=declared, distinct=distinct, written=written)
        == rule
    )


def test_rerunfailures_hides_failed_attempts_in_childless_cases():
    contribution = report(
        case("heals"), case("heals"), case("heals"),
        case("never"), case("never", FAILED),
        case("steady"),
        declared=3,
    )  # fmt: skip

    heals, never = result(contribution, "heals"), result(contribution, "never")
    assert outcomes(heals) == [FAILED, FAILED, PASSED]
    assert heals.flaky is True
    assert outcomes(never) == [FAILED, FAILED]
    assert never.flaky is False
    assert outcomes(result(contribution, "steady")) == [PASSED]
    assert contribution.repeats == "attempts"


def test_attempts_by_setting():
    contribution = report(
        case("ok", FAILED), case("ok", FAILED), case("ok"), case("steady"),
        declared=4, repeats="attempts",
    )  # fmt: skip

    ok = result(contribution, "ok")
    assert outcomes(ok) == [FAILED, FAILED, PASSED]
    assert ok.flaky is True
    assert (ok.duration, contribution.duration_s) == (1.0, 4.0)
    assert [attempt.message for attempt in ok.attempts] == ["ok broke", "ok broke"]


def test_passed_attempt_by_setting_alone_stays_passed():
    contribution = report(case("ok"), case("ok"), declared=2, repeats="attempts")

    assert outcomes(result(contribution, "ok")) == [PASSED, PASSED]


def test_invocations_keep_the_worst_and_are_not_flaky():
    contribution = report(
        case("a"), case("a", FAILED, message="one"), case("a", FAILED, message="two"),
        declared=3,
    )  # fmt: skip

    (one,) = contribution.results
    assert (one.outcome, one.attempts, one.flaky) == (FAILED, (), False)
    assert one.message == "one"
    assert one.text == "one\n\ntwo"
    assert one.duration == 3.0
    assert contribution.repeats == "invocations"


@pytest.mark.parametrize(
    ("told", "worst"),
    [
        ([SKIPPED, PASSED], PASSED),
        ([PASSED, FAILED], FAILED),
        ([FAILED, ERROR, PASSED], ERROR),
        ([SKIPPED, FAILED], FAILED),
        ([SKIPPED, SKIPPED], SKIPPED),
    ],
)
def test_worst_invocation(told, worst):
    elements = [case("a", outcome) for outcome in told]

    assert report(*elements).results[0].outcome is worst


def test_skipped_one_before_another_result_is_an_attempt_without_failure():
    contribution = report(
        case("heals", SKIPPED), case("heals"),
        case("broken", SKIPPED), case("broken", FAILED),
        declared=2,
    )  # fmt: skip

    assert outcomes(result(contribution, "heals")) == [SKIPPED, PASSED]
    assert outcomes(result(contribution, "broken")) == [SKIPPED, FAILED]
    assert not any(one.flaky for one in contribution.results)


@pytest.mark.parametrize("declared", [1, 2])
def test_teardown_error_belongs_to_the_attempt_before_it(declared):
    contribution = report(
        case("a", FAILED, message="call broke", text="call trace"),
        case("a", ERROR, message='failed on teardown with "E: x"', text="td trace"),
        declared=declared,
    )

    (one,) = contribution.results
    assert (one.outcome, one.attempts) == (ERROR, ())
    assert one.message == "call broke"
    assert "call trace" in one.text
    assert "td trace" in one.text
    assert one.duration == 2.0
    assert contribution.repeats == ""


def test_error_of_another_kind_is_not_merged():
    contribution = report(
        case("a", FAILED), case("a", ERROR, message="failed on setup with x"),
        declared=1,
    )  # fmt: skip

    assert outcomes(contribution.results[0]) == [FAILED, ERROR]


def test_flaky_elements_decide_before_the_setting():
    retried = case("a", attempts=(Attempt(FAILED, 1.0, "first"),))

    contribution = report(retried, retried, declared=1, repeats="attempts")

    (one,) = contribution.results
    assert contribution.repeats == "invocations"
    assert one.flaky is True
    assert one.outcome is PASSED


@pytest.mark.parametrize(
    ("attempts", "expected", "flaky"),
    [
        ((Attempt(FAILED), Attempt(PASSED)), [FAILED, PASSED, PASSED], True),
        ((), [PASSED], False),
    ],
    ids=["attempts", "one"],
)
def test_a_trace_decides_before_everything(attempts, expected, flaky):
    reading = Reading(
        [Element(name="test_a", classname="t", pytest=True, outcome=PASSED)] * 3,
        declared_tests=3,
    )
    trace = Reading(
        [Element("t.py::test_a", nodeid="t.py::test_a", outcome=PASSED,
                 attempts=attempts, process="gw0:1", position=2)]
    )  # fmt: skip

    contribution = assemble([("junit", "a.xml", reading), ("order", "o", trace)])

    (one,) = contribution.results
    assert outcomes(one) == expected
    assert one.flaky is flaky


def test_the_choice_is_shown_with_examples():
    elements = [case(f"t{i}") for i in range(8) for _ in range(2)]

    (note,) = report(*elements).notes

    assert note.code == "repeated-ids"
    assert note.message == (
        "8 tests stand more than once in a.xml, taken as invocations of one test: "
        "the worst result counts: t::t0, t::t1, t::t2, t::t3, t::t4 and 3 more"
    )
