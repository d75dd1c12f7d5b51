"""Old facts go, what was counted stays; fingerprints are made anew."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command

from results import days, retention
from results.models import Block, Day, Detail, Failure, Roster, Run, Shard
from results.queries import cases, runs
from tests.builders import (
    START,
    make_context,
    make_project,
    make_run,
    rebuild_days,
    some,
)

pytestmark = pytest.mark.django_db

NOW = datetime.now(UTC)


@pytest.fixture
def project():
    return make_project(options={"keep_facts_days": 100})


def record(project, name, results, *, days_ago):
    run_id = make_run(project, results, context=make_context(name))
    Run.objects.filter(pk=run_id).update(updated_at=NOW - timedelta(days=days_ago))
    return run_id


def delete_old():
    while (batch := retention.claim(NOW)) is not None:
        retention.work(batch)


def test_facts_past_their_time_are_deleted_and_the_rest_is_kept(project):
    old = record(project, "old", {"test_a": "failed", "test_o": "failed"}, days_ago=101)
    new = record(project, "new", {"test_a": "failed"}, days_ago=99)
    rebuild_days()
    totals = Day.objects.get().totals
    assert retention.waiting(project.pk) == 1
    delete_old()
    assert retention.waiting() == 0
    assert set(Block.objects.values_list("shard__run_id", flat=True)) == {new}
    assert set(Failure.objects.values_list("run_id", flat=True)) == {new}
    assert Detail.objects.get().message == "assert test_a == 1"  # it is shared
    assert Roster.objects.count() == 1
    assert Run.objects.get(pk=old).failed == 2
    assert Day.objects.get().totals == totals
    detail = runs.get_run(old)
    assert (detail.facts_deleted, detail.row.counts.failed) == (True, 2)
    assert runs.list_results(old).items == []
    assert runs.timeline(old).lanes == []
    assert runs.compare(new, old).added.total == 1
    history = cases.history(cases.find_case(project.pk, "test_a").id)
    assert [cell.run for cell in history.items] == [new]


def test_a_day_is_not_rebuilt_from_what_is_left(project):
    record(project, "old", {"test_a": "failed"}, days_ago=101)
    rebuild_days()
    before = Day.objects.values_list("data", "totals").get()
    delete_old()
    days.mark(project.pk, {(START.date(), "default")})
    rebuild_days()
    assert Day.objects.values_list("data", "totals").get() == before
    assert days.waiting() == 0


def test_each_project_has_its_own_time(project):
    other = make_project("acme/keeps", options={"keep_facts_days": 1_000})
    record(other, "old", {"test_a": "failed"}, days_ago=500)
    assert retention.waiting(other.pk) == 0
    assert retention.claim(NOW) is None


def test_deleting_is_done_in_batches_to_the_end(project):
    for n in range(retention._RUNS_AT_ONCE + 1):
        record(project, f"r{n}", ["test_a"], days_ago=200)
    first = some(retention.claim(NOW))
    assert len(first.run_ids) == retention._RUNS_AT_ONCE
    retention.work(first)
    retention.work(first)  # twice is once
    delete_old()
    assert not Block.objects.exists()
    assert Shard.objects.filter(roster=None).count() == retention._RUNS_AT_ONCE + 1


def outdate():
    Detail.objects.update(fingerprint=b"old", fingerprint_version=0, title="old")


def test_failures_are_grouped_anew_after_the_method_changed(project, capsys):
    run_id = make_run(project, {"test_a": "failed"})
    before = runs.failure_groups(run_id)[0].group
    outdate()
    other = make_run(make_project("acme/other"), {"test_a": "failed"})
    call_command("regroup", "acme/shop")
    assert capsys.readouterr().out == "1 texts grouped anew\n"
    assert runs.failure_groups(run_id)[0].group == before
    outdate()
    call_command("regroup")
    assert capsys.readouterr().out == "2 texts grouped anew\n"
    assert runs.failure_groups(other)[0].group == before
    call_command("regroup")
    assert capsys.readouterr().out == "0 texts grouped anew\n"
    with pytest.raises(CommandError, match="no project"):
        call_command("regroup", "acme/unknown")
