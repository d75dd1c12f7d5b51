"""Who ran before a test in its process, from recorded runs."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from formats.report import OrderQuality
from results.models import TestCase as Case
from results.queries.before import order_holds, ran_before
from tests.builders import make_context, make_project, make_result, make_run

pytestmark = pytest.mark.django_db


def one(name, process, position, outcome="passed"):
    return make_result(name, outcome, process=process, position=position)


def pk(name):
    return Case.objects.get(name=name).pk


@pytest.fixture
def project():
    return make_project()


def traced(project, *results, run="ci-1", **options):
    return make_run(
        project,
        list(results),
        context=make_context(run),
        processes=["gw0", "gw1"],
        order=OrderQuality.TRACED,
        **options,
    )


def two_workers(project, run="ci-1"):
    """gw0: a, b, idle (skipped), v (fails). gw1: c, d."""
    return traced(
        project,
        one("test_a", 0, 0),
        one("test_c", 1, 0),
        one("test_b", 0, 1, "failed"),
        one("test_d", 1, 1),
        one("test_idle", 0, 2, "skipped"),
        one("test_v", 0, 3, "failed"),
        run=run,
    )


def test_only_what_started_in_its_own_process_ran_before(project):
    run = two_workers(project)
    lead = ran_before(pk("test_v"), [run])[run]
    assert (lead.worker, lead.order, lead.position) == ("gw0", "traced", 2)
    assert [(e.nodeid.rpartition("::")[2], e.distance) for e in lead.before] == [
        ("test_a", 2),
        ("test_b", 1),
    ]
    assert [e.outcome for e in lead.before] == ["passed", "failed"]
    assert lead.suspects == []


def test_a_suspect_is_named_however_far_back_it_ran(project):
    run = two_workers(project)
    suspects = [pk("test_a"), pk("test_c")]
    lead = ran_before(pk("test_v"), [run], suspects=suspects, last=1)[run]
    assert [e.nodeid.rpartition("::")[2] for e in lead.before] == ["test_b"]
    [suspect] = lead.suspects
    assert (suspect.test, suspect.distance) == (pk("test_a"), 2)


def test_the_first_test_of_a_process_has_nobody_before_it(project):
    run = two_workers(project)
    lead = ran_before(pk("test_a"), [run])[run]
    assert (lead.position, lead.before) == (0, [])


def test_of_two_attempts_the_failing_one_is_told(project):
    first = traced(project, one("test_a", 0, 0), one("test_v", 0, 1, "failed"))
    again = make_run(
        project,
        [one("test_v", 0, 0)],
        context=make_context("ci-1", attempt=2),
        processes=["gw0", "gw1"],
        order=OrderQuality.TRACED,
    )
    assert again == first
    lead = ran_before(pk("test_v"), [first])[first]
    assert [e.test for e in lead.before] == [pk("test_a")]


def test_an_unknown_order_tells_nothing(project):
    run = make_run(
        project,
        {"test_a": "passed", "test_v": "failed"},
        order=OrderQuality.UNKNOWN,
    )
    assert ran_before(pk("test_v"), [run]) == {}
    assert order_holds(run, {(pk("test_a"), pk("test_v"))}) == set()


def test_pairs_hold_only_in_the_order_in_which_they_ran(project):
    run = two_workers(project)
    a, v, c = pk("test_a"), pk("test_v"), pk("test_c")
    assert order_holds(run, {(a, v), (v, a), (c, v), (a, 0)}) == {(a, v)}
    assert order_holds(run, set()) == set()


def test_the_number_of_queries_is_fixed(project):
    runs = [two_workers(project, run=f"ci-{n}") for n in range(6)]
    counts = []
    for some in (runs[:1], runs):
        with CaptureQueriesContext(connection) as queries:
            assert len(ran_before(pk("test_v"), some)) == len(some)
        counts.append(len(queries) - 1)
    assert counts[0] == counts[1] <= 6
