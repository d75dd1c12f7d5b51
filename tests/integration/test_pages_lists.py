"""Lists of tests, runs and uploads: their sentence, their order, what is searched."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from projects.models import Role
from tests.builders import make_context, make_project, make_run, rebuild_days
from tests.visiting import base, visit, visitor

pytestmark = pytest.mark.django_db

NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def shop():
    return make_project("acme/shop")


@pytest.fixture
def reader(shop):
    return visitor(shop, Role.VIEWER, name="ana")


def record(project, name, results, *, hours=1.0, **context):
    started = NOW - timedelta(hours=hours)
    made = make_context(name, started_at=started, branch="main", **context)
    make_run(project, results, context=made, received_at=NOW)


def rows(answer):
    """The node ids of a list, in order."""
    return re.findall(r'<a class="nodeid"[^>]*title="([^"]*)"', answer.content.decode())


def test_tests_are_sorted_by_name_at_first(shop, reader):
    record(shop, "r1", ["b.py::test_b", "c.py::test_c", "a.py::test_a"])
    answer = reader.get(base(shop) + "/tests")
    assert rows(answer) == ["a.py::test_a", "b.py::test_b", "c.py::test_c"]


def test_a_list_by_name_goes_on_after_the_longest_id(shop, reader):
    names = [f"{n:03d}/{'x' * 900}.py::test" for n in range(55)]
    record(shop, "r1", names)
    first = reader.get(base(shop) + "/tests")
    more = re.search(r'rel="next" href="([^"]+)"', first.content.decode())[1]
    second = reader.get(base(shop) + "/tests" + more.replace("&amp;", "&"))
    assert rows(first) + rows(second) == names


def test_a_ranking_is_searched_beyond_its_first_page(shop, reader):
    failing = {f"a.py::test_{n:03d}": "failed" for n in range(130)}
    passing = {f"b.py::test_{n:03d}": "passed" for n in range(99)}
    record(shop, "r1", failing | passing | {"z.py::test_rare": "failed"})
    record(shop, "r2", {"z.py::test_rare": "passed"}, hours=2)
    rebuild_days()
    page = base(shop) + "/tests"
    assert len(rows(reader.get(page, {"sort": "fail_rate"}))) == 50
    answer = reader.get(page, {"sort": "fail_rate", "q": "rare"})
    assert rows(answer) == ["z.py::test_rare"]


def test_the_tests_are_told_in_one_sentence(shop, reader):
    record(shop, "r1", {"test_a": "failed", "test_b": "passed"})
    record(shop, "old", {"test_old": "passed"}, hours=24 * 40)
    rebuild_days()
    text = visit(reader, base(shop) + "/tests")
    assert "1 of 3 tests failed in the last 30 days; 1 has not been seen for 30" in text
    record(shop, "r2", {"test_a": "passed"}, hours=0.5)
    rebuild_days()
    last = visit(reader, base(shop) + "/tests", window="1")
    assert re.search("(1|None) of 3 tests failed in the last day; ", last)


def test_a_test_is_last_seen_in_its_newest_run_even_on_one_day(shop, reader):
    """The stored moment is kept to the day, so the page asks the runs."""
    for n, hours in enumerate((0.3, 0.2, 0.1)):
        record(shop, f"ci-{n}", ["test_a"], hours=hours)
        rebuild_days()
    case = shop.tests.get(name="test_a")
    text = visit(reader, f"{base(shop)}/tests/{case.pk}")
    assert re.search(r"last seen \d+ minutes ago in ci-2", text)
    listed = visit(reader, base(shop) + "/tests")
    assert re.search(r"\b(today|yesterday)\b", listed)
    assert "minutes ago" not in listed


def test_runs_and_uploads_say_how_they_went(shop, reader):
    record(shop, "r1", {"test_a": "failed"})
    record(shop, "r2", {"test_a": "passed"})
    record(shop, "r3", {"test_a": "passed"})
    assert "3 runs shown: 2 passed and 1 failed." in visit(reader, base(shop) + "/runs")


def test_a_red_run_says_what_is_new_in_it(shop, reader):
    record(shop, "r1", {"test_a": "failed", "test_b": "passed"}, hours=3)
    record(shop, "r2", {"test_a": "failed", "test_b": "failed"}, hours=2)
    record(shop, "r3", {"test_a": "failed", "test_b": "failed"}, hours=1)
    told = {
        run.name: visit(reader, f"{base(shop)}/runs/{run.pk}")
        for run in shop.runs.all()
    }
    assert "1 of 2 tests fails." in told["r1"]
    assert "; 1 did not fail in the run before." in told["r2"]
    assert "; all failed in the run before, too." in told["r3"]


def test_a_test_that_only_fails_as_expected_is_not_said_to_pass(shop, reader):
    record(shop, "r1", {"test_a": "xfailed"})
    rebuild_days()
    case = shop.tests.get(name="test_a")
    text = visit(reader, f"{base(shop)}/tests/{case.pk}")
    assert "Skipped, or failed as expected, in all of 1 run of the last 30 days" in text
    assert "expected failure" in text
