"""Durations and start times as tools write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.durations import seconds
from formats.timestamps import stamp


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.25", 0.25),
        (" 1.5 ", 1.5),
        ("1e-3", 0.001),
        ("0", 0.0),
        ("-0.0", 0.0),
        ("-3", 0.0),
        ("-0,5", 0.0),
        ("0,25", 0.25),
        ("0,500", 0.5),
        ("1,234", 1234.0),
        ("12,345,678", 12345678.0),
        ("1,2345", 1.2345),
        ("1234,5", 1234.5),
        ("1,750.5", 1750.5),
        ("12,003.125", 12003.125),
        ("1.234,5", 1234.5),
        ("1.234.567,8", 1234567.8),
        ("2s", 2.0),
        ("2 sec", 2.0),
        ("1,5 s", 1.5),
        ("15ms", 0.015),
        ("1e3ms", 1.0),
        ("99999999", 99999999.0),
        ("", None),
        ("   ", None),
        ("NaN", None),
        ("inf", None),
        ("1e14", 1e14),
        ("1.1e14", None),
        ("1e308", None),
        ("-inf", None),
        ("1e999", None),
        ("*", None),
        ("...", None),
        ("<<computed>>", None),
        ("12:30", None),
        ("1_000", None),
        ("1,23,456", None),
        ("1.2.3", None),
        ("5 min", None),
        ("s", None),
        (",", None),
        ("+", None),
    ],
)
def test_seconds(text, value):
    assert seconds(text) == value


@given(st.text())
def test_no_text_raises(text):
    value = seconds(text)
    assert value is None or 0 <= value < float("inf")
    moment = stamp(text)
    assert moment is None or 1990 <= moment.year < 2100


@given(st.text(alphabet="0123456789+-.,:eEsmTZ /_naif", max_size=40))
def test_no_text_of_numbers_raises(text):
    value = seconds(text)
    assert value is None or 0 <= value < float("inf")
    stamp(text)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-03-01T15:04:05Z", utc(2025, 3, 1, 15, 4, 5)),
        ("2025-03-01T15:04:05+02:00", utc(2025, 3, 1, 13, 4, 5)),
        ("2025-03-01T15:04:05-0800", utc(2025, 3, 1, 23, 4, 5)),
        ("2025-03-01T15:04:05.123456789Z", utc(2025, 3, 1, 15, 4, 5, 123456)),
        ("20250301T150405Z", utc(2025, 3, 1, 15, 4, 5)),
        ("2025-03-01 15:04:05 +0000", utc(2025, 3, 1, 15, 4, 5)),
        ("2025-03-01 15:04:05 UTC", utc(2025, 3, 1, 15, 4, 5)),
        ("Sat, 01 Mar 2025 15:04:05 GMT", utc(2025, 3, 1, 15, 4, 5)),
        ("1740841445", utc(2025, 3, 1, 15, 4, 5)),
        ("1740841445.5", utc(2025, 3, 1, 15, 4, 5, 500000)),
        ("1740841445000", utc(2025, 3, 1, 15, 4, 5)),
        ("2025-03-01T15:04:05", datetime(2025, 3, 1, 15, 4, 5)),
        ("2025-03-01T15:04:05.123456", datetime(2025, 3, 1, 15, 4, 5, 123456)),
        ("2025 03 01 15:04:05", datetime(2025, 3, 1, 15, 4, 5)),
        ("Sat Mar 01 15:04:05 2025", datetime(2025, 3, 1, 15, 4, 5)),
        ("2025-03-01", datetime(2025, 3, 1)),
        ("", None),
        ("...", None),
        ("0001-01-01T00:00:00Z", None),
        ("1970-01-01T00:00:00Z", None),
        ("2999-01-01T00:00:00Z", None),
        ("2025-02-30T00:00:00", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("0", None),
    ],
)
def test_stamp(text, moment):
    assert stamp(text) == moment
