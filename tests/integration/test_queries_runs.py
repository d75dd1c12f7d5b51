from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from formats.report import OrderQuality
from results.queries import runs
from results.queries.shapes import CursorError
from tests.builders import (
    START,
    attempts_of,
    later,
    make_context,
    make_project,
    make_result,
    make_run,
    rebuild_days,
    some,
)

pytestmark = pytest.mark.django_db

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def project():
    return make_project()


def record(project, name, results=("test_a",), *, hours=0, **context):
    made = later(make_context(name, **context), hours=hours)
    return make_run(project, results, context=made)


def names(page):
    return [row.name for row in page.items]


def last_parts(rows):
    return [row.nodeid.rpartition("::")[2] for row in rows]


def pages(read, **options):
    """Read a list to its end, a page at a time."""
    cursor, items = None, []
    while True:
        page = read(cursor=cursor, **options)
        items.append(
            [row.name if hasattr(row, "name") else row.test for row in page.items]
        )
        cursor = page.next
        if cursor is None:
            return items


def test_runs_come_newest_first_and_page_by_page(project):
    for name, hours in [("b", 2), ("a", 1), ("c", 3), ("d", 3), ("e", 0)]:
        record(project, name, hours=hours)
    found = pages(lambda **o: runs.list_runs(project.pk, **o), limit=2)
    assert found == [["d", "c"], ["b", "a"], ["e"]]


def test_a_page_is_not_shifted_by_what_comes_in(project):
    for hours in range(4):
        record(project, f"r{hours}", hours=hours)
    first = runs.list_runs(project.pk, limit=2)
    record(project, "new", hours=9)
    second = runs.list_runs(project.pk, limit=2, cursor=first.next)
    assert names(first) + names(second) == ["r3", "r2", "r1", "r0"]


FILTERS = [
    pytest.param({"branch": "dev"}, {"b"}, id="branch"),
    pytest.param({"commit": SHA}, {"a"}, id="whole commit"),
    pytest.param({"commit": SHA[:7]}, {"a"}, id="prefix"),
    pytest.param({"commit": SHA[:7].upper()}, {"a"}, id="prefix in capitals"),
    pytest.param({"commit": SHA[:6]}, set(), id="too short a prefix"),
    pytest.param({"commit": "head9"}, {"b"}, id="head"),
    pytest.param({"pr": 7}, {"b"}, id="pr"),
    pytest.param({"environment": "os=linux"}, {"a", "c"}, id="environment"),
    pytest.param({"environment": "py=3.12, os=linux"}, {"a"}, id="two of it"),
    pytest.param({"environment": "mac"}, {"b"}, id="a value alone"),
    pytest.param({"environment": "os=3.12"}, set(), id="another key's value"),
    pytest.param({"outcome": "failed"}, {"c"}, id="outcome"),
    pytest.param({"since": START + timedelta(hours=1)}, {"b", "c"}, id="since"),
    pytest.param({"until": START + timedelta(hours=1)}, {"a"}, id="until"),
    pytest.param({"branch": "main", "outcome": "failed"}, {"c"}, id="two filters"),
]


@pytest.mark.parametrize(("filters", "expected"), FILTERS)
def test_runs_are_filtered_by(project, filters, expected):
    linux = {"os": "linux", "py": "3.12"}
    record(project, "a", commit=SHA, environment=linux)
    mac = {"branch": "dev", "environment": {"os": "mac"}, "pr": 7}
    record(project, "b", hours=1, commit="c2", head_sha="head9", **mac)
    failed = {"environment": {"os": "linux"}, "commit": "c3"}
    record(project, "c", {"test_a": "failed"}, hours=2, **failed)
    make_run(make_project("acme/other"), context=make_context("z"))
    assert set(names(runs.list_runs(project.pk, **filters))) == expected


@pytest.mark.parametrize(
    "cursor", ["", "x", "!!!", "WzFd", "é", "WyJ4IiwxXQ", "WyIyMDI2LTAzLTAyIiwxXQ"]
)
def test_a_made_up_cursor_is_refused(project, cursor):
    run = record(project, "a")
    with pytest.raises(CursorError):
        runs.list_runs(project.pk, cursor=cursor)
    with pytest.raises(CursorError):
        runs.list_results(run, cursor=cursor)


def test_one_run_with_all_that_hangs_on_it(project):
    record(project, "before", hours=-1)
    record(project, "r", {"test_a": "failed"}, shard="1/2", exit_code=1)
    run_id = record(
        project, "r", {"test_a": "passed"}, shard="1/2", attempt=2, base_sha="b1"
    )
    detail = runs.get_run(run_id)
    assert detail.row.outcome == "incomplete"
    assert (detail.row.counts.tests, detail.row.counts.flaky) == (1, 1)
    assert detail.base_sha == "b1"
    assert [row.attempt for row in detail.attempts] == [1, 2]
    assert [row.counts.failed for row in detail.attempts] == [1, 0]
    assert [(p.index, p.state, len(p.uploads)) for p in detail.parts] == [
        (1, "complete", 2),
        (2, "missing", 0),
    ]
    assert detail.completeness.missing == [2]
    assert detail.reported.tests == 2
    assert detail.order.processes == 2
    before = runs.list_runs(project.pk).items[-1]
    assert (before.name, detail.previous_run) == ("before", before.id)
    assert runs.get_run(run_id + 1_000) is None


def test_results_come_worst_first_and_page_by_page(project):
    run_id = record(
        project,
        "r",
        {
            "test_p1": "passed",
            "test_f": "failed",
            "test_s": "skipped",
            "test_e": "error",
            "test_p2": "passed",
        },
    )
    page = runs.list_results(run_id)
    expected = ["test_e", "test_f", "test_p1", "test_p2", "test_s"]
    assert last_parts(page.items) == expected
    by_id = {row.test: row.nodeid.rpartition("::")[2] for row in page.items}
    found = pages(lambda **o: runs.list_results(run_id, **o), limit=2)
    assert [[by_id[pk] for pk in some] for some in found] == [
        expected[:2],
        expected[2:4],
        expected[4:],
    ]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"outcome": "passed"}, ["test_good", "test_flaky"]),
        ({"outcome": "failing"}, ["test_error", "test_bad"]),
        ({"outcome": "flaky"}, ["test_flaky"]),
        ({"q": "BAD"}, ["test_bad"]),
        ({"q": "o", "outcome": "passed"}, ["test_good"]),
        ({"q": "100%"}, []),
        ({"q": "nowhere"}, []),
    ],
)
def test_results_are_filtered_by(project, filters, expected):
    run_id = record(
        project,
        "r",
        [
            make_result("x.py::test_good"),
            make_result("x.py::test_bad", "failed"),
            make_result("x.py::test_error", "error"),
            make_result("x.py::test_flaky", attempts=attempts_of("failed"), flaky=True),
        ],
    )
    assert last_parts(runs.list_results(run_id, **filters).items) == expected


def test_a_result_shows_the_text_of_what_counts(project):
    record(project, "r", [make_result("test_a", "failed", message="first")])
    again = [make_result("test_a", "failed", message="second")]
    run_id = record(project, "r", again, attempt=2)
    row = runs.list_results(run_id).items[0]
    assert (row.message, row.attempts) == ("second", 2)
    assert runs.failure_detail(some(row.failure)).message == "second"
    earlier = runs.list_results(run_id, attempt=1).items[0]
    assert earlier.message == "first"


def test_failures_are_grouped_by_what_they_share(project):
    text = 'File "src/shop/cart.py", line 3, in total\nE   ValueError: no price'
    same = {"message": "ValueError: no price", "text": text}
    results = [make_result(f"test_{n}", "failed", **same) for n in range(3)]
    results.append(make_result("test_x", "error", message="KeyError: 'x'", text=""))
    retried = attempts_of("failed")
    results.append(make_result("test_y", attempts=retried, flaky=True))
    groups = runs.failure_groups(record(project, "r", results))
    assert [(group.total, group.earlier) for group in groups] == [
        (3, 0),
        (1, 0),
        (0, 1),
    ]
    assert last_parts(groups[0].rows) == ["test_0", "test_1", "test_2"]
    assert "no price" in groups[0].title
    assert not groups[2].rows[0].counted


BASE = {
    "test_fixed": "failed",
    "test_still": "error",
    "test_new": "passed",
    "test_skip": "passed",
    "test_gone": "passed",
}
AFTER = {
    "test_fixed": "passed",
    "test_still": "failed",
    "test_new": "failed",
    "test_skip": "skipped",
    "test_added": "failed",
}


def compared(project, *, before, after):
    sides = [
        [make_result(*pair) for pair in outcomes.items()]
        + [make_result(name, duration=duration) for name, duration in seconds.items()]
        for outcomes, seconds in ((BASE, before), (AFTER, after))
    ]
    base_id = record(project, "base", sides[0])
    return runs.compare(record(project, "run", sides[1]), base_id)


def test_a_run_is_compared_with_another(project):
    told = compared(
        project,
        before={"test_slow": 1.0, "test_fast": 3.0, "test_same": 1.0},
        after={"test_slow": 3.0, "test_fast": 1.0, "test_same": 1.05},
    )
    assert {
        kind: last_parts(getattr(told, kind).rows)
        for kind in told.__dataclass_fields__
        if kind not in ("run", "base")
    } == {
        "newly_failing": ["test_new", "test_added"],
        "fixed": ["test_fixed"],
        "still_failing": ["test_still"],
        "added": ["test_added"],
        "removed": ["test_gone"],
        "newly_skipped": ["test_skip"],
        "slower": ["test_slow"],
        "faster": ["test_fast"],
    }
    row = told.newly_failing.rows[1]
    assert (row.before, row.after, row.before_s) == (None, "failed", None)
    assert runs.compare(told.run.id, told.run.id + 1_000) is None


def test_a_timeline_lays_tests_of_an_assumed_order_end_to_end(project):
    results = [make_result("test_a", duration=1.0), make_result("test_b", duration=2.0)]
    told = runs.timeline(record(project, "r", results))
    assert (told.exact, told.shown, told.total) == (False, 2, 2)
    lane = told.lanes[0]
    assert (lane.starts, lane.durations, lane.end_s) == ([0.0, 1.0], [1.0, 2.0], 3.0)


def test_a_timeline_with_known_starts_is_exact(project):
    began = START.timestamp()
    results = [
        make_result("test_a", process=1, position=0, start=began + 0.5, duration=1.0),
        make_result("test_b", process=0, position=1, start=began + 2.0, duration=1.0),
        make_result("test_c", process=0, position=0, start=began, duration=1.5),
    ]
    context = make_context("r")
    processes = ["gw0", "gw1"]
    made = {"processes": processes, "order": OrderQuality.TRACED}
    run_id = make_run(project, results, context=context, **made)
    # A report of the same part does not know better.
    plain = [result._replace(start=None, process=0) for result in results]
    make_run(project, plain, context=replace(context))
    told = runs.timeline(run_id)
    assert told.exact
    assert [(lane.worker, lane.starts) for lane in told.lanes] == [
        ("gw0", [0.0, 2.0]),
        ("gw1", [0.5]),
    ]
    assert last_parts_of(told.lanes[0].nodeids) == ["test_c", "test_b"]
    assert told.lanes[0].busy_s == 2.5


def last_parts_of(nodeids):
    return [nodeid.rpartition("::")[2] for nodeid in nodeids]


def test_a_timeline_shows_the_failing_and_the_longest(project):
    results = [make_result(f"test_{n}", duration=float(n)) for n in range(5)]
    results[0] = make_result("test_0", "failed", duration=0.0)
    told = runs.timeline(record(project, "r", results), limit=3)
    assert (told.shown, told.total, told.lanes[0].tests) == (3, 5, 5)
    assert last_parts_of(told.lanes[0].nodeids) == ["test_0", "test_3", "test_4"]


def test_projects_in_short(project):
    record(project, "r1", {"test_a": "passed", "test_b": "failed"})
    record(project, "r2", hours=48, branch="dev")
    empty = make_project("acme/empty")
    rebuild_days()
    told = runs.summaries_for([project.pk, empty.pk])
    mine = told[project.pk]
    assert (mine.last_run.name, mine.last_default_run.name) == ("r2", "r1")
    assert (mine.tests, mine.runs, mine.branch_class) == (2, 2, "default")
    assert len(mine.sparkline) == 30
    assert [point.pass_rate for point in mine.sparkline[-3:]] == [0.5, None, None]
    assert (told[empty.pk].last_run, told[empty.pk].tests) == (None, 0)
