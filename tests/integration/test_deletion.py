"""A project goes with everything that hangs on it, and nothing else does."""

from __future__ import annotations

import io
import json

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from healthboard import deletion
from projects.administration import read_settings, save_settings
from projects.creation import create_project
from projects.models import AuditEntry, Membership, Project, Role
from results.models import Block, Run
from tests.delivering import BROKEN, FIRST, GREEN, send
from tests.sending import Upload, bearer, post
from tests.visiting import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    return filled("acme/app")


def filled(slug):
    made = create_project(slug, actor="a test")
    Membership.objects.create(
        project=made.project, user=make_user(slug.replace("/", "-")), role=Role.VIEWER
    )
    send(made, FIRST, run="1", branch="main")
    send(made, GREEN, BROKEN, run="2", branch="main", shard={"index": 1, "count": 2})
    send(made, BROKEN, run="3")
    send(made, GREEN, run="4", drain=False)
    save_settings(made.project, read_settings(made.project), actor="nobody")
    return made


def rows(project):
    """How many rows of each table hang on a project."""
    below = deletion.paths()
    found = {
        kind._meta.label: kind._base_manager.filter(**{path: project}).count()
        for kind, path in below.items()
    }
    return {label: count for label, count in found.items() if count}


def files(project):
    names = project.uploads.values_list("body", flat=True)
    return [settings.DATA_DIR / "inbox" / name for name in names]


def manage(*arguments):
    out = io.StringIO()
    call_command("project", *arguments, stdout=out)
    return out.getvalue()


def test_each_table_is_emptied_before_those_that_it_points_at():
    order = deletion.in_order()
    below = deletion.paths()
    assert len(order) == len(set(order)) == len(below)
    for place, kind in enumerate(order):
        for field in kind._meta.concrete_fields:
            if field.related_model in below and field.related_model is not kind:
                assert order.index(field.related_model) > place, field


@pytest.mark.django_db(transaction=True)  # a database looks at its keys at the end
def test_everything_of_a_project_goes_and_nothing_else(acme, monkeypatch):
    monkeypatch.setattr(deletion, "_AT_ONCE", 2)
    other = filled("acme/other")
    theirs, kept = rows(other.project), files(other.project)
    mine = files(acme.project)
    assert (len(mine), len(kept)) == (4, 4)
    assert {"results.Block", "results.Failure", "ingest.Upload"} <= theirs.keys()
    assert deletion.delete_project("acme/app", actor="ana")["ingest.Upload"] == 4
    assert rows(acme.project) == {}
    assert not Project.objects.filter(pk=acme.project.pk).exists()
    assert not Block.objects.filter(project_id=acme.project.pk).exists()
    assert rows(other.project) == theirs
    assert [path for path in mine if path.exists()] == []
    assert [path for path in kept if not path.exists()] == []
    send(other, GREEN, run="5")


def test_the_audit_log_says_who_deleted_what_and_stays(acme):
    entries = AuditEntry.objects.filter(project=acme.project).count()
    deletion.delete_project("acme/app", actor="ana")
    kept = AuditEntry.objects.filter(project=None).order_by("-id")
    assert kept.count() == entries + 1
    last = kept[0]
    assert (last.actor, last.action, last.subject) == (
        "ana",
        "project.deleted",
        "acme/app",
    )


def test_its_token_is_void_and_its_name_is_free(acme):
    deletion.delete_project("acme/app", actor="ana")
    answer = post(Upload({}, [("junit", "a.xml", GREEN)]), bearer(acme.token))
    assert answer.status_code == 401
    again = create_project("acme/app", actor="a test")
    send(again, GREEN, run="1", branch="main")
    assert Run.objects.get(project=again.project).tests == 3


def test_a_deletion_that_was_interrupted_goes_on(acme, monkeypatch):
    """The first part is done: its secrets and some rows are gone."""

    class Killed(BaseException):
        pass

    def die(project):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(deletion, "_delete_below", die)
        with pytest.raises(Killed):
            deletion.delete_project("acme/app", actor="ana")
    assert rows(acme.project)
    deletion.delete_project("acme/app", actor="ana")
    assert rows(acme.project) == {}


def test_the_command_asks_to_be_sure(acme):
    with pytest.raises(CommandError, match="3 runs, 4 tests and 4 uploads"):
        manage("delete", "acme/app")
    assert rows(acme.project)
    told = manage("delete", "acme/app", "--yes")
    assert told == (
        "Deleted acme/app: 3 runs, 4 tests and 4 uploads with their files.\n"
    )
    with pytest.raises(CommandError, match="there is no project acme/app"):
        manage("delete", "acme/app", "--yes")


def test_projects_are_listed(acme):
    create_project("acme/empty", actor="a test")
    lines = manage("list").splitlines()
    assert lines[0].startswith("acme/app: 4 tests; ")
    assert lines[1] == "acme/empty: 0 tests; no runs"
    told = json.loads(manage("list", "--json"))
    assert [row["project"] for row in told] == ["acme/app", "acme/empty"]
    assert told[1]["last_run"] is None
