from __future__ import annotations

from datetime import timedelta

import pytest

from results.queries import cases, search, state
from results.queries.shapes import AmbiguousCaseError, CursorError
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


@pytest.fixture
def project():
    return make_project()


def record(project, name, results=("test_a",), *, hours=0, **context):
    made = later(make_context(name, **context), hours=hours)
    return make_run(project, results, context=made)


def found(project, text):
    case = cases.find_case(project.pk, text)
    return case and case.nodeid


def test_a_history_has_one_cell_a_run_the_newest_first(project):
    for hours, outcome in enumerate(["passed", "failed", "skipped"]):
        results = {"test_a": outcome, "test_b": "passed"}
        record(project, f"r{hours}", results, hours=hours, commit=f"c{hours}")
    record(project, "without", ["test_b"], hours=9)
    case = cases.find_case(project.pk, "test_a")
    page = cases.history(case.id)
    assert [(c.run_name, c.outcome, c.commit) for c in page.items] == [
        ("r2", "skipped", "c2"),
        ("r1", "failed", "c1"),
        ("r0", "passed", "c0"),
    ]
    assert page.items[1].message == "assert test_a == 1"
    assert page.items[1].failure_group is not None
    assert page.items[0].duration_s == 0.25


def test_a_history_is_read_page_by_page(project):
    for hours in range(5):
        record(project, f"r{hours}", hours=hours)
    case = cases.find_case(project.pk, "test_a")
    before, names = None, []
    while True:
        page = cases.history(case.id, limit=2, before=before)
        names.append([cell.run_name for cell in page.items])
        before = page.next
        if before is None:
            break
    assert names == [["r4", "r3"], ["r2", "r1"], ["r0"]]
    with pytest.raises(CursorError):
        cases.history(case.id, before="nonsense")


def test_a_history_merges_the_parts_of_each_run(project):
    record(project, "r1", {"test_a": "failed"}, shard="1/2")
    record(project, "r1", {"test_a": "passed"}, shard="1/2", attempt=2)
    record(project, "r2", {"test_a": "passed"}, shard="1/2", hours=1)
    record(project, "r2", {"test_a": "failed"}, shard="2/2", hours=1)
    flaky = make_result("test_a", attempts=attempts_of("failed"), flaky=True)
    record(project, "r3", [flaky], hours=2)
    case = cases.find_case(project.pk, "test_a")
    told = [
        (c.run_name, c.outcome, c.flaky, c.attempts)
        for c in cases.history(case.id).items
    ]
    assert told == [
        ("r3", "passed", True, 2),
        ("r2", "failed", False, 1),
        ("r1", "passed", True, 2),
    ]


def test_a_history_beyond_the_first_chunk(project):
    names = [f"test_{n}" for n in range(1_030)]
    record(project, "r1", dict.fromkeys(names, "passed"))
    record(project, "r2", {"test_1028": "failed", "test_3": "passed"}, hours=1)
    case = cases.find_case(project.pk, "test_1028")
    assert case.number == 1_028
    assert [c.outcome for c in cases.history(case.id).items] == ["failed", "passed"]


def test_failures_of_a_test_are_grouped_the_newest_group_first(project):
    old = {"message": "KeyError: 'a'", "text": "E   KeyError: 'a'"}
    new = {"message": "OSError: disk", "text": "E   OSError: disk"}
    for hours, told in enumerate([old, old, new]):
        results = [make_result("test_a", "failed", **told)]
        record(project, f"r{hours}", results, hours=hours)
    case = cases.find_case(project.pk, "test_a")
    groups = cases.failures(case.id)
    assert [(g.message, g.total) for g in groups] == [
        ("OSError: disk", 1),
        ("KeyError: 'a'", 2),
    ]
    assert groups[1].first_at == START
    assert groups[1].last_at == START + timedelta(hours=1)


def test_statistics_of_a_window(project):
    for n in range(20):
        outcome = "failed" if n == 6 else "passed"
        result = make_result("test_a", outcome, duration=1.0 + n)
        record(project, f"r{n}", [result], hours=n / 10)
    record(project, "skip", {"test_a": "skipped"}, hours=3)
    record(project, "long ago", {"test_a": "failed"}, hours=-24 * 40)
    rebuild_days()
    stats = cases.find_case(project.pk, "test_a").stats
    assert (stats.runs, stats.passed, stats.failed, stats.skipped) == (21, 19, 1, 1)
    assert stats.fail_rate == 0.05
    assert stats.flake_rate.mean == pytest.approx(0.5 / 21)
    assert stats.max_s == 20.0
    # Read off buckets that are 1.41 times as wide as the one before.
    assert stats.p50_s == pytest.approx(10.5, rel=0.2)
    assert 17.0 <= some(stats.p95_s) <= 20.0


def test_a_resting_project_keeps_its_figures(project):
    record(project, "r1", {"test_a": "failed"})
    rebuild_days()
    row = cases.list_cases(project.pk, now=START + timedelta(days=300)).items[0]
    assert (row.stats.failed, row.state) == (1, "active")


def test_cases_are_listed_page_by_page(project):
    record(project, "r1", [f"test_{n}" for n in range(5)])
    first = cases.list_cases(project.pk, limit=3)
    second = cases.list_cases(project.pk, limit=3, cursor=first.next)
    names = [row.name for row in (*first.items, *second.items)]
    assert names == [f"test_{n}" for n in range(5)]
    assert second.next is None
    with pytest.raises(CursorError):
        cases.list_cases(project.pk, cursor="WyJhIl0")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["test_old", "test_a", "test_b"]),
        ({"q": "TEST_A"}, ["test_a"]),
        ({"file": "x/test_one.py"}, ["test_a"]),
        ({"file": "x"}, []),
        ({"state": "gone"}, ["test_old"]),
        ({"state": "active"}, ["test_a", "test_b"]),
        ({"state": "active", "q": "two"}, ["test_b"]),
    ],
)
def test_cases_are_filtered_by(project, filters, expected):
    record(project, "old", ["test_old"], hours=-24 * 31)
    record(project, "new", ["x/test_one.py::test_a", "x/test_two.py::test_b"])
    rows = cases.list_cases(project.pk, **filters).items
    assert [row.name for row in rows] == expected


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("fail_rate", ["test_always", "test_often"]),
        ("failed_runs", ["test_often", "test_always"]),
        ("flake_rate", ["test_flaky"]),
        ("total_s", ["test_flaky", "test_often", "test_always"]),
    ],
)
def test_the_worst_tests_by(project, by, expected):
    flaky = make_result(
        "test_flaky", attempts=attempts_of("failed"), flaky=True, duration=9.0
    )
    record(project, "r1", [flaky, make_result("test_always", "failed")])
    for n in range(3):
        outcome = "passed" if n else "failed"
        record(project, f"s{n}", {"test_often": outcome}, hours=n)
    record(project, "s4", {"test_often": "error"})
    rebuild_days()
    assert [row.name for row in cases.worst_cases(project.pk, by=by)] == expected
    with pytest.raises(ValueError, match="no ranking"):
        cases.worst_cases(project.pk, by="colour")


def test_a_test_is_found_by_any_unique_ending(project):
    record(
        project, "r", ["a/test_x.py::test_one", "b/test_x.py::test_one", "c.py::Test"]
    )
    make_run(make_project("acme/other"), ["test_elsewhere"])
    assert found(project, "a/test_x.py::test_one") == "a/test_x.py::test_one"
    assert found(project, "b/test_x.py::test_one") == "b/test_x.py::test_one"
    assert found(project, "py::Test") == "c.py::Test"
    assert found(project, "py::test") is None  # case counts
    assert found(project, "test_elsewhere") is None
    assert found(project, "") is None
    assert found(project, "%") is None
    with pytest.raises(AmbiguousCaseError) as error:
        found(project, "test_x.py::test_one")
    assert len(error.value.candidates) == 2


def test_a_whole_node_id_wins_over_an_ending(project):
    record(project, "r", ["test_x.py::test_a", "sub/test_x.py::test_a"])
    assert found(project, "test_x.py::test_a") == "test_x.py::test_a"


def test_a_test_is_found_by_its_id_in_its_own_project(project):
    record(project, "r")
    case = cases.find_case(project.pk, "test_a")
    assert cases.find_case(project.pk, str(case.id)).id == case.id
    assert cases.find_case(make_project("acme/other").pk, str(case.id)) is None
    assert found(project, "9" * 30) is None
    assert cases.get_case(case.id + 1_000) is None


def test_search_finds_what_has_the_text_in_its_name(project):
    record(project, "nightly", ["x/test_cart.py::test_total"], commit="abcdef1234")
    record(project, "r2", ["x/test_pay.py::test_cart"], pr=538, hours=1)
    assert {(h.kind, h.label) for h in search.search(project.pk, "CART")} == {
        ("file", "x/test_cart.py"),
        ("test", "x/test_cart.py::test_total"),
        ("test", "x/test_pay.py::test_cart"),
    }
    assert [(h.kind, h.label) for h in search.search(project.pk, "#538")] == [
        ("pr", "#538")
    ]
    hits = search.search(project.pk, "abcd")
    assert [(h.kind, h.label, h.detail) for h in hits] == [
        ("commit", "abcdef1234", "1 run")
    ]
    assert [h.kind for h in search.search(project.pk, "night")] == ["run"]
    assert search.search(project.pk, "  ") == []
    assert search.search(make_project("acme/other").pk, "cart") == []


def test_what_waits_is_counted_by_project(project):
    record(project, "r1")
    other = make_project("acme/other")
    assert state.waiting(project.pk) == {"days": 1}
    assert state.waiting(other.pk) == {"days": 0}
    rebuild_days()
    assert state.waiting() == {"days": 0}


def test_cases_are_listed_by_name_page_by_page(project):
    names = ["b.py::test_2", "b.py::test_1", "a.py::test_9", "B.py::test_3"]
    record(project, "r1", names)
    listed, cursor = [], None
    while True:
        page = cases.list_cases(project.pk, by_name=True, limit=2, cursor=cursor)
        listed += [row.nodeid for row in page.items]
        cursor = page.next
        if cursor is None:
            break
    assert sorted(listed) == sorted(names)
    order = [name for name in listed if name[0] != "B"]  # where it is, a database says
    assert order == ["a.py::test_9", "b.py::test_1", "b.py::test_2"]
    for wrong in ("WyJhIl0", "Wzk5OV0"):  # ["a"], [999]
        with pytest.raises(CursorError):
            cases.list_cases(project.pk, by_name=True, cursor=wrong)


def test_rankings_look_at_every_test_that_passes_the_filters(project):
    results = {f"x.py::test_{n}": "failed" for n in range(6)}
    record(project, "r1", results | {"y.py::test_ok": "passed"})
    record(project, "r2", {"x.py::test_3": "passed", "y.py::test_late": "failed"})
    record(project, "old", {"z.py::test_old": "failed"}, hours=-24 * 31)
    rebuild_days()

    def ranked(**filters):
        page = cases.rank_cases(project.pk, by="fail_rate", window=90, **filters)
        return [row.nodeid for row in page.items], page.next

    worst, more = ranked(limit=2)
    assert (worst, more is None) == (["x.py::test_0", "x.py::test_1"], False)
    assert ranked(limit=2, cursor=more)[0] == ["x.py::test_2", "x.py::test_4"]
    assert ranked(limit=8)[1] is None
    # The last of all, asked for by name, file or state, comes with a page of one.
    assert ranked(q="TEST_3", limit=1) == (["x.py::test_3"], None)
    assert ranked(file="y.py", limit=1) == (["y.py::test_late"], None)
    assert ranked(state="gone", limit=1) == (["z.py::test_old"], None)
    assert ranked(q="test_ok") == ([], None)
    with pytest.raises(CursorError):
        ranked(cursor="nonsense")


def test_tests_are_counted_with_those_in_trouble(project):
    flaky = make_result("test_f", attempts=attempts_of("failed"), flaky=True)
    record(project, "old", {"test_old": "failed"}, hours=-24 * 31)
    record(project, "new", [flaky, make_result("test_a", "error"), "test_b"])
    rebuild_days()
    told = cases.tally(project.pk)
    assert (told.tests, told.gone, told.failed, told.flaky) == (4, 1, 1, 1)
    assert cases.tally(project.pk, window=90).failed == 2
    assert cases.tally(make_project("acme/empty").pk).tests == 0
