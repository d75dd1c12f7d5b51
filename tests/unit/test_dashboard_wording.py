"""How values are written on the pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard import wording

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (None, "–"),
        (0.0, "0 s"),
        (0.0004, "< 1 ms"),
        (0.0123, "12 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min"),
        (61.2, "1 min 1 s"),
        (3599.6, "1 h 0 min"),
        (3725.0, "1 h 2 min"),
        (90_000.0, "25 h 0 min"),
    ],
)
def test_a_duration_has_the_unit_that_fits(seconds, written):
    assert wording.duration(seconds) == written


@pytest.mark.parametrize(
    ("share", "written"),
    [
        (None, "–"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.5, "50.0 %"),
        (0.0001, "< 0.1 %"),
        (0.99999, "> 99.9 %"),
        (0.9987, "99.9 %"),
    ],
)
def test_a_share_is_never_rounded_to_all_or_none(share, written):
    assert wording.percent(share) == written


@pytest.mark.parametrize(
    ("before", "written"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(seconds=59), "59 seconds ago"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(hours=47), "1 day ago"),
        (timedelta(days=29), "29 days ago"),
        (timedelta(days=30), "1 month ago"),
        (timedelta(days=364), "12 months ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(hours=-5), "in 5 hours"),
    ],
)
def test_a_time_is_written_relative(before, written):
    assert wording.ago(NOW - before, now=NOW) == written


@pytest.mark.parametrize(
    ("nodeid", "head", "tail"),
    [
        ("tests/a.py::T::test_x[a::b]", "tests/a.py::T", "::test_x[a::b]"),
        ("tests/a.py::test_x[/p/q]", "tests/a.py", "::test_x[/p/q]"),
        ("a/b/c", "a/b", "/c"),
        ("alone", "", "alone"),
        ("::x", "", "::x"),
        ("", "", ""),
    ],
)
def test_an_id_is_split_before_its_last_part(nodeid, head, tail):
    assert wording.split_nodeid(nodeid) == (head, tail)


@given(st.text())
def test_the_parts_of_an_id_are_the_id(nodeid):
    assert "".join(wording.split_nodeid(nodeid)) == nodeid


@pytest.mark.parametrize(
    ("number", "written"), [(0, "no runs"), (1, "1 run"), (12141, "12,141 runs")]
)
def test_things_are_counted(number, written):
    assert wording.counted(number, "run") == written


@pytest.mark.parametrize(
    ("commit", "written"),
    [
        ("abcdef0123456789abcdef0123456789abcdef01", "abcdef012"),
        ("v1.2-rc.1", "v1.2-rc.1"),
        ("abcdef0", "abcdef0"),
        ("release-of-2026-05-04-evening", "release-of-2026-05-04-evening"),
    ],
)
def test_only_long_hexadecimal_commits_are_shortened(commit, written):
    assert wording.short_commit(commit) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"python": "3.12", "os": "linux"}, "os=linux, python=3.12"),
        (["a", "b"], "a, b"),
        ([], "none"),
        (None, "none"),
        (True, "yes"),
        (0, "0"),
        ({"shard": {"index": 1}}, "shard=index=1"),
    ],
)
def test_json_is_written_in_a_line(value, written):
    assert wording.plain(value) == written


@pytest.mark.parametrize(
    ("parts", "written"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_parts_become_a_sentence(parts, written):
    assert wording.sentence(parts) == written


@pytest.mark.parametrize(
    ("back", "written"),
    [
        (0, "today"),
        (1, "yesterday"),
        (2, "2 days ago"),
        (59, "59 days ago"),
        (60, "2 months ago"),
        (729, "24 months ago"),
        (730, "2 years ago"),
        (-1, "on 2026-05-05"),
    ],
)
def test_a_day_is_so_many_days_ago(back, written):
    today = NOW.date()
    assert wording.days_ago(today - timedelta(days=back), today=today) == written


def test_a_long_list_is_cut_and_says_so():
    assert wording.plain(list("abcde")) == "a, b, c, d, e"
    assert wording.plain(list("abcdefg")) == "a, b, c, d, e and 2 more"
    assert wording.plain([]) == "none"
