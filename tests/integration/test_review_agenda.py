"""The agenda of a week: what is on it, in which order, and what is carried over."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from leaks.models import LeakerState
from projects.creation import create_project
from review.agenda import NotYet, review_of
from review.choices import Pick, choose
from review.closing import close, freeze
from review.deciding import Wish, decide
from review.models import Week
from review.shapes import Section
from tests.asking import ask, refused, told, wrong_fields
from tests.builders import make_context, make_run, rebuild_days
from tests.meeting import (
    FRIDAY,
    MONDAY,
    NEXT_TUESDAY,
    WEDNESDAY,
    WEEK,
    make_case,
    make_leaker,
    make_old,
    make_verdict,
)
from tests.reviewing import make_finding

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    made = create_project("acme/app", actor="test")
    make_old(made.project)
    return made


@pytest.fixture
def project(acme):
    return acme.project


def listed(project, week=WEEK, *, now=FRIDAY):
    agenda = review_of(project, week, now=now).agenda
    return {
        section.value: [item.title for item in items]
        for section, items in agenda.sections.items()
        if items
    }


def why(project, section, *, now=FRIDAY, week=WEEK):
    return [
        item.why for item in review_of(project, week, now=now).agenda.sections[section]
    ]


def test_a_project_without_anything_has_an_empty_agenda(project):
    review = review_of(project, WEEK, now=FRIDAY)
    assert listed(project) == {}
    assert (review.agenda.subjects, review.state, review.stored) == ([], "open", False)
    assert {trend.now for trend in review.agenda.trends} == {None}
    assert Week.objects.count() == 0


def test_new_leakers_are_those_that_opened_in_the_week(project):
    make_leaker(project, "test_new")
    make_leaker(project, "test_old", opened_at=MONDAY - timedelta(days=30))
    make_leaker(
        project,
        "test_again",
        opened_at=MONDAY - timedelta(days=30),
        reopened_at=MONDAY,
        first_pr=None,
        first_commit="a" * 40,
        source="both",
    )
    make_leaker(project, "test_suspect", state=LeakerState.SUSPECTED)
    make_leaker(project, "test_dismissed", state=LeakerState.DISMISSED)
    assert [title.rpartition("::")[2] for title in listed(project)["new_leakers"]] == [
        "test_new",
        "test_again",
    ]
    assert why(project, Section.LEAKERS) == [
        "Leaks env.set, says a gate; 2 victims; first seen on #538.",
        "Leaks again env.set, say a gate and its victims' histories; 2 victims; "
        "first seen at aaaaaaaaa.",
    ]


def test_newly_flaky_tests_tell_their_rate(project):
    make_verdict(project, "test_new")
    make_verdict(project, "test_old", since=MONDAY - timedelta(days=1))
    make_verdict(project, "test_other", name="regression")
    # Jeffreys' interval of 3 in 60: Beta(3.5, 57.5) from 1.4 % to 12.6 %.
    assert why(project, Section.FLAKY) == [
        "Both outcomes on one commit: failed in 3 of 60 runs (rate 1.4 % to 13 %); "
        "2 pull requests affected."
    ]


def test_new_findings_are_live_p0_and_p1(project):
    for n, fields in enumerate(
        [
            {"severity": "P0", "title": "worst", "path": "a.py", "line": 3},
            {"severity": "P1", "title": "bad"},
            {"severity": "P2", "title": "small"},
            {"severity": "P0", "title": "gone", "state": "resolved"},
            {"severity": "P0", "title": "old", "opened_at": MONDAY - timedelta(days=1)},
        ]
    ):
        values = {"opened_at": WEDNESDAY, "due": MONDAY + timedelta(days=9)}
        make_finding(project, f"{n:032}", **values | fields)
    assert listed(project)["new_findings"] == ["worst", "bad"]
    assert why(project, Section.FINDINGS) == [
        "P0 at a.py:3, on #7, due 2026-03-11.",
        "P1, on #7, due 2026-03-11.",
    ]


def test_the_worst_by_cost_are_charged_once(project):
    make_leaker(
        project,
        "test_dear",
        opened_at=None,
        lost_s=7_200.0,
        failed_runs=2.5,
        failed_results=9.0,
        pulls=4,
    )
    make_leaker(project, "test_fixed", lost_s=9e9, state=LeakerState.FIXED)
    make_verdict(project, "test_flake", since=MONDAY - timedelta(days=9))
    make_verdict(project, "test_victim", name="victim", lost_s=5_000.0)
    assert [
        title.rpartition("::")[2] for title in listed(project)["worst_by_cost"]
    ] == [
        "test_dear",
        "test_flake",
    ]
    assert why(project, Section.COST) == [
        "4 pull requests turned red, 9 failed results charged to it, 2.5 red runs, "
        "2 hours lost.",
        "Flaky: 2 pull requests turned red, 3 red runs, 10 minutes lost.",
    ]


def test_what_is_overdue_says_how_late_it_is(project):
    late = {"severity": "P2", "title": "late", "due": MONDAY + timedelta(hours=1)}
    make_finding(project, "1" * 32, **late)
    make_finding(project, "2" * 32, due=NEXT_TUESDAY)
    test = make_case(project, "test_slow")
    wish = Wish(owner="ana", fix_by=date(2026, 3, 3))
    decide(project, test.pk, wish, by="tri", now=MONDAY)
    ended = make_case(project, "test_ended")
    wish = Wish(quarantine_until=WEDNESDAY, reason="known")
    decide(project, ended.pk, wish, by="tri", now=MONDAY)
    assert why(project, Section.OVERDUE) == [
        "To be fixed by ana until 2026-03-03: 3 days late.",
        "Its quarantine ended on 2026-03-04.",
        "Due 2026-03-02: 4 days late.",
    ]


def test_trends_compare_with_the_week_before(project):
    for name, day, outcomes in (
        ("a", -7, {"test_a": "failed", "test_b": "passed"}),
        ("b", -6, {"test_a": "failed", "test_b": "failed"}),
        ("c", 0, {"test_a": "passed", "test_b": "passed", "test_c": "passed"}),
        ("d", 1, {"test_a": "failed", "test_b": "passed", "test_c": "skipped"}),
    ):
        at = MONDAY + timedelta(days=day, hours=5)
        make_run(project, outcomes, context=make_context(name, started_at=at))
    rebuild_days()
    trends = {
        trend.name: (trend.now, trend.of, trend.before, trend.of_before)
        for trend in review_of(project, WEEK, now=FRIDAY).agenda.trends
    }
    assert trends["pass_rate"] == (4 / 5, 5, 1 / 4, 4)
    assert trends["failed_tests"] == (1, 3, 2, 2)
    assert trends["red_runs"] == (1, 2, 2, 2)
    assert trends["duration_p50"][1::2] == (2, 2)


def test_what_was_not_decided_is_first_next_week(project):
    for name in ("test_left", "test_done", "test_noted", "test_mended"):
        make_leaker(project, name)
    tests = {test.name: f"test:{test.pk}" for test in project.tests.all()}
    for name, pick in (
        ("test_done", Pick(owner="ana")),
        ("test_noted", Pick(note="ask bob")),
    ):
        choose(project, WEEK, tests[name], pick, version=0, by="tri", now=FRIDAY)
    assert freeze(project, WEEK, now=WEEK.ends("UTC"))
    project.leakers.filter(test__name="test_mended").update(state=LeakerState.FIXED)
    review = review_of(project, WEEK.after, now=NEXT_TUESDAY)
    carried = review.agenda.sections[Section.CARRIED]
    names = [item.title.rpartition("::")[2] for item in carried]
    assert names == ["test_left", "test_noted"]
    assert [item.weeks for item in carried] == [1, 1]
    freeze(project, WEEK.after, now=WEEK.after.ends("UTC"))
    later = review_of(project, WEEK.after.after, now=WEEK.after.after.ends("UTC"))
    assert [item.weeks for item in later.agenda.sections[Section.CARRIED]] == [2, 2]


def test_a_week_that_nobody_kept_still_hands_over(project):
    make_leaker(project, "test_left")
    carried = listed(project, WEEK.after, now=NEXT_TUESDAY)["carried_over"]
    assert carried == ["tests/test_shop.py::test_left"]


def test_what_comes_after_an_early_close_is_new_next_week(project):
    make_leaker(project, "test_before")
    close(project, WEEK, by="tri", now=WEDNESDAY + timedelta(hours=1))
    make_leaker(project, "test_after", opened_at=FRIDAY)
    found = listed(project, WEEK.after, now=NEXT_TUESDAY)
    assert found["new_leakers"] == ["tests/test_shop.py::test_after"]
    assert found["carried_over"] == ["tests/test_shop.py::test_before"]


def test_a_snapshot_reads_as_it_was(project):
    leaker = make_leaker(project, "test_a")
    make_verdict(project, "test_b")
    before = listed(project)
    close(project, WEEK, by="tri", now=FRIDAY)
    leaker.delete()
    make_leaker(project, "test_c")
    project.tests.filter(name="test_b").update(nodeid="renamed")
    again = review_of(project, WEEK, now=NEXT_TUESDAY)
    assert listed(project, now=NEXT_TUESDAY) == before
    assert (again.stored, again.closed, again.agenda.as_of) == (True, True, FRIDAY)
    assert freeze(project, WEEK, now=NEXT_TUESDAY) is False
    assert listed(project, now=NEXT_TUESDAY) == before


def test_the_api_gives_the_week_and_what_was_decided(acme, project):
    now = project_now(project)
    leaker = make_leaker(project, "test_a", opened_at=now)
    week = f"{now:%G-W%V}"
    path = f"/projects/acme/app/review/{week}"
    [item] = told(path, acme.token)["new_leakers"]
    assert (item["kind"], item["id"], item["decided"]) == ("leaker", leaker.pk, False)
    assert item["subject"] == f"test:{leaker.test_id}"
    from_name = told(path, acme.token)
    assert from_name["sentence"] == "0 of 1 subject decided."
    answer = ask(path, acme.token, format="md")
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.content.decode().startswith(f"# Weekly review {week}: acme/app\n")
    answer = ask(path, acme.token, format="csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert len(answer.content.decode().splitlines()) == 2


def project_now(project):
    return project.created_at  # just now


def test_weeks_that_are_none_are_refused(acme):
    for week in ("2026-W60", "nothing", "2026-W1"):
        answer = ask(f"/projects/acme/app/review/{week}", acme.token)
        assert wrong_fields(answer) == ["week"]
    refused(ask("/projects/acme/app/review/9000-W10", acme.token), 404)
    other = create_project("acme/other", actor="test")
    refused(ask("/projects/acme/app/review/2026-W10", other.token), 404)
    with pytest.raises(NotYet):
        review_of(other.project, WEEK, now=MONDAY - timedelta(seconds=1))
