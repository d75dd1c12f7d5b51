from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from results import day_columns, days, exclusion
from results.models import Day, Run
from results.queries import cases, trends
from results.queries.trends import Metric
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


def record(project, results, name, **context):
    return make_run(project, results, context=make_context(name, **context))


def totals(project, **filters):
    return Day.objects.get(project=project, **filters).totals


def test_a_day_adds_up_its_runs(project):
    record(project, {"test_a": "passed", "test_b": "failed"}, "r1")
    record(project, {"test_a": "error", "test_b": "failed", "test_c": "skipped"}, "r2")
    flaky = make_result("test_a", attempts=attempts_of("failed"), flaky=True)
    record(project, [flaky, make_result("test_c", "xfailed")], "r3")
    rebuild_days()
    assert totals(project) == {
        "runs": 3,
        "excluded_runs": 0,
        "bad_runs": 0,
        "outcomes": {"failed": 2, "passed": 1},
        "tests": 3,
        "results": 7,
        "passed": 2,
        "failed": 2,
        "errors": 1,
        "skipped": 2,
        "flaky": 1,
        "failed_tests": 2,
        "flaky_tests": 1,
        "total_s": 1.25,
        "durations": [0.5, 0.75, 0.75],
    }
    columns = day_columns.decode(bytes(some(Day.objects.get().data)))
    assert columns.tests.tolist() == [0, 1, 2]
    assert columns.counts["runs"].tolist() == [3, 2, 2]
    assert columns.counts["passed"].tolist() == [2, 0, 0]
    assert columns.counts["skipped"].tolist() == [0, 0, 2]


def test_classes_of_branches_are_apart(project):
    record(project, ["test_a"], "r1")
    record(project, {"test_a": "failed"}, "r2", branch="dev")
    rebuild_days()
    assert totals(project, branch_class="default")["passed"] == 1
    assert totals(project, branch_class="other")["failed"] == 1


def test_rebuilding_again_changes_nothing(project):
    record(project, {"test_a": "failed"}, "r1")
    rebuild_days()
    once = Day.objects.values_list("data", "totals").get()
    days.mark(project.pk, {(START.date(), "default")})
    assert days.waiting(project.pk) == 1
    rebuild_days()
    assert Day.objects.values_list("data", "totals").get() == once


def test_a_late_shard_is_counted_once(project):
    record(project, {"test_a": "failed"}, "r1", shard="1/2")
    rebuild_days()
    record(project, {"test_b": "passed"}, "r1", shard="2/2")
    rebuild_days()
    told = totals(project)
    assert (told["runs"], told["tests"], told["passed"], told["failed"]) == (1, 2, 1, 1)


def test_a_change_during_the_work_leaves_the_day_dirty(project):
    record(project, ["test_a"], "r1")
    day = some(days.claim(datetime.now(UTC)))
    record(project, ["test_a"], "r2")
    days.work(day)
    assert days.waiting(project.pk) == 1
    rebuild_days()
    assert days.waiting(project.pk) == 0
    assert totals(project)["runs"] == 2


def test_a_day_is_claimed_by_one(project):
    record(project, ["test_a"], "r1")
    now = datetime.now(UTC)
    assert days.claim(now) is not None
    assert days.claim(now) is None
    assert days.waiting(project.pk) == 1


def test_a_killed_workers_day_is_taken_over_and_its_late_result_dropped(project):
    record(project, ["test_a"], "r1")
    now = datetime.now(UTC)
    lost = some(days.claim(now))
    taken = some(days.claim(now + days.LEASE + timedelta(seconds=1)))
    assert taken.pk == lost.pk
    days.work(lost)
    assert Day.objects.get().data is None
    days.work(taken)
    assert totals(project)["runs"] == 1


def test_an_unknown_error_is_noted_and_tried_again_later(project):
    record(project, ["test_a"], "r1")
    pauses = []
    moment = datetime.now(UTC)
    for _ in range(3):
        day = some(days.claim(moment))
        days.give_back(day, "OSError: disk")
        noted = Day.objects.get()
        assert (noted.error, days.claim(moment)) == ("OSError: disk", None)
        not_before = some(noted.not_before)
        pauses.append((not_before - datetime.now(UTC)).total_seconds())
        moment = not_before + timedelta(seconds=1)
    assert [round(pause, -1) for pause in pauses] == [10, 20, 40]
    days.work(some(days.claim(moment)))
    fresh = Day.objects.get()
    assert (fresh.error, fresh.attempts, fresh.dirty) == ("", 0, False)


def test_the_newest_day_comes_first(project):
    context = make_context("r1")
    make_run(project, context=context)
    make_run(project, context=later(make_context("r2"), days=3))
    make_run(project, context=later(make_context("r3"), days=1))
    claimed = [some(days.claim(datetime.now(UTC))).date for _ in range(3)]
    assert claimed == sorted(claimed, reverse=True)


def test_an_excluded_run_is_left_out_and_counted_as_such(project):
    record(project, {"test_a": "passed"}, "r1")
    odd = record(project, {"test_a": "failed"}, "r2")
    assert exclusion.exclude(odd, reason="disk was full", by="ada")
    assert not exclusion.exclude(odd, reason="again", by="bob")
    rebuild_days()
    told = totals(project)
    assert (told["runs"], told["excluded_runs"], told["failed"]) == (1, 1, 0)
    run = Run.objects.get(pk=odd)
    assert (run.excluded_by, run.excluded_reason) == ("ada", "disk was full")
    assert exclusion.include(odd, by="bob")
    assert not exclusion.include(odd, by="bob")
    rebuild_days()
    told = totals(project)
    assert (told["runs"], told["excluded_runs"], told["failed"]) == (2, 0, 1)
    actions = project.audit.order_by("pk").values_list("action", "actor")
    assert list(actions) == [("run.excluded", "ada"), ("run.included", "bob")]


def test_a_run_in_which_nearly_all_failed_is_left_out(project):
    record(project, {f"test_{n}": "failed" for n in range(20)}, "r1")
    record(project, {f"test_{n}": "passed" for n in range(20)}, "r2")
    rebuild_days()
    told = totals(project)
    assert (told["runs"], told["bad_runs"], told["failed"]) == (1, 1, 0)


def test_a_run_that_moved_leaves_its_old_day(project):
    moved = make_context("r1", started_at=START + timedelta(days=2))
    make_run(project, ["test_a"], context=moved)
    rebuild_days()
    make_run(project, ["test_b"], context=make_context("r1"))
    rebuild_days()
    found = Day.objects.order_by("date").values_list("date", "totals__runs")
    assert [runs for _, runs in found] == [1, 0]


def test_last_seen_moves_once_a_day(project):
    for hours in (0, 2, 26):
        make_run(project, context=later(make_context(f"r{hours}"), hours=hours))
        rebuild_days()
    case = cases.find_case(project.pk, "test_a")
    assert case.first_seen == START
    assert case.last_seen == START + timedelta(hours=26)
    make_run(project, context=later(make_context("late"), hours=28))
    rebuild_days()
    case = cases.find_case(project.pk, "test_a")
    assert case.last_seen == START + timedelta(hours=26)


def test_a_test_that_vanished_is_not_moved(project):
    make_run(project, ["test_a", "test_b"])
    make_run(project, ["test_b"], context=later(make_context("r2"), days=40))
    rebuild_days()
    states = {row.name: row.state for row in cases.list_cases(project.pk).items}
    assert states == {"test_a": "gone", "test_b": "active"}


@pytest.mark.parametrize(
    ("metric", "value", "of"),
    [
        (Metric.PASS_RATE, 3 / 5, 5),
        (Metric.FAILED_TESTS, 2.0, 3),
        (Metric.DURATION_P50, 0.625, 2),
        (Metric.FLAKE_RATE, 1.5 / 6, 5),
    ],
)
def test_a_trend_has_one_point_a_day(project, metric, value, of):
    flaky = make_result("test_a", attempts=attempts_of("failed"), flaky=True)
    record(project, [flaky, make_result("test_b", "failed")], "r1")
    run = {"test_a": "passed", "test_b": "passed", "test_c": "failed"}
    record(project, run, "r2")
    Run.objects.filter(name="r1").update(duration_s=0.5)
    rebuild_days()
    trend = trends.trend(project.pk, metric, window_days=3)
    assert [point.date for point in trend.points] == [
        START.date() - timedelta(days=back) for back in (2, 1, 0)
    ]
    assert [point.value for point in trend.points[:2]] == [None, None]
    assert trend.points[2].value == pytest.approx(value)
    assert (trend.points[2].of, trend.points[2].runs) == (of, 2)
    assert trend.runs == 2


def test_a_trend_of_one_class_of_branches(project):
    record(project, {"test_a": "failed"}, "r1", branch="dev")
    record(project, {"test_a": "passed"}, "r2")
    rebuild_days()
    values = {
        branch_class: trends.trend(
            project.pk, Metric.PASS_RATE, window_days=1, branch_class=branch_class
        )
        .points[0]
        .value
        for branch_class in ("default", "other", None)
    }
    assert values == {"default": 1.0, "other": 0.0, None: 0.5}


@pytest.mark.parametrize(
    ("zone", "hours", "moved"),
    [
        ("UTC", 14, True),  # from 10:00 to midnight
        ("UTC", 13, False),
        ("Asia/Tokyo", 5, True),  # from 19:00 to midnight
        ("Asia/Tokyo", 4, False),
        ("no/zone", 14, True),  # counts as UTC
        ("no/zone", 13, False),
    ],
)
def test_last_seen_moves_at_midnight_in_the_projects_zone(zone, hours, moved):
    project = make_project("acme/zoned", zone=zone)
    for after in (0, hours):
        make_run(project, context=later(make_context(f"r{after}"), hours=after))
        rebuild_days()
    seen = cases.find_case(project.pk, "test_a").last_seen
    assert seen == START + timedelta(hours=hours if moved else 0)
