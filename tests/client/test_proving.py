"""Proving and bisecting in a made-up laboratory, with every run counted."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthboard_client.bisection import bisect
from healthboard_client.probing import Ending, Laboratory
from healthboard_client.proving import Search

PASSED, FAILED, UNKNOWN = Ending.PASSED, Ending.FAILED, Ending.UNKNOWN
TESTS = [f"t{number}" for number in range(64)]


def _suite(leakers, *, cleaners=(), brittle=False):
    """A victim that fails after a leaker (all of a group), unless it was cleaned."""

    def run(tests):
        *before, _ = tests
        dirty, seen = False, set()
        for test in before:
            seen.add(test)
            if test in cleaners:
                dirty, seen = False, set()
            dirty = dirty or any(set(group) <= seen for group in leakers)
        return FAILED if dirty is not brittle else PASSED

    return run


def _search(run, **options):
    lab = Laboratory(run)
    return Search("v", lab, **options), lab


def test_a_good_ranking_takes_one_pair_and_its_repetition():
    search, lab = _search(_suite([["t7"]]))
    found = search.prove(["t7", "t8"], lambda kind: TESTS)
    [proof] = found.proofs
    assert (proof.leakers, proof.confirmed, proof.how) == (("t7",), True, "pair")
    assert (proof.runs, proof.failed) == (2, 2)
    assert (found.kind, found.pairs, found.bisected) == ("victim", 1, 0)
    # alone, pair, pair again, alone again: 1 + 2 + 2 + 1 tests
    assert (lab.processes, lab.tests) == (4, 6)


def test_candidates_before_the_right_one_are_refuted():
    search, lab = _search(_suite([["t7"]]), repeat=1)
    found = search.prove(["t1", "t2", "t7"])
    assert [(p.leakers[0], p.confirmed, p.failed) for p in found.proofs] == [
        ("t1", False, 0),
        ("t2", False, 0),
        ("t7", True, 1),
    ]
    assert lab.processes == 4


def test_a_test_that_fails_alone_is_brittle_and_its_setter_is_proven():
    search, _ = _search(_suite([["t3"]], brittle=True))
    found = search.prove(["t1", "t3"])
    assert found.kind == "brittle"
    assert [(p.leakers[0], p.confirmed, p.failed) for p in found.proofs] == [
        ("t1", False, 1),
        ("t3", True, 0),
    ]


def test_bisection_finds_the_leaker_that_nobody_named():
    search, lab = _search(_suite([["t41"]]), repeat=1)
    found = search.prove(["t1"], lambda kind: TESTS)
    assert found.confirmed[0].leakers == ("t41",)
    assert found.confirmed[0].how == "bisection"
    # all, then one or two halves a level
    assert 1 + math.log2(64) <= found.bisected <= 1 + 2 * math.log2(64)
    assert lab.processes == 2 + found.bisected


def test_two_that_work_only_together_are_found_together():
    search, _ = _search(_suite([["t3", "t50"]]))
    found = search.prove(["t3", "t50"], lambda kind: TESTS)
    assert [p.confirmed for p in found.proofs] == [False, False, True]
    assert found.confirmed[0].leakers == ("t3", "t50")


def test_the_recorded_order_is_asked_by_kind_and_only_when_needed():
    asked = []

    def recorded(kind):
        asked.append(kind)
        return TESTS

    _search(_suite([["t7"]]))[0].prove(["t7"], recorded)
    assert asked == []
    _search(_suite([["t7"]], brittle=True))[0].prove([], recorded)
    assert asked == ["brittle"]


@pytest.mark.parametrize(
    ("run", "why", "kind"),
    [
        (lambda tests: UNKNOWN, "alone it cannot be run", ""),
        (_suite([]), "not even the recorded order", "victim"),
    ],
)
def test_what_cannot_be_proven_is_said(run, why, kind):
    found = _search(run)[0].prove(["t1"], lambda _: TESTS)
    assert why in found.why
    assert (found.kind, found.confirmed) == (kind, [])


def test_no_recorded_order_is_said():
    found = _search(_suite([]))[0].prove(["t1"], lambda _: [])
    assert found.why == "no recorded order says what ran before it"


def test_a_pair_that_could_not_run_is_neither_confirmed_nor_refuted():
    found = _search(lambda tests: UNKNOWN if tests[:-1] else PASSED)[0].prove(["gone"])
    assert found.proofs == []


def test_what_happens_only_sometimes_is_no_proof():
    endings = iter([PASSED, FAILED, PASSED])  # alone, pair, pair again
    found = _search(lambda tests: next(endings))[0].prove(["t1"])
    assert found.proofs == []
    assert "flaky besides" in found.why


def test_a_victim_that_is_flaky_alone_is_no_proof():
    endings = iter([PASSED, FAILED, FAILED, FAILED])  # alone, pair, pair, alone
    found = _search(lambda tests: next(endings))[0].prove(["t1"])
    assert found.confirmed == []


@given(
    st.integers(1, 80).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sets(st.integers(0, n - 1), min_size=1, max_size=3)
        )
    )
)
def test_bisection_finds_exactly_the_tests_that_are_needed(case):
    number, needed = case
    tests = [f"t{n}" for n in range(number)]
    wanted = [tests[n] for n in sorted(needed)]
    run = _suite([wanted])
    found = bisect(tests, lambda some: run([*some, "v"]), changed=FAILED)
    assert found == wanted


@given(st.integers(1, 500), st.randoms())
def test_one_leaker_takes_about_twice_the_logarithm(number, random):
    tests = [f"t{n}" for n in range(number)]
    leaker, count = random.choice(tests), 0

    def changes(some):
        nonlocal count
        count += 1
        return FAILED if leaker in some else PASSED

    assert bisect(tests, changes, changed=FAILED) == [leaker]
    assert count <= 1 + 2 * math.ceil(math.log2(number))


def test_bisection_ends_after_so_many_experiments():
    run = _suite([TESTS])
    assert bisect(TESTS, lambda s: run([*s, "v"]), changed=FAILED, most=5) == []
