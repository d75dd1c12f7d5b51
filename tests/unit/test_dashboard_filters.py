"""The query string, read kindly."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard import filters
from dashboard.paging import cut
from dashboard.run_filters import read_filters


@pytest.mark.parametrize(
    ("given_value", "read"),
    [("7", 7), ("", 30), ("x", 30), ("-1", 30), ("٣", 30), ("0", 1), ("999", 365)],
)
def test_a_number_stays_in_its_bounds(given_value, read):
    query = {"window": given_value}
    assert filters.number(query, "window", default=30, low=1, high=365) == read


@pytest.mark.parametrize(
    ("given_value", "read"),
    [("2026-05-04", date(2026, 5, 4)), ("2026-02-30", None), ("", None), ("x", None)],
)
def test_a_day_is_a_day_or_nothing(given_value, read):
    assert filters.day({"since": given_value}, "since") == read


def test_a_text_is_cleaned_and_cut():
    assert filters.text({"q": "  a\x00b "}, "q") == "ab"
    assert len(filters.text({"q": "x" * 1000}, "q")) == 300
    assert filters.text({}, "q") == ""


def test_a_choice_is_one_of_those_offered():
    assert filters.choice({"sort": "name"}, "sort", ("name",)) == "name"
    assert filters.choice({"sort": "evil"}, "sort", ("name",)) == ""


def test_days_are_whole_in_the_projects_zone():
    query = {"since": "2026-03-29", "until": "2026-03-29"}
    known = read_filters(query, zone="Europe/Zurich").known()
    # The day on which the clocks go forward: 23 hours.
    assert known == {
        "since": datetime(2026, 3, 28, 23, tzinfo=UTC),
        "until": datetime(2026, 3, 29, 22, tzinfo=UTC),
    }


def test_filters_that_make_sense_are_kept():
    query = {
        "branch": "feature/x",
        "commit": "abcdef0",
        "pr": "#12",
        "environment": "os=linux,python=3.12",
        "outcome": "failed",
    }
    found = read_filters(query, zone="UTC")
    assert found.wrong == []
    assert found.known() == query | {"pr": 12}
    assert found.active


def test_filters_that_make_no_sense_are_said():
    query = {"commit": "a b", "pr": "x", "outcome": "red", "since": "soon"}
    found = read_filters(query, zone="UTC")
    assert not found.active
    assert found.wrong == [
        "commit “a b”",
        "pr “x”",
        "outcome “red”",
        "since “soon”",
    ]


NAMES = ("branch", "commit", "pr", "environment", "outcome", "since", "until")


@given(st.dictionaries(st.sampled_from(NAMES), st.text()))
def test_any_text_is_read_without_an_error(query):
    read_filters(query, zone="Pacific/Kiritimati").known()


@given(st.integers(1, 9), st.integers(0, 12))
def test_a_page_knows_its_neighbours(number, rows):
    page = cut(list(range(rows)), number, size=5)
    assert len(page.rows) == min(rows, 5)
    assert page.next == (number + 1 if rows > 5 else None)
    assert page.previous == (number - 1 if number > 1 else None)
