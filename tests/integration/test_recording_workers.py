"""Several workers at once: nothing is lost, nothing is counted twice."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from results import days
from results.models import Day, Detail, Roster, Run, Shard
from tests.builders import make_context, make_project, prepare, rebuild_days, store

pytestmark = pytest.mark.django_db(transaction=True)


def together(jobs):
    """Run the jobs in a thread each, at one moment; raise what one of them raised."""
    start, errors = threading.Barrier(len(jobs)), []

    def run(job):
        try:
            start.wait()
            job()
        except Exception as error:  # noqa: BLE001 - raised again below
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_shards_that_come_at_one_moment_are_all_in_the_summary():
    project = make_project()

    def job(index):
        context = make_context(shard=f"{index}/6")
        results = {f"test_{index}": "failed", "test_shared": "passed"}
        return lambda: store(prepare(project, results, context=context))

    together([job(index) for index in range(1, 7)])
    run = Run.objects.get()
    assert (run.tests, run.failed, run.passed) == (7, 6, 1)
    assert run.completeness["duplicated_total"] == 1
    assert run.outcome == "failed"
    rebuild_days()
    assert Day.objects.get().totals["results"] == 7


def test_one_content_sent_at_one_moment_is_stored_once():
    project = make_project()

    def job():
        store(prepare(project, {"test_a": "failed"}, digests=["same"]))

    together([job] * 4)
    assert Run.objects.get().reported["tests"] == 1
    assert Shard.objects.filter(same_as_upload=None).count() == 1
    assert Detail.objects.count() == 1
    assert Roster.objects.count() == 1


def test_one_upload_worked_on_by_two_is_there_once():
    project = make_project()
    prepared = prepare(project, {"test_a": "failed", "test_b": "passed"})
    together([lambda: store(prepared)] * 3)
    run = Run.objects.get()
    assert (run.tests, run.shards.count(), run.failures.count()) == (2, 1, 1)


def test_a_day_is_claimed_by_one_of_several():
    project = make_project()
    store(prepare(project))
    claimed = []
    day = Day.objects.get()
    moment = day.project.created_at

    together([lambda: claimed.append(days.claim(moment))] * 4)
    assert len([one for one in claimed if one is not None]) == 1
