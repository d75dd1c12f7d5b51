"""Every read has a fixed number of queries: the same for little and for much."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results.models import Failure
from results.queries import cases, leaks, runs, search, trends
from tests.builders import (
    later,
    make_context,
    make_leak,
    make_project,
    make_run,
    rebuild_days,
)

pytestmark = pytest.mark.django_db


def fill(slug, *, tests, shards, history):
    """A project whose last run has failures, several parts and attempts."""
    project = make_project(slug)
    for hours in range(history):
        for index in range(1, shards + 1):
            names = [f"test_{index}_{n}" for n in range(tests)]
            results = {
                name: "failed" if n % 3 == 0 else "passed"
                for n, name in enumerate(names)
            }
            context = make_context(
                f"r{hours}", shard=f"{index}/{shards}", environment={"os": "linux"}
            )
            run_id = make_run(
                project,
                results,
                context=later(context, hours=7 * hours),
                leaks=[make_leak(name) for name in names],
            )
    rebuild_days()
    case = cases.find_case(project.pk, "test_1_0")
    failure = Failure.objects.filter(run_id=run_id).first()
    return {
        "project": project.pk,
        "run": run_id,
        "base": runs.list_runs(project.pk).items[-1].id,
        "case": case.id,
        "failure": failure.pk,
    }


READS = {
    "list_runs": (1, lambda ids: runs.list_runs(ids["project"])),
    "list_runs filtered": (
        2,
        lambda ids: runs.list_runs(ids["project"], environment="os=linux", commit="c1"),
    ),
    "get_run": (3, lambda ids: runs.get_run(ids["run"])),
    "list_results": (8, lambda ids: runs.list_results(ids["run"])),
    "list_results filtered": (9, lambda ids: runs.list_results(ids["run"], q="test")),
    "failure_groups": (6, lambda ids: runs.failure_groups(ids["run"])),
    "failure_detail": (1, lambda ids: runs.failure_detail(ids["failure"])),
    "compare": (5, lambda ids: runs.compare(ids["run"], ids["base"])),
    "timeline": (6, lambda ids: runs.timeline(ids["run"])),
    "summaries_for": (5, lambda ids: runs.summaries_for([ids["project"]])),
    "list_cases": (3, lambda ids: cases.list_cases(ids["project"])),
    "worst_cases": (3, lambda ids: cases.worst_cases(ids["project"], by="fail_rate")),
    "get_case": (3, lambda ids: cases.get_case(ids["case"])),
    "find_case": (5, lambda ids: cases.find_case(ids["project"], "test_1_0")),
    "history": (6, lambda ids: cases.history(ids["case"])),
    "failures": (2, lambda ids: cases.failures(ids["case"])),
    "list_leaks": (1, lambda ids: leaks.list_leaks(ids["project"], test=ids["case"])),
    "trend": (2, lambda ids: trends.trend(ids["project"], trends.Metric.PASS_RATE)),
    "search": (4, lambda ids: search.search(ids["project"], "test")),
}


@pytest.fixture
def small():
    return fill("acme/small", tests=2, shards=1, history=1)


@pytest.fixture
def large():
    return fill("acme/large", tests=40, shards=3, history=6)


@pytest.mark.parametrize("name", READS)
def test_the_number_of_queries_is_fixed(name, small, large):
    expected, read = READS[name]
    for ids in (small, large):
        with CaptureQueriesContext(connection) as captured:
            read(ids)
        assert len(captured) == expected, [query["sql"][:200] for query in captured]


def test_several_projects_take_no_more_queries(small, large, django_assert_num_queries):
    with django_assert_num_queries(5):
        told = runs.summaries_for([small["project"], large["project"]])
    assert len(told) == 2
