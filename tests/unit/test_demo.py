"""The demo's story, before anything is sent: it is what it claims to be."""

from __future__ import annotations

import io
import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from analysis.history import History, State, make_run, state_of
from analysis.judge import judge_all
from analysis.judgement import Class
from formats.context import read_context
from formats.junit import read_junit
from formats.order import read_order
from formats.outcomes import Outcome
from formats.report import OrderQuality
from formats.reportlog import read_reportlog
from healthboard.demo.deliveries import deliveries
from healthboard.demo.execution import Cause, execute
from healthboard.demo.execution import Outcome as Ended
from healthboard.demo.history import MAIN, Leak, Quirk, history, merged_at
from healthboard.demo.suite import Part, of_part, suite

UNTIL = datetime(2026, 5, 13, 9, 30, tzinfo=UTC)  # a Wednesday
MIDNIGHT = datetime(2026, 3, 1, 0, 10, tzinfo=UTC)  # a Sunday, nothing ran today
READERS = {"junit": read_junit, "order": read_order, "reportlog": read_reportlog}


@pytest.fixture(scope="module")
def sent():
    return list(deliveries(UNTIL))


@pytest.fixture(scope="module")
def main_runs():
    """Each run of the default branch with its first attempts, shard by shard."""
    return [
        (run, [execute(run, shard=shard) for shard in (1, 2, 3)])
        for run in history(UNTIL)
        if run.branch == MAIN
    ]


def test_suite_has_six_hundred_tests_of_different_names():
    cases = suite()
    assert 580 <= len(cases) <= 650
    assert len({case.nodeid for case in cases}) == len(cases)
    assert len({case.file for case in cases}) == 40
    assert Counter(case.part for case in cases)[Part.LEAKER] == 1


@pytest.mark.parametrize("until", [UNTIL, MIDNIGHT], ids=["wednesday", "midnight"])
def test_history_lies_in_the_thirty_days_before_its_end(until):
    starts = [run.started_at for run in history(until)]
    assert starts == sorted(starts)
    assert until - timedelta(days=31) <= starts[0] <= until - timedelta(days=29)
    assert until - timedelta(days=2) <= starts[-1] < until
    assert {run.quirk for run in history(until)} == set(Quirk)


def test_same_end_gives_the_same_uploads(sent):
    again = deliveries(UNTIL)
    assert [(one.key, one.body()) for one in sent] == [
        (one.key, one.body()) for one in again
    ]


def test_every_upload_has_a_key_and_a_valid_context(sent):
    assert len({one.key for one in sent}) == len(sent)
    contexts = [read_context(json.dumps(one.context).encode()) for one in sent]
    assert {context.environment["python"] for context in contexts} == {"3.12", "3.13"}
    assert {context.pr for context in contexts} == {
        *(None, 535, 536, 538, 539, 540, 541, 542, 543)
    }


def test_ancestry_names_commits_that_ran_before(sent):
    known: set[str] = set()
    for one in sent:
        missing = set(one.context["ancestry"]) - known
        assert not missing
        known.add(one.context["commit"])


def test_files_are_read_without_repair(sent):
    spoilt = {Quirk.TORN_FILE, Quirk.ERROR_PAGE}
    names = {run.name for run in history(UNTIL) if run.quirk in spoilt}
    seen = Counter()
    for one in sent:
        if one.context["run"] in names:
            continue
        for file in one.files:
            reading = READERS[file.kind](io.BytesIO(file.content))
            assert reading.elements
            if file.kind != "junit":
                assert reading.order is OrderQuality.TRACED
                assert reading.notes == []
            seen[file.kind] += 1
    assert seen["reportlog"] == 1
    assert seen["order"] > 0.8 * seen["junit"]


def test_trace_and_report_tell_the_same_outcomes(sent):
    second_shard = sent[-2]
    told = [
        {
            element.name.rpartition("::")[2]: element.outcome
            for element in READERS[file.kind](io.BytesIO(file.content)).elements
        }
        for file in second_shard.files
    ]
    report, trace = told
    assert report == trace
    assert set(report.values()) >= {Outcome.PASSED, Outcome.XFAILED}


def test_default_branch_suffers_from_538_until_540(main_runs):
    begun, ended = merged_at(538, UNTIL), merged_at(540, UNTIL)
    failures: Counter[int] = Counter()
    for run, shards in main_runs:
        leaks = [one for part in shards for one in part if one.cause is Cause.LEAK]
        period = (run.commit.at >= begun) + (run.commit.at >= ended)
        failures[period] += len(leaks)
    assert failures[0] == 0  # before
    assert failures[1] > 50
    assert failures[2] == 0  # after the fix


def test_victim_fails_only_after_the_leaker_in_its_process(main_runs):
    victims = set(of_part(Part.VICTIM))
    after = unharmed = 0
    for run, shards in main_runs:
        for attempts in shards:
            at = {
                (one.pid, one.case.part): one.position
                for one in attempts
                if one.case.part is Part.LEAKER
            }
            for one in attempts:
                place = at.get((one.pid, Part.LEAKER))
                exposed = place is not None and place < one.position
                if one.cause is Cause.LEAK:
                    assert one.case in victims
                    assert exposed
                    assert run.leak is Leak.LIVE
                    after += 1
                unharmed += one.case in victims and exposed and not one.cause
    assert after > 50
    assert unharmed > 0  # what came before is not by itself the cause


def test_flaky_tests_pass_when_they_are_tried_again(main_runs):
    reruns = Counter()
    for _, shards in main_runs:
        attempts = [one for part in shards for one in part]
        for one in attempts:
            if one.outcome is Ended.RERUN:
                assert one.case.part is Part.FLAKY
                reruns[one.case.nodeid] += 1
    assert len(reruns) == 2
    assert min(reruns.values()) >= 3


def test_third_shard_is_the_longest_and_grows(main_runs):
    lengths = [
        [max(one.end for one in attempts) for attempts in shards]
        for _, shards in main_runs
    ]
    assert all(third > 2 * max(first, second) for first, second, third in lengths)
    early, late = lengths[:20], lengths[-20:]
    assert sum(third for *_, third in late) > 1.1 * sum(third for *_, third in early)


def test_analysis_finds_the_leaker_and_its_victims(main_runs):
    cases = suite()
    number = {case.nodeid: place for place, case in enumerate(cases)}
    runs = []
    for run, shards in main_runs:
        for attempts in shards if run.traced else ():
            processes: dict[int, list[tuple[int, State]]] = {}
            for one in sorted(attempts, key=lambda one: one.start):
                state = state_of(one.outcome, phase="setup")
                if state is not None and not one.number:
                    place = number[one.case.nodeid]
                    processes.setdefault(one.pid, []).append((place, state))
            commit = round(run.elapsed * 1_000_000)
            runs.append(make_run(list(processes.values()), commit=commit))
    judged = judge_all(History(tuple(runs), len(cases)))
    claims = {
        (cases[one.test], cases[claim.test]) for one in judged for claim in one.claims
    }
    (leaker,) = of_part(Part.LEAKER)
    victims = [victim for victim, culprit in claims if culprit is leaker]
    assert len(victims) == len(claims) >= 10
    assert set(victims) <= set(of_part(Part.VICTIM))
    flaky = {cases[one.test] for one in judged if one.cls is Class.FLAKY}
    assert flaky
    assert flaky <= set(of_part(Part.FLAKY))
