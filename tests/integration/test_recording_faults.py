"""Sequences of uploads that other tools got wrong, from the reported faults."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from formats.assembly import assemble
from formats.context import Shard
from formats.junit import read_junit
from formats.report import FileProblem, Rejected
from results import recording
from results.models import Run
from results.queries import cases, runs
from tests.builders import make_context, make_project, rebuild_days, store

BUGS = Path(__file__).resolve().parents[3] / "shared" / "bugs"

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not BUGS.is_dir(), reason="the reported faults are not here"),
]


def send(project, fault):
    """Record the uploads of a fault in their order; return the runs by name."""
    (folder,) = BUGS.glob(f"{fault}-*")
    for upload in json.loads((folder / "uploads.json").read_text()):
        name = upload.get("sent_as", upload["file"])
        contribution, damage, kinds = None, [], ["junit"]
        raw = (folder / upload["file"]).read_bytes()
        try:
            with (folder / upload["file"]).open("rb") as stream:
                contribution = assemble([("junit", name, read_junit(stream))])
        except Rejected as verdict:
            damage, kinds = [FileProblem(name, verdict.message, kind="junit")], []
        shard = upload["shard"] and Shard(*map(int, upload["shard"].split("/")))
        context = make_context(
            upload["ci_run"],
            attempt=upload["attempt"],
            job=upload["job"],
            environment=upload["env"],
            branch=upload["branch"],
            commit=upload["commit"],
            started_at=datetime.fromisoformat(upload["at"]),
            **({} if shard is None else {"shard": f"{shard.index}/{shard.count}"}),
        )
        prepared = recording.prepare(
            project,
            upload_id=upload["seq"],
            received_at=datetime.now(UTC),
            context=context,
            contribution=contribution,
            kinds=kinds,
            file_digests=[str(hash(raw))],
            damage=damage,
        )
        store(prepared)
    rebuild_days()
    return list(Run.objects.order_by("started_at", "name"))


@pytest.fixture
def project():
    return make_project()


def test_21_an_empty_report_among_many_is_visible(project):
    (run,) = send(project, "21")
    assert (run.outcome, run.passed) == ("damaged", 1)
    assert "b.xml: file is empty" in run.problems[0]["message"]


def test_43_one_failure_among_twenty_runs_is_one(project):
    found = send(project, "43")
    assert len(found) == 20
    assert sum(run.failed for run in found) == 1
    case = cases.list_cases(project.pk).items[0]
    assert (case.stats.runs, case.stats.fail_rate) == (20, 0.05)


def test_45_and_46_environments_are_runs_of_their_own(project):
    linux, mac = send(project, "45")
    assert {linux.passed + mac.passed, linux.skipped + mac.skipped} == {1}
    assert (linux.flaky, mac.flaky) == (0, 0)
    other = make_project("acme/matrix")
    both = [run for run in send(other, "46") if run.project_id == other.pk]
    assert sorted(run.outcome for run in both) == ["failed", "passed"]
    assert [run.flaky for run in both] == [0, 0]
    assert len(cases.list_cases(other.pk).items) == 1


def test_48_shards_with_one_file_name_do_not_overwrite(project):
    (run,) = send(project, "48")
    assert (run.tests, run.passed, run.failed) == (4, 3, 1)


def test_49_the_same_report_twice_is_counted_once(project):
    (run,) = send(project, "49")
    assert (run.tests, run.passed, run.failed) == (2, 1, 1)
    assert run.reported["tests"] == 2
    notes = runs.get_run(run.pk).notes
    assert any("already stored by upload 1" in note.message for note in notes)


def test_51_repeated_failed_jobs_replace_and_show_the_flake(project):
    (run,) = send(project, "51")
    assert (run.outcome, run.tests, run.passed, run.flaky) == ("passed", 4, 4, 1)
    assert [row.attempt for row in runs.get_run(run.pk).attempts] == [1, 2]


def test_52_two_runs_of_one_commit_stay_two(project):
    outcomes = {run.name: run.outcome for run in send(project, "52")}
    assert outcomes == {"r73": "passed", "r75": "failed"}
