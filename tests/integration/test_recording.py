from __future__ import annotations

from datetime import date, timedelta

import pytest

from formats.report import FileProblem, OrderQuality, Reported
from results import models
from results.models import Block, Detail, Failure, Roster, Run, Shard
from results.queries import runs
from tests.builders import (
    START,
    attempts_of,
    make_context,
    make_project,
    make_result,
    make_run,
    prepare,
    some,
    store,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def record(project, results=("test_a",), **options):
    return Run.objects.get(pk=make_run(project, results, **options))


def outcomes(run):
    return {
        row.nodeid.rpartition("::")[2]: row.outcome
        for row in runs.list_results(run.pk, limit=500).items
    }


def kinds(run):
    return [problem["kind"] for problem in run.problems]


def test_every_outcome_is_counted_under_its_name(project):
    names = ["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
    run = record(project, {f"test_{name}": name for name in names})
    assert (run.tests, run.passed, run.failed, run.errors) == (6, 1, 1, 1)
    assert (run.skipped, run.xfailed, run.xpassed, run.flaky) == (1, 1, 1, 0)
    assert run.reported == {
        "tests": 6,
        "passed": 1,
        "failed": 1,
        "errors": 1,
        "skipped": 2,
    }
    assert outcomes(run) == {f"test_{name}": name for name in names}


@pytest.mark.parametrize(
    ("results", "context", "outcome"),
    [
        pytest.param({"test_a": "passed"}, {}, "passed", id="passed"),
        pytest.param({"test_a": "xpassed"}, {}, "passed", id="xpassed is a pass"),
        pytest.param({"test_a": "skipped"}, {}, "passed", id="all skipped"),
        pytest.param({"test_a": "failed"}, {}, "failed", id="failed"),
        pytest.param({"test_a": "error"}, {}, "failed", id="error"),
        pytest.param({}, {}, "no_results", id="not a single case"),
        pytest.param({}, {"exit_code": 5}, "no_results", id="none, and a code"),
        pytest.param(
            {"test_a": "passed"}, {"exit_code": 1}, "failed", id="failed outside"
        ),
        pytest.param({"test_a": "passed"}, {"exit_code": 0}, "passed", id="code 0"),
        pytest.param(
            {"test_a": "failed"}, {"exit_code": 0}, "failed", id="a case says more"
        ),
        pytest.param(
            {"test_a": "passed"}, {"shard": "1/2"}, "incomplete", id="a part is missing"
        ),
        pytest.param(
            {"test_a": "failed"}, {"complete": False}, "incomplete", id="stopped early"
        ),
    ],
)
def test_the_outcome_of_a_run(project, results, context, outcome):
    run = record(project, results, context=make_context(**context))
    assert run.outcome == outcome


def test_a_command_that_failed_alone_is_said(project):
    run = record(project, context=make_context(exit_code=3))
    assert run.failed_outside
    assert kinds(run) == ["outside"]
    assert "ended with 3" in run.problems[0]["message"]
    run = record(project, {"test_a": "failed"}, context=make_context("b", exit_code=1))
    assert not run.failed_outside


def test_one_part_may_fail_outside_while_another_has_failures(project):
    record(
        project, {"test_a": "failed"}, context=make_context(shard="1/2", exit_code=1)
    )
    run = record(
        project, {"test_b": "passed"}, context=make_context(shard="2/2", exit_code=2)
    )
    assert run.failed_outside
    assert [part["state"] for part in run.parts] == ["complete", "failed_outside"]


def test_run_and_environment_name_a_run(project):
    linux, mac = {"os": "linux", "py": "3.12"}, {"os": "mac", "py": "3.12"}
    first = record(project, context=make_context(environment=linux))
    same = dict(reversed(linux.items()))
    assert record(project, context=make_context(environment=same)).pk == first.pk
    other = record(project, {"test_a": "failed"}, context=make_context(environment=mac))
    assert other.pk != first.pk
    assert other.flaky == 0
    assert (
        models.TestCase.objects.count() == 1
    )  # the environment is no part of identity


def test_without_a_name_each_upload_is_a_run_of_its_own(project):
    first = record(project, context=make_context(""), upload_id=71)
    second = record(project, context=make_context(""), upload_id=72)
    named = record(project, context=make_context("upload-71"))
    assert len({first.pk, second.pk, named.pk}) == 3
    assert (first.name, named.name) == ("upload-71", "upload-71")


def test_shards_add_up_and_file_names_are_no_key(project):
    for index, outcome in enumerate(["passed", "failed", "passed"], start=1):
        context = make_context(shard=f"{index}/3")
        run = record(project, {f"test_{index}": outcome}, context=context)
        assert (run.outcome == "incomplete") == (index < 3)
    assert (run.outcome, run.tests, run.passed, run.failed) == ("failed", 3, 2, 1)
    assert run.completeness["missing"] == []


def test_missing_parts_are_named(project):
    record(project, context=make_context(shard="2/3"))
    run = record(project, ["test_z"], context=make_context(shard="1/2", job="lint"))
    told = run.completeness
    assert (told["expected_shards"], told["received"]) == (5, 2)
    assert told["missing"] == [1, 2, 3]
    assert told["missing_parts"] == [
        {"job": "", "index": 1, "count": 3},
        {"job": "", "index": 3, "count": 3},
        {"job": "lint", "index": 2, "count": 2},
    ]
    assert [part["state"] for part in run.parts].count("missing") == 3
    assert "3 parts were not received: 1/3, 3/3, 2/2 of job 'lint'" in [
        problem["message"] for problem in run.problems
    ]


def test_parts_that_disagree_in_number_are_counted_by_the_largest(project):
    record(project, context=make_context(shard="1/2"))
    run = record(project, ["test_b"], context=make_context(shard="2/3"))
    assert run.completeness["expected_shards"] == 3
    assert run.completeness["missing"] == [3]
    assert kinds(run) == ["count", "part"]


def test_a_repeated_shard_replaces_outcomes_and_shows_the_flake(project):
    record(project, ["test_a", "test_b"], context=make_context(shard="1/2"))
    record(
        project,
        {"test_c": "failed", "test_d": "passed"},
        context=make_context(shard="2/2", exit_code=1),
    )
    run = record(
        project, ["test_c", "test_d"], context=make_context(shard="2/2", attempt=2)
    )
    assert (run.outcome, run.tests, run.passed, run.flaky) == ("passed", 4, 4, 1)
    assert run.attempts == 2
    assert [row["counts"]["failed"] for row in run.by_attempt] == [1, 0]
    first = runs.list_results(run.pk, attempt=1, outcome="failed").items
    assert [row.nodeid for row in first] == ["tests/test_shop.py::test_c"]


def test_a_test_in_two_shards_is_listed_and_the_worse_counts(project):
    record(project, {"test_a": "passed"}, context=make_context(shard="1/2"))
    run = record(project, {"test_a": "failed"}, context=make_context(shard="2/2"))
    assert (run.tests, run.failed, run.flaky) == (1, 1, 0)
    assert run.completeness["duplicated_tests"] == ["tests/test_shop.py::test_a"]
    assert run.completeness["duplicated_total"] == 1


def test_uploads_of_one_part_that_differ_are_a_conflict(project):
    record(project, {"test_a": "passed", "test_b": "passed"})
    run = record(project, {"test_a": "failed", "test_c": "passed"})
    assert (run.tests, run.passed, run.failed, run.conflicts) == (3, 2, 1, 1)
    assert "conflict" in kinds(run)


def test_attempts_inside_an_upload_make_a_flake(project):
    results = [
        make_result("test_a", attempts=attempts_of("failed", "error"), flaky=True),
        make_result("test_b", "failed", attempts=attempts_of("failed")),
    ]
    run = record(project, results)
    assert (run.passed, run.failed, run.flaky) == (1, 1, 1)
    assert run.duration_s == pytest.approx(5 * 0.25)
    rows = {row.nodeid[-6:]: row for row in runs.list_results(run.pk).items}
    assert (rows["test_a"].attempts, rows["test_b"].attempts) == (3, 2)
    assert rows["test_a"].message == "attempt 2"  # the latest that went wrong
    assert Failure.objects.count() == 4


def test_failures_share_their_texts(project):
    same = {"message": "no server", "text": "a long story"}
    record(project, [make_result(f"test_{n}", "failed", **same) for n in range(5)])
    assert Failure.objects.count() == 5
    assert Detail.objects.count() == 1


def test_a_reason_to_skip_is_kept_and_a_silent_pass_is_not(project):
    record(
        project,
        [
            make_result("test_a", "skipped", message="no network"),
            make_result("test_b", "skipped"),
            make_result("test_c", text="printed something"),
        ],
    )
    assert Detail.objects.get().message == "no network"


def test_a_failure_without_a_word_is_still_one(project):
    run = record(project, [make_result("test_a", "failed", message="", text="")])
    assert runs.failure_groups(run.pk)[0].total == 1


def test_the_same_roster_is_stored_once(project):
    for name in ("a", "b", "c"):
        record(project, ["test_a", "test_b"], context=make_context(name))
    assert Roster.objects.count() == 1
    assert Block.objects.count() == 6  # a chunk and an order each


def test_characters_that_no_database_takes_are_replaced(project):
    name = "test_[\x00\ud800]"
    result = make_result(name, "failed", message="\x00", text="\ud800" * 3)
    run = record(project, [result], processes=["gw\x000"])
    row = runs.list_results(run.pk).items[0]
    assert row.nodeid.endswith("test_[��]")
    assert (row.message, row.worker) == ("�", "gw�0")


def test_a_long_text_keeps_head_and_tail(project):
    text = "head" + "x" * 500_000 + "tail"
    run = record(project, [make_result("test_a", "failed", text=text)])
    row = runs.list_results(run.pk).items[0]
    detail = runs.failure_detail(some(row.failure))
    assert detail.cut
    assert detail.text_bytes == 500_008
    assert (detail.text[:5], detail.text[-5:]) == ("headx", "xtail")
    assert "434,472 characters left out" in detail.text
    assert len(detail.text) < 70_000


def test_durations_of_parts_add_up_and_wall_time_does_not(project):
    record(project, context=make_context(shard="1/2"), wall_s=9.0)
    run = record(project, ["test_b"], context=make_context(shard="2/2"), wall_s=7.0)
    assert run.duration_s == pytest.approx(0.5)
    assert run.wall_s == 9.0


def test_the_order_is_as_sure_as_the_least_sure_part(project):
    traced = {"order": OrderQuality.TRACED, "kinds": ["order"]}
    context = make_context(shard="1/2")
    assert record(project, context=context).order == "assumed"
    assert record(project, context=context, **traced).order == "traced"
    other = make_context(shard="2/2")
    run = record(project, ["test_b"], context=other, order=OrderQuality.UNKNOWN)
    assert run.order == "unknown"


START_CASES = [
    pytest.param(START, -timedelta(hours=3), (START, "context"), id="context"),
    pytest.param(
        None, -timedelta(days=13), (START - timedelta(days=13), "report"), id="report"
    ),
    pytest.param(
        None, timedelta(hours=13), (START + timedelta(hours=13), "report"), id="ahead"
    ),
    pytest.param(None, -timedelta(days=15), (START, "receipt"), id="too old"),
    pytest.param(None, timedelta(hours=15), (START, "receipt"), id="too far ahead"),
    pytest.param(None, None, (START, "receipt"), id="nobody says"),
]


@pytest.mark.parametrize(("context", "report", "expected"), START_CASES)
def test_the_start_of_a_run(project, context, report, expected):
    run = record(
        project,
        context=make_context(started_at=context),
        received_at=START,
        started_at=None if report is None else START + report,
    )
    assert (run.started_at, run.started_from) == expected


def test_the_earliest_start_of_the_best_source_counts(project):
    late = START + timedelta(hours=2)
    record(project, context=make_context(started_at=None), received_at=START)
    run = record(project, ["b"], context=make_context(started_at=late))
    assert (run.started_at, run.started_from) == (late, "context")
    run = record(project, ["c"], context=make_context(started_at=START))
    assert run.started_at == START


def test_the_day_is_in_the_projects_zone():
    project = make_project("acme/east", zone="Asia/Tokyo")
    late = START.replace(hour=20)
    assert record(project, context=make_context(started_at=late)).day == date(
        2026, 3, 3
    )


@pytest.mark.parametrize(
    ("branch", "pr", "expected"),
    [("main", None, "default"), ("main", 5, "other"), ("dev", None, "other")],
)
def test_the_class_of_a_branch(project, branch, pr, expected):
    run = record(project, context=make_context(branch=branch, pr=pr))
    assert run.branch_class == expected


def test_the_first_word_on_the_run_counts_and_a_later_one_is_told(project):
    record(project, context=make_context(commit="c1", pr=5), upload_id=501)
    run = record(
        project,
        ["test_b"],
        context=make_context(commit="c2", ci_url="https://ci.example/1"),
        upload_id=502,
    )
    assert (run.commit, run.pr, run.ci_url) == ("c1", 5, "https://ci.example/1")
    assert [p["upload"] for p in run.problems if p["kind"] == "context"] == [502]
    assert "upload 501 says c1" in run.problems[-1]["message"]


def test_most_of_a_run_failing_is_marked(project):
    mostly = {f"test_{n}": "failed" if n < 9 else "passed" for n in range(10)}
    assert record(project, mostly).bad
    some = {f"test_{n}": "failed" if n < 8 else "passed" for n in range(10)}
    assert not record(project, some, context=make_context("b")).bad
    few = {f"test_{n}": "failed" for n in range(9)}
    assert not record(project, few, context=make_context("c")).bad


def test_numbers_are_dense_and_given_once(project):
    record(project, ["test_a", "test_b"])
    record(project, ["test_c", "test_b"], context=make_context("other"))
    found = models.TestCase.objects.order_by("number").values_list("number", "name")
    assert list(found) == [(0, "test_a"), (1, "test_b"), (2, "test_c")]


def test_the_richest_node_id_is_shown(project):
    poor = make_result("test_a", nodeid="tests.test_shop.test_a", rank=0)
    rich = make_result("test_a", rank=3)
    for result, shown in [(poor, poor), (rich, rich), (poor, rich)]:
        record(project, [result])
        assert models.TestCase.objects.get().nodeid == shown.nodeid


def test_a_new_test_knows_its_first_run(project):
    first = record(project, ["test_a"])
    record(project, ["test_a", "test_b"], context=make_context("later"))
    assert models.TestCase.objects.get(number=0).first_run_id == first.pk


def test_a_bad_line_number_is_dropped(project):
    record(project, [make_result("test_a", line=10**12)])
    assert models.TestCase.objects.get().line is None


def test_reported_elements_of_all_reports_add_up(project):
    record(project, reported=Reported(5, 4, 1, 0, 0))
    run = record(project, ["test_b"], reported=Reported(2, 1, 0, 0, 1))
    assert run.reported == {
        "tests": 7,
        "passed": 5,
        "failed": 1,
        "errors": 0,
        "skipped": 1,
    }


def test_a_whole_upload_without_results_is_a_run(project):
    prepared = prepare(
        project, None, damage=[FileProblem("a.xml", "file is empty", line=1)]
    )
    run = Run.objects.get(pk=store(prepared).run_id)
    assert (run.outcome, run.tests) == ("damaged", 0)
    assert run.problems[0]["message"] == "a.xml: file is empty (line 1)"
    assert Shard.objects.get().roster is None
