"""Leakers in words and drawings: pure functions of the stored numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.judgement import Class, Doubt, Status
from analysis.priors import Story
from dashboard import charts, leak_words
from dashboard.intervals import of_pair, of_share
from dashboard.leak_maps import MOST_VICTIMS, lay_out
from dashboard.leaker_filters import LeakerFilters, read_filters
from dashboard.leaker_story import fix_seen, story_of
from leaks.models import LeakerSource, LeakerState
from leaks.recipes import recipe_for, recipes_for
from leaks.shapes import DecisionRow, LeakerRow, PairRow, ProofRow

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def pair(test=2, **fields: Any) -> PairRow:
    values: dict[str, Any] = {
        "test": test,
        "nodeid": f"tests/test_a.py::test_{test}",
        "kind": "victim",
        "status": "confirmed",
        "posterior": 0.987,
        "bf": 1e6,
        "failed_after": 41,
        "passed_after": 2,
        "failed_without": 1,
        "passed_without": 159,
        "p_value": 2.1e-31,
        "q_value": 1e-29,
        "lives_for": 12.2,
        "current": True,
        "claimed_at": NOW,
    }
    return PairRow(**values | fields)


def leaker(number=1, *victims: PairRow, **fields: Any) -> LeakerRow:
    values: dict[str, Any] = {
        "id": number,
        "project_id": 1,
        "test": 100 + number,
        "nodeid": f"tests/test_l.py::test_{number}",
        "kinds": [],
        "source": "correlation",
        "state": "open",
        "opened_at": NOW,
        "reopened_at": None,
        "ticket": "",
        "recipe": "",
        "first_run": 5,
        "first_commit": "c" * 40,
        "first_pr": 538,
        "first_at": NOW - timedelta(days=9),
        "last_at": NOW,
        "failed_results": 1.0,
        "failed_runs": 1.0,
        "lost_s": 1.0,
        "pulls": 0,
        "victims": list(victims),
        "reproduce": "",
        "method_version": 1,
    }
    return LeakerRow(**values | fields)


def test_the_table_is_said_as_a_person_would():
    words = "failed in 41 of 43 runs after it, in 1 of 160 without"
    assert leak_words.table_in_words(pair()) == words
    nothing = pair(failed_after=0, passed_after=0, failed_without=0, passed_without=0)
    assert leak_words.table_in_words(nothing).startswith("no run of the window")


@pytest.mark.parametrize(
    ("p_value", "said"),
    [
        (1.0, "100 times in 100."),
        (0.4, "40 times in 100."),
        (0.01, "once in 100."),
        (1e-6, "once in 1,000,000."),
        (2.1e-31, "less than once in 10^30."),
        (0.0, "less than once in 10^300."),
    ],
)
def test_chance_is_never_flattered(p_value, said):
    assert leak_words.by_chance(p_value).endswith(said)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"status": "proven"}, "Proven: a reproduction"),
        ({"status": "refuted"}, "Refuted: a reproduction of the two alone"),
        ({}, "Confirmed: it holds 98.7 % of the belief. Chance"),
        ({"posterior": 1.0}, "it holds more than 99.9 % of the belief."),
        ({"status": "suspect", "posterior": 0.2}, "20.0 % of the belief; no claim"),
        (
            {"status": "indistinguishable", "group": ["a", "b", "c"]},
            "Cannot be told apart from 2 other tests: they always ran",
        ),
    ],
)
def test_how_sure_a_pair_is(fields, said):
    assert said in leak_words.confidence(pair(**fields))


def test_how_long_the_damage_lives():
    assert leak_words.lasts(pair()) == "The damage survives about 12 tests."
    assert leak_words.lasts(pair(lives_for=0.2)).endswith("about 1 test.")
    assert leak_words.lasts(pair(lives_for=None)).endswith("end of the process.")
    assert leak_words.lasts(pair(kind="brittle")) == ""


def test_everything_that_analysis_says_has_its_words():
    assert set(leak_words.CLASSES) == {one.value for one in Class}
    assert set(leak_words.STORIES) == {one.value for one in Story}
    assert set(leak_words.DOUBTS) == {one.value for one in Doubt}
    assert set(leak_words.STATES) == set(LeakerState.values)
    assert set(leak_words.SOURCES) == set(LeakerSource.values)
    for status in Status:
        assert leak_words.confidence(pair(status=status.value))


def test_classes_are_counted_in_plural_where_there_is_one():
    assert leak_words.tests_of_class("victim", 1) == "1 victim"
    assert leak_words.tests_of_class("victim", 1_200) == "1,200 victims"
    assert leak_words.tests_of_class("flaky", 2) == "2 flaky"


def test_a_leaker_is_said_by_its_kinds_and_victims():
    says = leak_words.leaves_behind
    assert says(leaker(1, pair(), kinds=["env.set", "cwd.changed"])) == (
        "leaves env.set and cwd.changed behind and breaks 1 test"
    )
    suspected = pair(status="suspect", posterior=0.3)
    assert says(leaker(1, suspected)) == "is suspected of breaking 1 test"
    assert "nothing speaks of it any more" in says(leaker(1))


def test_what_holds_no_belief_is_no_suspicion():
    sure, faint = pair(2), pair(3, status="suspect", posterior=1e-9)
    refuted = pair(4, status="refuted", posterior=0.0)
    suspect = pair(5, status="suspect", posterior=0.2)
    shown = leak_words.worth_a_look([refuted, faint, suspect, sure])
    assert [one.test for one in shown] == [2, 5, 4]


@pytest.mark.parametrize(
    ("kind", "innocent"), [("victim", "failed_after"), ("brittle", "failed_without")]
)
def test_who_never_ran_before_a_failure_is_no_suspect(kind, innocent):
    suspect = pair(kind=kind, status="suspect", posterior=0.2)
    assert leak_words.speaks(suspect)
    assert not leak_words.speaks(replace(suspect, **{innocent: 0}))
    proven = replace(suspect, status="proven", **{innocent: 0})
    assert leak_words.speaks(proven)


def test_stories_are_ranked_and_the_faint_left_out():
    told = {"stories": {"flake": 0.3, "victim": 0.692, "place": 0.008}}
    assert [(one.share, one.name) for one in leak_words.stories(told)] == [
        (69.2, "a test that ran before it"),
        (30.0, "fails now and then, whatever ran before"),
    ]
    assert leak_words.stories({}) == []


def test_an_interval_holds_its_dot():
    after, without = of_pair(pair())
    assert (after.hits, after.of, without.hits, without.of) == (41, 43, 1, 160)
    for one in (after, without):
        assert 0 <= one.low <= one.dot <= one.high <= 100
    assert after.low > without.high  # it is plain to see
    assert after.words == "95.3 %, between 85.9 % and 99.0 %"


@pytest.mark.parametrize(("hits", "of"), [(0, 0), (0, 9), (9, 9)])
def test_intervals_at_the_ends(hits, of):
    one = of_share("after it", hits, of)
    assert 0 <= one.low <= one.dot <= one.high <= 100
    assert (one.words == "never seen") == (of == 0)


def test_the_map_places_victims_near_their_leakers():
    drawn = lay_out(
        [
            leaker(1, pair(7), pair(8)),
            leaker(2),
            leaker(3, pair(8), pair(6), pair(9, status="refuted")),
        ]
    )
    assert [side.leaker for side in drawn.leakers] == [1, 3]
    assert [side.test for side in drawn.victims] == [7, 8, 6]
    assert [(cell.row, cell.column) for cell in drawn.cells] == [
        (0, 0),
        (0, 1),
        (1, 1),
        (1, 2),
    ]
    assert drawn.hidden == 0
    chosen = drawn.selected(3, 8)
    assert chosen is not None
    assert (chosen.row, chosen.column) == (1, 1)
    assert drawn.selected(2, 8) is None


def test_what_does_not_fit_on_the_map_is_counted():
    many = [pair(n) for n in range(MOST_VICTIMS + 3)]
    drawn = lay_out([leaker(1, *many)])
    assert (len(drawn.victims), drawn.hidden) == (MOST_VICTIMS, 3)


def test_the_heat_map_has_a_gap_where_nothing_is_known():
    drawn = lay_out([leaker(1, pair(7)), leaker(3, pair(8, posterior=0.25))])
    [trace] = charts.leak_map(drawn, ["/a", "/b"])["data"]
    assert trace["z"] == [[0.987, None], [None, 0.25]]
    assert trace["customdata"] == [["/a", None], [None, "/b"]]


def test_equal_short_names_stay_apart_on_an_axis():
    same = [pair(7, nodeid="a.py::test_x"), pair(8, nodeid="b.py::test_x")]
    layout = charts.leak_map(lay_out([leaker(1, *same)]), ["/a", "/b"])["layout"]
    assert layout["xaxis"]["tickvals"] == [0, 1]
    assert layout["xaxis"]["ticktext"] == ["test_x", "test_x"]


def at(**step: int) -> datetime:
    return NOW + timedelta(**step)


def test_the_story_is_told_from_the_first_to_the_last():
    fixed = leaker(1, pair(), state="fixed", fixed_at=at(days=3), fixed_commit="f" * 40)
    decided = [
        DecisionRow(at(days=3), "ana", "fix", "", "f" * 40, ""),
        DecisionRow(at(days=3), "ana", "state", "open", "fixed", "by #540"),
        DecisionRow(at(days=2), "ana", "note", "", "", "looked at it"),
    ]
    proof = ProofRow(at(days=1), "ci", 2, "v", "confirmed", "alone", "", 5, 5, "")
    words = [event.word for event in story_of(fixed, decided, [proof])]
    assert words == [
        "first seen",
        "opened",
        "first victim",
        "proven",
        "note",
        "fix",
        "fixed",
    ]


def test_a_fix_that_nobody_told_is_told_by_the_runs():
    gone = leaker(1, pair(), state="fixed", fixed_at=at(days=3))
    last = story_of(gone, [], [])[-1]
    assert (last.word, last.text) == ("fixed", "no run of the window shows it any more")


def cells(passed: int, failed: int = 0, *, start: int = 1) -> list[Any]:
    outcomes = ["passed"] * passed + ["failed"] * failed + ["skipped"]
    return [
        SimpleNamespace(started_at=at(hours=start + n), outcome=outcome)
        for n, outcome in enumerate(outcomes)
    ]


def test_a_fix_is_as_sure_as_the_runs_since():
    fixed = leaker(1, pair(), state="fixed", fixed_at=NOW)
    young, sure = fix_seen(fixed, cells(4)), fix_seen(fixed, cells(60))
    assert young is not None
    assert sure is not None
    assert young.words.startswith("0 failures in 4 relevant runs since")
    assert (young.sure, sure.sure) == (False, True)
    assert "less than once in 10^" in sure.words
    broken = fix_seen(fixed, cells(60, 1))
    assert broken is not None
    assert (broken.sure, broken.broken) == (False, True)


def test_only_runs_after_a_fix_speak_for_it():
    fixed = leaker(1, pair(), state="fixed", fixed_at=at(days=9))
    told = fix_seen(fixed, cells(60, 3))
    assert told is not None
    assert told.words.startswith("0 failures in 0 relevant runs")
    assert fix_seen(leaker(1, pair()), cells(60)) is None


def test_every_kind_has_a_recipe_and_each_is_given_once():
    assert recipe_for("sys_modules.removed").family == "sys_modules"
    assert recipe_for("of.nobody").family == ""
    kinds = ["env.set", "env.removed", "cwd.changed"]
    assert [one.family for one in recipes_for(kinds)] == ["env", "cwd"]
    assert [one.family for one in recipes_for([])] == [""]


def test_filters_that_make_no_sense_are_left_out():
    asked = {"state": "gone", "source": "rumour", "owner": "-", "q": "a\x00b"}
    filters = read_filters(asked)
    assert filters == LeakerFilters(owner="-", q="ab")
    assert filters.known() == {
        "state": "open",
        "kind": None,
        "source": None,
        "owner": "",
        "q": "ab",
    }
    assert read_filters({"state": "any"}).known()["state"] is None
    assert not read_filters({}).active
