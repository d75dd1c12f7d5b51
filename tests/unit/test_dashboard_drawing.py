"""Figures, sparklines, bars, lanes and tallies: values in, shapes out."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard import charts
from dashboard.health import last_value, whole
from dashboard.histories import tallies
from dashboard.lanes import lanes_of
from dashboard.sparklines import HEIGHT, WIDTH, sparkline, stacked
from results.queries.shapes import HistoryCell, Lane, Timeline, TrendPoint

AT = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def point(day, value, of=10):
    return TrendPoint(date(2026, 5, day), value, of, runs=1)


def cell(outcome="passed", **fields):
    values = {
        "run": 1,
        "run_name": "ci-1",
        "started_at": AT,
        "outcome": outcome,
        "flaky": False,
        "conflict": False,
        "attempts": 1,
        "duration_s": 1.5,
        "branch": "main",
        "commit": "c",
        "pr": None,
        "environment": {},
        "branch_class": "default",
        "excluded": False,
        "leaking": False,
        "message": "",
        "failure": None,
        "failure_group": None,
    }
    return HistoryCell(**values | fields)


def test_figures_are_plain_json_with_named_colours():
    rate = [point(1, 0.5), point(2, None), point(3, 1.0)]
    failing = [point(1, 4.0), point(2, None), point(3, 0.0)]
    cells = [cell(), cell("failed"), cell("error", flaky=True), cell("skipped")]
    for figure in (
        charts.health(failing, rate),
        charts.durations_by_day(failing, failing),
        charts.durations_of_test(cells, ["/r/1"] * 4),
        charts.health([], []),
    ):
        text = json.dumps(figure, allow_nan=False)
        assert json.loads(text) == figure
        assert set(re.findall(r"#[0-9a-f]{3,6}\b", text)) == set()


def test_a_day_without_runs_is_a_gap_in_the_figure():
    figure = charts.health([point(1, 4.0), point(2, None)], [point(1, 0.5)] * 2)
    [_, bars] = figure["data"]
    assert bars["x"] == ["2026-05-01", "2026-05-02"]
    assert bars["y"] == [4.0, None]


def test_a_tests_durations_are_told_apart_by_shape():
    cells = [cell(), cell("failed"), cell(flaky=True), cell("xfailed")]
    traces = charts.durations_of_test(cells, ["/a", "/b", "/c", "/d"])["data"]
    assert [trace["name"] for trace in traces] == ["passed", "failed", "flaky", "other"]
    assert len({trace["marker"]["symbol"] for trace in traces}) == 4
    assert [trace["customdata"] for trace in traces] == [["/a"], ["/b"], ["/c"], ["/d"]]
    unknown = charts.durations_of_test([cell(duration_s=None)], ["/a"])
    assert unknown["data"] == []


@given(
    st.lists(st.none() | st.floats(-1, 2), max_size=40),
    st.floats(0, 0.9),
)
def test_a_sparkline_stays_in_its_box(values, low):
    drawn = sparkline(values, low=low, high=1.0, label="")
    known = [value for value in values if value is not None]
    assert (drawn is None) == (len(known) < 2)
    if drawn is not None:
        numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", drawn.line)]
        assert len(numbers) == 2 * len(known)
        assert all(0 <= x <= WIDTH for x in numbers[::2])
        assert all(0 <= y <= HEIGHT for y in numbers[1::2])


@given(st.dictionaries(st.text(), st.integers(0, 10**6), max_size=6))
def test_a_bar_is_filled_and_shows_all_that_is_there(counts):
    drawn = stacked(counts)
    assert [part.kind for part in drawn] == [k for k, n in counts.items() if n]
    if drawn:
        assert sum(part.width for part in drawn) == pytest.approx(100, abs=0.1)
        assert min(part.width for part in drawn) > 0.9
        assert drawn[0].start == 0


def lane(starts, durations, outcomes=None, *, tests=None, end=100.0):
    n = len(starts)
    return Lane(
        worker="gw0",
        job="unit",
        index=1,
        attempt=1,
        tests=tests or n,
        busy_s=sum(durations),
        end_s=end,
        starts=starts,
        durations=durations,
        outcomes=outcomes or ["passed"] * n,
        test_ids=list(range(n)),
        nodeids=[f"t{n}" for n in range(n)],
    )


def timeline(*lanes):
    return Timeline(True, "traced", AT, list(lanes), 1, 1)


def test_lanes_join_what_follows_closely_and_show_gaps():
    drawn = lanes_of(timeline(lane([0.0, 10.05, 50.0], [10.0, 10.0, 50.0])))
    [only] = drawn.lanes
    assert only.name == "unit 1 · gw0"
    assert only.stretches == [(0.0, 200.5), (500.0, 500.0)]
    assert drawn.used == pytest.approx(0.7)


def test_lanes_mark_what_failed():
    made = lane([0.0, 50.0], [50.0, 50.0], ["failed", "passed"])
    [only] = lanes_of(timeline(made)).lanes
    assert [(mark.x, mark.nodeid) for mark in only.marks] == [(250.0, "t0")]


def test_gaps_between_chosen_tests_mean_nothing():
    [only] = lanes_of(timeline(lane([0.0, 90.0], [1.0, 1.0], tests=500))).lanes
    assert only.stretches == [(0.0, 1000.0)]


def test_nothing_known_is_no_lanes():
    assert lanes_of(None) is None
    assert lanes_of(timeline()) is None
    instant = lanes_of(timeline(lane([0.0], [0.0], end=0.0)))
    assert instant.used is None


def test_tallies_put_the_most_failing_first():
    cells = [
        cell(branch="main"),
        cell("skipped", branch="main"),
        cell("failed", branch="b"),
        cell("error", branch="b"),
        cell(branch="b", flaky=True),
    ]
    first, second = tallies(cells, by="branch")
    assert (first.name, first.failing, first.executed, first.runs) == ("b", 2, 3, 3)
    assert (second.name, second.failing, second.executed) == ("main", 0, 1)
    assert first.words == "1 failed, 1 errors, 1 flaky"
    assert [part.kind for part in first.bar] == ["failed", "errors", "flaky"]


def test_environments_are_named_by_their_keys_in_order():
    cells = [
        cell(environment={"python": "3.12", "os": "linux"}),
        cell(environment={"os": "linux", "python": "3.12"}),
        cell(environment={}),
    ]
    assert [tally.name for tally in tallies(cells, by="environment")] == [
        "os=linux, python=3.12",
        "",
    ]


def test_a_share_over_days_is_weighed():
    joined = whole([point(1, 1.0, of=90), point(2, 0.5, of=10), point(3, None, of=0)])
    assert (joined.value, joined.of) == (pytest.approx(0.95), 100)
    assert whole([]).value is None
    assert last_value([point(1, 2.0), point(2, None)]) == 2.0
    assert last_value([]) is None
