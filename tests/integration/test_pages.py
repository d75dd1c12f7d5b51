"""Real uploads in, pages out: what a reader of each page is told."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from ingest.models import Upload
from projects.creation import create_project
from projects.models import Role
from results.models import Run
from tests.delivering import BROKEN, FIRST, GREEN, send
from tests.visiting import base, read, visit, visitor

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture
def shop():
    return create_project("acme/shop", actor="a test")


@pytest.fixture
def reader(shop):
    return visitor(shop.project, Role.VIEWER, name="ana")


def sent(shop, *files, hours=1, run="ci-1", **context):
    """Send a run of the default branch that started some hours ago; return it."""
    start = datetime.now(UTC) - hours * HOUR
    values = {"branch": "main", "commit": "abcdef0123456789abcdef0123456789abcdef01"}
    send(shop, *files, run=run, started_at=start.isoformat(), **values | context)
    return Run.objects.get(name=run)


def figure(answer, name):
    """The figure that a page holds for the script that draws it."""
    before = f'<script id="{name}" type="application/json">'
    return json.loads(answer.content.decode().split(before)[1].split("</script>")[0])


def test_an_empty_project_says_how_to_send_with_its_name(shop, reader):
    for page in ("/", "/runs", "/tests", "/uploads"):
        text = visit(reader, base(shop.project) + page)
        assert '-F \'context={"project": "acme/shop", "branch": "main"}\'' in text
        assert "http://testserver/api/v1/uploads" in text
    assert "no runs yet" in visit(reader, "/")


def test_a_red_run_is_told_in_one_sentence(shop, reader):
    run = sent(shop, FIRST)
    text = visit(reader, f"{base(shop.project)}/runs/{run.pk}")
    assert "1 of 4 tests fails." in text  # there is no run before it
    assert "assert 401 == 200" in text
    assert "abcdef012" in text
    assert "failed 1" in text
    assert "skipped 1" in text
    assert "part 1 of 1 received 4 1" in text


def test_the_project_says_that_main_is_red_and_what_is_new(shop, reader):
    sent(shop, GREEN, hours=5, run="ci-1")
    last = sent(shop, FIRST, hours=1, run="ci-2")
    answer = reader.get(base(shop.project) + "/")
    text = read(answer)
    assert (
        "main is red: 1 of 4 tests fails in the last run, 1 of them passed in the run"
        " before, 1 hour ago." in text
    )
    # Of 7 results one was skipped: 5 of 6 passed.
    assert "pass rate 83.3 % of 6 results, 30 days" in text
    assert "acme/shop" in visit(reader, "/")
    assert "failing" in visit(reader, "/")
    assert f"/runs/{last.pk}/compare?with=" in answer.content.decode()


def test_a_trend_is_drawn_and_stands_in_its_table(shop, reader):
    sent(shop, FIRST, hours=1)
    answer = reader.get(base(shop.project) + "/", query_params={"window": "7"})
    drawn = figure(answer, "health")
    names = [trace["name"] for trace in drawn["data"]]
    assert names == ["pass rate", "failing tests"]
    assert [len(trace["x"]) for trace in drawn["data"]] == [7, 7]
    assert [y for y in drawn["data"][1]["y"] if y is not None] == [1.0]
    assert "Failing tests Pass rate Of results Runs" in read(answer)


def test_a_green_run_turns_the_project_green(shop, reader):
    sent(shop, FIRST, hours=5, run="ci-1")
    sent(shop, GREEN, hours=1, run="ci-2")
    text = visit(reader, base(shop.project) + "/")
    assert "main is green: the last run passed with 3 tests, 1 hour ago." in text
    assert "acme/shop: the last run on main passed." in visit(reader, "/")


def test_an_incomplete_run_names_what_is_missing(shop, reader):
    run = sent(shop, GREEN, job="unit", shard={"index": 1, "count": 3})
    text = visit(reader, f"{base(shop.project)}/runs/{run.pk}")
    assert "incomplete None of 3 tests failed" in text
    assert "2 of 3 parts are missing: unit 2/3, unit 3/3." in text
    assert "unit 2 of 3 missing" in text
    assert "main is not proven green" in visit(reader, base(shop.project) + "/")


def test_a_damaged_run_is_never_green(shop, reader):
    run = sent(shop, GREEN, BROKEN)
    text = visit(reader, f"{base(shop.project)}/runs/{run.pk}")
    assert "damaged None of 3 tests failed; a file of it could not be read." in text
    assert "2.xml" in text
    assert "healthy" not in visit(reader, "/")


def test_numbers_lead_to_what_they_count(shop, reader):
    run = sent(shop, FIRST)
    page = f"{base(shop.project)}/runs/{run.pk}/results"
    text = visit(reader, page, outcome="failing")
    assert "test_session" in text
    assert "test_total" not in text
    assert "test_logout" in visit(reader, page, outcome="skipped")
    assert "test_empty[a/b]" in visit(reader, page, q="EMPTY")
    assert "No result fits" in visit(reader, page, q="nothing like this")


def test_a_failure_has_its_whole_text(shop, reader):
    run = sent(shop, FIRST)
    failure = run.failures.get(outcome=1)
    page = f"{base(shop.project)}/failures/{failure.pk}"
    text = visit(reader, page)
    assert "tests/test_login.py:12: AssertionError" in text
    assert "ci-1" in text
    part = reader.get(page, headers={"HX-Request": "true"}).content.decode()
    assert "AssertionError" in part
    assert "<html" not in part


def test_a_test_shows_its_history_newest_first(shop, reader):
    first = sent(shop, GREEN, hours=3, run="ci-1")
    second = sent(shop, FIRST, hours=1, run="ci-2", environment={"os": "linux"})
    case = shop.project.tests.get(name="test_session")
    answer = reader.get(f"{base(shop.project)}/tests/{case.pk}")
    text = read(answer)
    assert "Failed in 1 of 2 runs of the last 30 days (50.0 % of those" in text
    page = answer.content.decode()
    strip = page.split('class="strip"')[1].split("</ol>")[0]
    assert strip.index(f"/runs/{second.pk}") < strip.index(f"/runs/{first.pk}")
    assert "assert 401 == 200" in text
    assert "os=linux" in text
    drawn = figure(answer, "durations")
    assert {trace["name"]: trace["y"] for trace in drawn["data"]} == {
        "passed": [2.5],
        "failed": [1.5],
    }


def test_tests_are_listed_ranked_and_filtered(shop, reader):
    sent(shop, GREEN, hours=3, run="ci-1")
    sent(shop, FIRST, hours=1, run="ci-2")
    page = base(shop.project) + "/tests"
    assert "test_total" in visit(reader, page)
    worst = visit(reader, page, sort="failed_runs")
    assert "test_session" in worst
    assert "1 of 2" in worst
    assert "test_total" not in worst
    assert "test_total" not in visit(reader, page, q="session")
    assert "No test fits" in visit(reader, page, state="gone")


def test_runs_are_found_by_each_filter(shop, reader):
    sent(shop, GREEN, run="ci-main", hours=2)
    other = {"branch": "feature", "commit": "1234567890", "pr": 538}
    sent(shop, FIRST, run="ci-pull", environment={"os": "macos"}, **other)
    page = base(shop.project) + "/runs"
    for found in (
        {"branch": "feature"},
        {"commit": "1234567"},
        {"pr": "538"},
        {"pr": "#538"},
        {"environment": "os=macos"},
        {"outcome": "failed"},
    ):
        text = visit(reader, page, **found)
        assert "ci-pull" in text, found
        assert "ci-main" not in text, found
    assert "No run fits" in visit(reader, page, until="2020-01-01")
    assert "ci-main" in visit(reader, page, since="2020-01-01", until="2999-01-01")


def test_runs_are_compared(shop, reader):
    before = sent(shop, GREEN, hours=3, run="ci-1")
    after = sent(shop, FIRST, hours=1, run="ci-2")
    page = f"{base(shop.project)}/runs/{after.pk}/compare"
    wanted = "1 test newly fails, none is fixed, none still fails; 1 test added."
    assert wanted in visit(reader, page)
    assert wanted in visit(reader, page, **{"with": before.pk})
    assert "There is no such run" in visit(reader, page, **{"with": "987654"})


def test_a_run_is_excluded_with_a_reason_and_taken_in_again(shop):
    run = sent(shop, FIRST)
    triager = visitor(shop.project, Role.TRIAGER, name="tom")
    page = f"{base(shop.project)}/runs/{run.pk}"
    refused = triager.post(f"{page}/exclude", {"reason": "  "}, follow=True)
    assert "Say why the run is left out" in read(refused)
    told = triager.post(f"{page}/exclude", {"reason": "the disk was full"}, follow=True)
    assert "does not count in statistics" in read(told)
    assert "tom, just now: the disk was full" in visit(triager, page)
    assert "not in statistics" in visit(triager, base(shop.project) + "/runs")
    triager.post(f"{page}/exclude", {"include": "1"})
    assert "the disk was full" not in visit(triager, page)
    actions = list(shop.project.audit.order_by("id").values_list("actor", "action"))
    assert actions[-2:] == [("tom", "run.excluded"), ("tom", "run.included")]


def test_a_rejected_upload_is_explained_at_its_line(shop, reader):
    send(shop, BROKEN, run="ci-1")
    upload = Upload.objects.get()
    text = visit(reader, f"{base(shop.project)}/uploads/{upload.pk}")
    assert "rejected Nothing in it could be read." in text
    assert "1.xml line 2" in text
    assert "1.xml, line 2" in visit(reader, base(shop.project) + "/uploads")


def test_the_bytes_come_back_as_they_were_sent(shop, reader):
    send(shop, FIRST, BROKEN)
    page = f"{base(shop.project)}/uploads/{Upload.objects.get().pk}"
    whole = reader.get(f"{page}/raw")
    assert FIRST in whole.getvalue()
    assert "attachment" in whole["Content-Disposition"]
    for n, content in ((1, FIRST), (2, BROKEN)):
        answer = reader.get(f"{page}/files/{n}")
        assert answer.getvalue() == content
        assert answer["Content-Type"] == "application/octet-stream"
        assert "attachment" in answer["Content-Disposition"]
    assert reader.get(f"{page}/files/3").status_code == 404


def test_a_dead_upload_comes_first_and_is_tried_again(shop):
    send(shop, GREEN, run="ci-1")
    send(shop, FIRST, run="ci-2")
    first = Upload.objects.order_by("id")[0]
    Upload.objects.filter(pk=first.pk).update(
        state="dead", failure="OSError: no space", attempts=5
    )
    triager = visitor(shop.project, Role.TRIAGER, name="tom")
    page = base(shop.project) + "/uploads"
    text = visit(triager, page)
    assert "1 upload was given up after several tries." in text
    assert "OSError: no space" in text
    told = triager.post(f"{page}/{first.pk}/retry", {"from": "list"}, follow=True)
    assert f"Upload {first.pk} is in the queue again." in read(told)
    first.refresh_from_db()
    assert first.state == "admitted"
    again = triager.post(f"{page}/{first.pk}/retry", follow=True)
    assert "nothing to retry" in read(again)


def test_search_finds_each_kind(shop, reader):
    run = sent(shop, FIRST, run="nightly-7", pr=538)
    page = base(shop.project) + "/search"
    assert "test_session" in visit(reader, page, q="session")
    answer = reader.get(page, query_params={"q": "nightly"})
    assert f"/runs/{run.pk}" in answer.content.decode()
    assert "Commits" in visit(reader, page, q="abcdef0")
    assert "Pull requests" in visit(reader, page, q="538")
    assert "Nothing here is called “zzz”" in visit(reader, page, q="zzz")


def test_search_outside_a_project_goes_to_the_only_one(shop, reader):
    answer = reader.get("/search", query_params={"q": "a b&c"})
    assert answer["Location"] == "/p/acme/shop/search?q=a+b%26c"
    create_project("acme/store", actor="a test")
    root = visitor(name="root", is_superuser=True)
    assert "acme/store" in visit(root, "/search", q="sto")
    assert "No project is called" in visit(root, "/search", q="zzz")


def test_a_public_page_offers_sign_in_and_no_act(shop):
    run = sent(shop, FIRST)
    type(shop.project).objects.update(public=True)
    text = visit(Client(), f"{base(shop.project)}/runs/{run.pk}")
    assert "Sign in" in text
    assert "Exclude from statistics" not in text
    assert "Settings" not in text
