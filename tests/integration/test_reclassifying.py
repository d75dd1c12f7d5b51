"""Runs follow the project's zone and default branch, whenever these change."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from healthboard.pipeline import BY_NAME, drain, drain_all
from projects import administration
from projects.models import Project, Role
from results import reclassifying
from results.models import Classification, Day, Run
from results.queries import runs
from tests.builders import make_context, make_project, make_run
from tests.visiting import base, visit, visitor

pytestmark = pytest.mark.django_db

# 23:30 in UTC, half past midnight in Zurich.
LATE = datetime(2026, 2, 10, 23, 30, tzinfo=UTC)
TENTH, ELEVENTH = date(2026, 2, 10), date(2026, 2, 11)


@pytest.fixture
def project():
    return make_project()


def record(project, name, *, at=LATE, branch="main", **context):
    made = make_context(name, branch=branch, started_at=at, **context)
    make_run(project, ["test_a"], context=made)
    return Run.objects.get(project=project, name=name)


def change(project, **fields):
    Project.objects.filter(pk=project.pk).update(**fields)
    project.refresh_from_db()


def places(project):
    return {
        run.name: (run.day, run.branch_class)
        for run in Run.objects.filter(project=project)
    }


def counted(project):
    """The days with their class and the runs that they count; empty ones left out."""
    return {
        (day.date, day.branch_class): day.totals["runs"]
        for day in Day.objects.filter(project=project)
        if day.totals["runs"]
    }


def test_another_zone_moves_runs_to_their_day(project):
    record(project, "late")
    record(project, "noon", at=LATE - timedelta(hours=11))
    drain_all()
    assert counted(project) == {(TENTH, "default"): 2}
    change(project, zone="Europe/Zurich")
    assert reclassifying.waiting(project.pk) == 1
    drain_all()
    assert places(project) == {
        "late": (ELEVENTH, "default"),
        "noon": (TENTH, "default"),
    }
    assert counted(project) == {(TENTH, "default"): 1, (ELEVENTH, "default"): 1}
    assert reclassifying.waiting() == 0


def test_another_default_branch_changes_the_class(project):
    record(project, "on main")
    record(project, "on trunk", branch="trunk")
    record(project, "of a request", branch="trunk", pr=5)
    drain_all()
    change(project, default_branch="trunk")
    drain_all()
    assert places(project) == {
        "on main": (TENTH, "other"),
        "on trunk": (TENTH, "default"),
        "of a request": (TENTH, "other"),
    }
    assert counted(project) == {(TENTH, "default"): 1, (TENTH, "other"): 2}
    summary = runs.summaries_for([project.pk])[project.pk]
    assert summary.last_default_run.name == "on trunk"


def test_the_settings_page_needs_no_more_than_to_save(project):
    record(project, "late")
    drain_all()
    now = administration.read_settings(project)
    wanted = administration.Settings(
        title=now.title,
        public=now.public,
        default_branch=now.default_branch,
        zone="Asia/Tokyo",
        options=now.options,
    )
    administration.save_settings(project, wanted, actor="ana")
    drain_all()
    assert places(project) == {"late": (ELEVENTH, "default")}


def test_nothing_is_done_where_nothing_changed(project):
    record(project, "late")
    drain_all()
    before = Run.objects.get(project=project).version
    change(project, title="another")
    assert drain(BY_NAME["classes"]) == 0
    change(project, zone="Europe/London")  # the same day
    assert drain(BY_NAME["classes"]) == 1
    assert not Day.objects.filter(dirty=True).exists()
    assert Run.objects.get(project=project).version == before


def test_many_runs_are_moved_some_at_a_time(project, monkeypatch):
    monkeypatch.setattr(reclassifying, "_AT_ONCE", 3)
    for n in range(8):
        record(project, f"r{n}", branch="trunk" if n % 2 else "main")
    change(project, default_branch="trunk")
    drain_all()
    assert counted(project) == {(TENTH, "default"): 4, (TENTH, "other"): 4}


def test_settings_that_change_again_meanwhile_are_followed(project):
    record(project, "late")
    change(project, zone="Europe/Zurich")
    claimed = reclassifying.claim(timezone.now())
    assert claimed is not None
    change(project, zone="America/New_York")
    reclassifying.work(claimed)
    assert places(project) == {"late": (ELEVENTH, "default")}
    drain_all()
    assert places(project) == {"late": (TENTH, "default")}


def test_an_upload_that_is_stored_later_goes_by_the_new_settings(project):
    """Its worker read the project before they changed."""
    record(project, "before")
    stale = Project.objects.get(pk=project.pk)
    change(project, zone="Europe/Zurich")
    record(stale, "after")
    assert places(project)["after"] == (ELEVENTH, "default")


def test_an_error_is_noted_and_tried_again(project):
    record(project, "late")
    change(project, zone="Europe/Zurich")
    now = timezone.now()
    claimed = reclassifying.claim(now)
    assert reclassifying.claim(now) is None
    reclassifying.give_back(claimed, "KeyError: 'x'")
    row = Classification.objects.get(project=project)
    assert row.error == "KeyError: 'x'"
    assert reclassifying.claim(timezone.now()) is None
    later = timezone.now() + reclassifying.PAUSE
    assert reclassifying.claim(later) is not None
    # A worker that was killed: its lease runs out.
    assert reclassifying.claim(later + reclassifying.LEASE) is not None


def test_runs_without_results_stay_where_they_are(project):
    """Retention has deleted what their days could be rebuilt from."""
    record(project, "old")
    drain_all()
    Run.objects.filter(project=project).update(facts_deleted=True)
    change(project, zone="Europe/Zurich")
    drain_all()
    assert places(project) == {"old": (TENTH, "default")}
    assert counted(project) == {(TENTH, "default"): 1}


def test_the_settings_page_says_that_it_is_not_done_yet(project):
    admin = visitor(project, Role.ADMIN, name="ana")
    page = base(project) + "/settings"
    said = "Runs are being sorted into their days and branches anew."
    record(project, "late")
    assert said not in visit(admin, page)
    change(project, zone="Europe/Zurich")
    assert said in visit(admin, page)
    drain_all()
    assert said not in visit(admin, page)
