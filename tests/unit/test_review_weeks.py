"""ISO weeks, and the sentences of the agenda: tables made by hand."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.fixed import proof
from formats.tables import write_csv
from review import wording
from review.weeks import IsoWeek, NotAWeek, read_week, week_of


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("2026-W10", date(2026, 3, 2), date(2026, 3, 8)),
        ("2026-W01", date(2025, 12, 29), date(2026, 1, 4)),
        ("2026-W53", date(2026, 12, 28), date(2027, 1, 3)),
        ("2020-W53", date(2020, 12, 28), date(2021, 1, 3)),
    ],
)
def test_a_week_has_its_days(name, first, last):
    week = read_week(name)
    assert (week.first, week.last, week.name) == (first, last, name)
    assert week_of(last) == week_of(first) == week
    assert (week.before.after, week.after.before) == (week, week)


@pytest.mark.parametrize(
    "name",
    ["", "2026-10", "2026-W1", "2026-W00", "2025-W53", "1999-W10", "9999-W01", "x"],
)
def test_what_is_no_week_is_refused(name):
    with pytest.raises(NotAWeek):
        read_week(name)


def test_a_week_begins_at_midnight_of_the_projects_zone():
    week = read_week("2026-W13")  # the clocks go forward on its Sunday
    assert week.begins("Europe/Zurich") == datetime(2026, 3, 22, 23, tzinfo=UTC)
    assert week.ends("Europe/Zurich") == datetime(2026, 3, 29, 22, tzinfo=UTC)


@given(st.dates(date(2000, 1, 3), date(9998, 12, 20)))
def test_names_sort_as_weeks_do(day):
    week = week_of(day)
    assert week.first <= day <= week.last
    assert read_week(week.name) == week
    assert week.name < week.after.name
    assert week < IsoWeek(week.after.first)


def fixed(old_failed, old_runs, runs, failures=0, since="#540"):
    told = proof(
        old_events=old_failed, old_trials=old_runs, relevant=runs, failures=failures
    )
    return wording.fixed(told, since=since, old_failed=old_failed, old_runs=old_runs)


def test_a_fix_is_told_with_exact_bounds():
    # Lower bound of 81/214 is 0.3157: (1 - 0.3157)^214 = 10^-35.2. Upper bound of the
    # new rate: 1 - 0.05^(1/214) = 0.0139.
    assert fixed(81, 214, 214) == (
        "0 failures in 214 runs since #540; at the old 38 % that happens by chance "
        "less than once in 10^35; with 95 % certainty it now fails in fewer than 1.4 %."
    )


def test_a_fix_that_is_too_young_is_not_called_proven():
    # Lower bound of 2/10 is 0.0440: (1 - 0.0440)^4 = 0.835. 1 - 0.05^(1/4) = 0.527.
    assert fixed(2, 10, 4) == (
        "0 failures in 4 runs since #540; at the old 20 % that may well happen by "
        "chance; with 95 % certainty it now fails in fewer than 53 %. Not proven yet: "
        "it takes 10 runs and a chance below 1 %."
    )
    assert fixed(2, 10, 0) == "No run since #540 yet; 20 % before (2 of 10)."
    assert fixed(0, 10, 5) == (
        "0 failures in 5 runs since #540; it did not fail before, so nothing is proven."
    )


def test_a_failure_since_is_said_first():
    assert fixed(5, 10, 20, failures=1) == (
        "1 failure in 20 runs since #540: not fixed (50 % before)."
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "that practically never happens by chance"),
        (1e-40, "that happens by chance less than once in 10^40"),
        (2e-40, "that happens by chance less than once in 10^39"),
        (0.0009, "that happens by chance less than once in 10^3"),
        (0.009, "that happens by chance once in 111"),
        (0.4, "that happens by chance once in 2"),
        (0.5, "that may well happen by chance"),
    ],
)
def test_chances_are_never_told_too_small(value, said):
    assert wording.chance(value) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "no runs"),
        (1, "1 run"),
        (2, "2 runs"),
        (0.4, "0.4 runs"),
        (1234, "1,234 runs"),
    ],
)
def test_numbers_are_counted_in_words(number, said):
    assert wording.counted(number, "run") == said


def test_costs_are_told_in_words():
    said = wording.cost(failed_results=2.5, failed_runs=1, lost_s=5_400, pulls=3)
    assert said == (
        "3 pull requests turned red, 2.5 failed results charged to it, 1 red run, "
        "90 minutes lost"
    )


def test_a_table_holds_no_formula():
    rows = [["=1+1", None, -2, 1.5, True, ["a", "b"], date(2026, 3, 2), 'x"y\n', "@a"]]
    assert write_csv("abcdefghi", rows) == (
        'a,b,c,d,e,f,g,h,i\r\n\'=1+1,,-2,1.5,yes,"a, b",2026-03-02,"x""y\n",\'@a\r\n'
    )
