"""Lists: decisions on chosen tests, saved views, CSV; and the page of owners."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from projects.creation import create_project
from projects.models import AuditEntry, Role
from review.models import Codeowners, Epoch, SavedView, Standing
from review.saved import MOST, BadView, save_view
from tests.builders import make_context, make_run, rebuild_days
from tests.meeting import make_leaker, make_verdict
from tests.visiting import base, read, visit, visitor

pytestmark = pytest.mark.django_db

NOW = timezone.now()
SOON = (NOW + timedelta(days=9)).date()


@pytest.fixture
def acme():
    project = create_project("acme/app", actor="test").project
    outcomes = {"test_a": "failed", "test_b": "passed", "test_c": "passed"}
    make_run(project, outcomes, context=make_context(started_at=NOW))
    rebuild_days()
    return project


@pytest.fixture
def tri(acme):
    return visitor(acme, Role.TRIAGER, name="tri")


def ids(acme, *names):
    rows = acme.tests.filter(name__in=names) if names else acme.tests.all()
    return list(rows.values_list("pk", flat=True))


def decide(client, acme, tests, **fields):
    answer = client.post(f"{base(acme)}/tests/decide", {"test": tests, **fields})
    assert answer.status_code == 302
    return read(client.get(answer["Location"]))


def test_chosen_tests_are_decided_together(acme, tri):
    both = ids(acme, "test_a", "test_b")
    text = decide(tri, acme, both, owner="ana", quarantine_until=SOON, reason="known")
    assert "Stored for 2 tests." in text
    assert {row.owner for row in Standing.objects.all()} == {"ana"}
    page = visit(tri, f"{base(acme)}/tests/{both[0]}")
    assert f"Quarantined until {SOON} 23:59 UTC: known." in page
    assert "owner ana" in page
    assert "quarantined_until – → " in page


def test_one_test_is_decided_on_as_it_was_shown(acme, tri):
    [test] = ids(acme, "test_a")
    decide(tri, acme, [test], version=0, owner="ana")
    text = decide(tri, acme, [test], version=0, owner="bob")
    assert "Tri changed this in the meantime. Nothing was stored." in text
    assert Standing.objects.get().owner == "ana"
    decide(tri, acme, [test], version=1, lift="owner")
    assert Standing.objects.get().owner == ""


def test_a_fix_is_told_with_its_old_count(acme, tri):
    [test] = ids(acme, "test_a")
    decide(tri, acme, [test], version=0, fixed="1", reason="seeded")
    assert Epoch.objects.get().made_by == "tri"
    text = visit(tri, f"{base(acme)}/tests/{test}")
    assert re.search(r"No run since [-\d]+ yet; 100 % before \(1 of 1\)\.", text)
    assert "1 of 1" in text
    assert "seeded" in text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"quarantine_until": "2020-01-01"}, "A quarantine ends in the future."),
        ({"mute_failures": "many"}, "A value makes no sense."),
        ({"accept": "1"}, "Accepting needs a reason."),
    ],
)
def test_what_makes_no_sense_changes_nothing(acme, tri, fields, said):
    assert f"{said} Nothing was stored." in decide(tri, acme, ids(acme), **fields)
    assert Standing.objects.count() == 0


def test_tests_of_another_project_are_not_touched(acme, tri):
    other = create_project("acme/other", actor="test").project
    make_run(other)
    text = decide(tri, acme, [*ids(acme), *ids(other)], owner="eve")
    assert "One of these tests is not here. Nothing was stored." in text
    assert "Choose at least one test. Nothing was stored." in decide(tri, acme, [])
    assert Standing.objects.count() == 0


def test_a_view_is_saved_for_all_and_removed(acme, tri):
    path = f"{base(acme)}/lists/tests/save"
    answer = tri.post(path, {"name": " slow ", "query": "sort=total_s&q=a&cursor=x"})
    assert answer["Location"] == f"{base(acme)}/tests?sort=total_s&q=a"
    viewer = visitor(acme, Role.VIEWER)
    text = viewer.get(f"{base(acme)}/tests").content.decode()
    assert f'href="{base(acme)}/tests?sort=total_s&amp;q=a"' in text
    assert "Save this view" not in text
    tri.post(path, {"name": "slow", "query": "sort=total_s"})
    view = SavedView.objects.get()
    assert (view.query, view.made_by) == ("sort=total_s", "tri")
    assert "Remove this view" in visit(tri, f"{base(acme)}/tests", sort="total_s")
    assert viewer.post(path, {"name": "x"}).status_code == 403
    remove = f"{base(acme)}/views/{view.pk}/remove"
    assert viewer.post(remove).status_code == 403
    assert tri.post(remove).status_code == 302
    assert tri.post(remove).status_code == 404
    assert SavedView.objects.count() == 0
    assert AuditEntry.objects.filter(action__startswith="view.").count() == 3


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_a_view_needs_a_name(acme, tri, name):
    answer = tri.post(f"{base(acme)}/lists/runs/save", {"name": name, "query": "pr=1"})
    assert "A view has a name" in read(tri.get(answer["Location"]))
    assert SavedView.objects.count() == 0
    assert tri.post(f"{base(acme)}/lists/nothing/save").status_code == 404


def test_a_list_has_only_so_many_views(acme):
    for n in range(MOST):
        save_view(acme, "runs", f"v{n}", "pr=1", by="tri", now=NOW)
    with pytest.raises(BadView, match="at most 50 saved views"):
        save_view(acme, "runs", "one more", "", by="tri", now=NOW)
    save_view(acme, "runs", "v1", "pr=2", by="tri", now=NOW)
    assert SavedView.objects.get(name="v1").query == "pr=2"


def table(client, acme, what, **query):
    answer = client.get(f"{base(acme)}/lists/{what}.csv", query_params=query)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    name = f'attachment; filename="acme-app-{what}.csv"'
    assert answer["Content-Disposition"] == name
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_lists_are_csv_by_the_filters_of_their_pages(acme, tri):
    make_leaker(acme, "test_b", kinds=["env.set", "cwd"], lost_s=2.0)
    make_verdict(acme, "test_c", last_failed=NOW)
    assert [row["name"] for row in table(tri, acme, "tests")[0:0]] == []
    rows = table(tri, acme, "tests", sort="failed_runs")
    assert [(row["nodeid"], row["failed"], row["fail_rate"]) for row in rows] == [
        ("tests/test_shop.py::test_a", "1", "1.0")
    ]
    assert len(table(tri, acme, "tests", q="test_")) == 3
    [run] = table(tri, acme, "runs", outcome="failed")
    assert (run["name"], run["tests"], run["failed"]) == ("ci-1", "3", "1")
    assert table(tri, acme, "runs", outcome="passed") == []
    [leaker] = table(tri, acme, "leakers")
    assert (leaker["kinds"], leaker["lost_s"]) == ("env.set, cwd", "2.0")
    [flaky] = table(tri, acme, "flaky", **{"class": "flaky"})
    assert (flaky["nodeid"], flaky["failed_runs"]) == (
        "tests/test_shop.py::test_c",
        "3",
    )
    for empty in ("uploads", "effects", "pulls"):
        assert table(tri, acme, empty) == []
    assert tri.get(f"{base(acme)}/lists/secrets.csv").status_code == 404
    stranger = visitor(name="eve")
    assert stranger.get(f"{base(acme)}/lists/tests.csv").status_code == 404


def test_the_page_of_owners_shows_how_the_file_is_read(acme):
    admin = visitor(acme, Role.ADMIN)
    path = f"{base(acme)}/settings/owners"
    assert "Nobody owns a test by its file yet." in visit(admin, path)
    answer = admin.post(path, {"text": "/tests/ @org/shop\n!x @a\n"})
    text = read(admin.get(answer["Location"]))
    assert "Stored: 1 rule." in text
    assert "1 rule: of 1 file with tests 0 have no owner." in text
    assert "line 2: a pattern cannot be negated with !" in text
    assert "tests/test_shop.py @org/shop" in text
    file = io.BytesIO(b"* @all\n")
    file.name = "CODEOWNERS"
    admin.post(path, {"text": "", "file": file})
    assert Codeowners.objects.get().text == "* @all\n"
    tri = visitor(acme, Role.TRIAGER, name="t2")
    assert tri.get(path).status_code == 403
    [test] = ids(acme, "test_a")
    assert "owner @all" in visit(tri, f"{base(acme)}/tests/{test}")
