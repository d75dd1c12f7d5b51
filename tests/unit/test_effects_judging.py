"""The verdicts, rule by rule, on ledgers small enough to be judged by hand."""

from __future__ import annotations

import io

import pytest

from formats.effects.freshness import Freshness
from formats.effects.judgement import Judged
from formats.effects.judging import judge
from formats.effects.ledger import read_ledger
from tests.effect_ledgers import (
    DIGEST,
    OTHER,
    Fields,
    claim,
    encode,
    file,
    obligation,
    observation,
    outcome,
    ref,
)

A = file("a.txt")
B = file("b.txt")


def judged(*lines: Fields, run_ended: bool = False) -> dict[str, Judged]:
    ledger = read_ledger(io.BytesIO(encode(*lines)), run_ended=run_ended)
    return {effect.effect_id: effect for effect in judge(ledger)}


def on(
    *duties: Fields, execution: str = "reported_success", sequence: int = 10
) -> tuple[Fields, Fields]:
    """A settled effect `e` with these obligations, claimed at 10 and ended at 20."""
    scope = [duty["target"] for duty in duties]
    return (
        claim(sequence, scope, effect_id="e", obligations=list(duties)),
        outcome("e", sequence + 10, execution),
    )


def verdict(*lines: Fields) -> str:
    return judged(*lines)["e"].verdict


EXECUTIONS = {
    "reported_success": "unverified",
    "failed": "failed",
    "timed_out": "unverified",
    "cancelled": "unverified",
    "interrupted": "unverified",
    "running": "pending",
    "not_executed": "not_executed",
}


@pytest.mark.parametrize(("execution", "expected"), EXECUTIONS.items())
def test_without_obligations_the_execution_decides(execution: str, expected: str):
    lines = (claim(1, [A], effect_id="e"), outcome("e", 2, execution))
    assert verdict(*lines, observation(A, 3)) == expected


TRUE = {
    "reported_success": "verified",
    "failed": "failed",
    "timed_out": "state_observed",
    "cancelled": "state_observed",
    "interrupted": "state_observed",
    "running": "pending",
    "not_executed": "not_executed",
}


@pytest.mark.parametrize(("execution", "expected"), TRUE.items())
def test_obligation_holds(execution: str, expected: str):
    lines = on(obligation(A), execution=execution)
    assert verdict(*lines, observation(A, 30)) == expected


@pytest.mark.parametrize("execution", [e for e in TRUE if TRUE[e] != TRUE["running"]])
def test_obligation_does_not_hold(execution: str):
    lines = on(obligation(A), execution=execution)
    expected = "not_executed" if execution == "not_executed" else "contradicted"
    assert verdict(*lines, observation(A, 30, exists=False)) == expected


def test_claim_without_outcome_is_pending():
    (effect,) = judged(claim(1, [A], obligations=[obligation(A)])).values()
    assert (effect.execution, effect.impact) == ("attempted", None)
    assert (effect.verdict, effect.cleanup) == ("pending", "not_applicable")
    assert (effect.unresolved_impact, effect.replayed) == (True, False)


def test_end_of_the_run_interrupts_a_claim_without_outcome():
    lines = (claim(1, [A], obligations=[obligation(A)]), observation(A, 5))
    (effect,) = judged(*lines, run_ended=True).values()
    assert (effect.execution, effect.impact) == ("interrupted", "possible")
    assert (effect.verdict, effect.cleanup) == ("unverified", "not_applicable")
    assert (effect.unresolved_impact, effect.replayed) == (True, True)
    assert [event.sequence for event in effect.timeline] == [1, 6]


def test_outcome_from_the_file_may_be_replayed_too():
    lines = (claim(1, effect_id="e"), outcome("e", 2, "interrupted", replayed=True))
    assert judged(*lines)["e"].replayed


def test_running_effects_are_left_alone_at_the_end():
    lines = (claim(1, [A]), outcome("e1", 2, "running", cleanup="failed"))
    effect = judged(*lines, run_ended=True)["e1"]
    assert (effect.execution, effect.verdict) == ("running", "pending")
    assert (effect.cleanup, effect.running_at_end) == ("failed", True)
    assert not judged(*lines)["e1"].running_at_end


def test_latest_outcome_counts():
    lines = (claim(1, [A]), outcome("e1", 2, "running"), outcome("e1", 3, "failed"))
    assert judged(*lines)["e1"].verdict == "failed"


CONTENT: list[tuple[str, Fields, str]] = [
    # predicate, what was seen, and the verdict where success was reported
    ("exists", {}, "verified"),
    ("exists", {"coverage": "partial"}, "verified"),
    ("exists", {"exists": False}, "contradicted"),
    ("exists", {"exists": None}, "unverified"),
    ("absent", {"exists": False}, "verified"),
    ("absent", {"exists": False, "coverage": "partial"}, "verified"),
    ("absent", {}, "contradicted"),
    ("absent", {"exists": None}, "unverified"),
    ("content_sha256", {"content_sha256": DIGEST}, "verified"),
    ("content_sha256", {"content_sha256": OTHER}, "contradicted"),
    ("content_sha256", {"content_sha256": ""}, "unverified"),
    ("content_sha256", {"exists": None}, "unverified"),
    ("content_sha256", {"exists": False}, "contradicted"),
    ("content_sha256", {"exists": False, "coverage": "partial"}, "contradicted"),
    ("content_sha256", {"content_sha256": DIGEST, "coverage": "partial"}, "unverified"),
    ("content_changed", {"content_sha256": OTHER}, "verified"),
    ("content_changed", {"content_sha256": DIGEST}, "contradicted"),
    ("content_changed", {"content_sha256": ""}, "unverified"),
    ("content_changed", {"exists": False}, "contradicted"),
    ("content_changed", {"content_sha256": OTHER, "coverage": "partial"}, "unverified"),
]


@pytest.mark.parametrize(("predicate", "seen", "expected"), CONTENT)
def test_predicates(predicate: str, seen: Fields, expected: str):
    duty = obligation(A, predicate, DIGEST if "content" in predicate else "")
    assert verdict(*on(duty), observation(A, 30, **seen)) == expected


@pytest.mark.parametrize(
    ("kind", "mechanism"),
    [
        ("filesystem", "filesystem_read"),
        ("owned", "owned_record_read"),
        ("external", "remote_readback"),
    ],
)
def test_only_the_kinds_own_mechanism_decides(kind: str, mechanism: str):
    target = ref(kind, "place", "name")
    lines = on(obligation(target))
    for other in ("filesystem_read", "owned_record_read", "remote_readback",
                  "process_ownership", "job_state", "browser_session",
                  "execution_receipt", "remote_acknowledgement"):  # fmt: skip
        expected = "verified" if other == mechanism else "unverified"
        assert verdict(*lines, observation(target, 30, mechanism=other)) == expected


def test_observation_before_the_end_does_not_count():
    lines = on(obligation(A))
    assert verdict(*lines, observation(A, 15)) == "unverified"
    running = outcome("e", 12, "running")
    assert verdict(lines[0], running, lines[1], observation(A, 15)) == "unverified"


def test_observation_may_stand_before_the_claim_in_the_file():
    assert verdict(observation(A, 30), *on(obligation(A))) == "verified"


def test_newest_observation_decides_and_no_older_one():
    looks = (observation(A, 40, exists=None), observation(A, 30))
    assert verdict(*on(obligation(A)), *looks) == "unverified"
    looks = (observation(A, 40, exists=False), observation(A, 30))
    assert verdict(*on(obligation(A)), *looks) == "contradicted"


@pytest.mark.parametrize(
    "other",
    [
        file("./a.txt"),
        file("."),
        file("a.txt", root="elsewhere"),
        ref("filesystem", "home", "a.txt", ""),
    ],
)
def test_only_the_same_location_counts(other: Fields):
    assert verdict(*on(obligation(A)), observation(other, 30)) == "unverified"


def test_wildcard_is_no_observation_of_its_records():
    one, all_of_them = ref("owned", "notes", "1"), ref("owned", "notes", "*")
    assert verdict(*on(obligation(one)), observation(all_of_them, 30)) == "unverified"
    assert verdict(*on(obligation(all_of_them)), observation(one, 30)) == "unverified"


def test_role_and_incarnation_do_not_part_observations():
    seen = file("a.txt", incarnation="second", role="found")
    assert verdict(*on(obligation(A)), observation(seen, 30)) == "verified"


def check(*lines: Fields) -> tuple[str, Freshness | None]:
    (found,) = judged(*lines)["e"].obligations
    return found.verdict, found.freshness


STALE = ("unverified", Freshness.STALE)
UNSETTLED = ("unverified", Freshness.UNSETTLED)
FRESH = ("verified", Freshness.FRESH)
LOOK = observation(A, 30)


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ([claim(40, [A])], STALE),
        ([claim(40, [])], STALE),
        ([claim(40, [file(".")])], STALE),
        ([claim(40, [file("a.txt/inner")])], STALE),
        ([claim(40, [B, A])], STALE),
        ([claim(40, [B])], FRESH),
        ([claim(40, [file("a.txt2")])], FRESH),
        ([claim(40, [file("a.txt", root="elsewhere")])], FRESH),
        ([claim(40, [ref("owned", "home", "a.txt")])], FRESH),
        ([claim(40, [A]), outcome("e40", 41)], STALE),
        ([claim(40, [A]), outcome("e40", 41, "running")], STALE),
        ([claim(40, [A]), outcome("e40", 41, "not_executed")], FRESH),
        ([claim(40, []), outcome("e40", 41, "not_executed")], FRESH),
        ([claim(40, [A]), outcome("e40", 41, "not_executed"), claim(50, [])], STALE),
        ([observation(file("a.txt", incarnation="second"), 40, mechanism="job_state")],
         STALE),
        ([observation(file("a.txt", incarnation=""), 40,
                      mechanism="execution_receipt")], STALE),
        ([observation(file("a.txt", incarnation="second"), 40, mechanism="job_state"),
          observation(A, 50, mechanism="job_state")], STALE),
        ([observation(A, 40, mechanism="job_state")], FRESH),
        ([observation(file("./a.txt", incarnation="second"), 40)], FRESH),
        ([observation(file("a.txt", incarnation="second"), 29)], FRESH),
    ],
)  # fmt: skip
def test_what_comes_later_makes_it_stale(
    later: list[Fields], expected: tuple[str, Freshness]
):
    assert check(*on(obligation(A)), LOOK, *later) == expected


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [
        ([claim(5, [A])], UNSETTLED),
        ([claim(25, [A])], UNSETTLED),
        ([claim(5, [])], UNSETTLED),
        ([claim(5, [file(".")])], UNSETTLED),
        ([claim(5, [file("a.txt/inner")])], UNSETTLED),
        ([claim(5, [B])], FRESH),
        ([claim(5, [A]), outcome("e5", 6)], FRESH),
        ([claim(5, [A]), outcome("e5", 6, "not_executed")], FRESH),
        ([claim(5, [A]), outcome("e5", 6, "running")], UNSETTLED),
        ([claim(5, [A]), outcome("e5", 6, "running"), outcome("e5", 35)], UNSETTLED),
        ([claim(5, [A]), outcome("e5", 35, "not_executed")], UNSETTLED),
        ([claim(5, []), outcome("e5", 6, "running"), outcome("e5", 29)], FRESH),
        ([claim(5, [A]), claim(40, [A])], STALE),
        ([claim(5, [A]), outcome("e5", 6), claim(7, [B]), claim(8, [file(".")])],
         UNSETTLED),
    ],
)  # fmt: skip
def test_what_was_open_makes_it_unsettled(
    earlier: list[Fields], expected: tuple[str, Freshness]
):
    assert check(*earlier, *on(obligation(A)), LOOK) == expected


def test_what_began_after_a_look_does_not_unsettle_it():
    """A claim that changed nothing was open when B was looked at, not when A was."""
    lines = on(obligation(A), obligation(B))
    later = (claim(32, [A, B]), outcome("e32", 50, "not_executed"))
    told = judged(*lines, LOOK, *later, observation(B, 40))["e"].obligations
    assert [found.freshness for found in told] == ["fresh", "unsettled"]


def test_interruption_at_the_end_leaves_what_was_open_unsettled():
    lines = (claim(5, [A]), *on(obligation(A)), LOOK)
    (found,) = judged(*lines, run_ended=True)["e"].obligations
    assert found.freshness is Freshness.UNSETTLED


@pytest.mark.parametrize(
    ("execution", "seen", "expected"),
    [
        # one obligation on A, one on B; what was seen of each
        ("reported_success", (True, True), "verified"),
        ("reported_success", (True, None), "unverified"),
        ("reported_success", (None, False), "contradicted"),
        ("reported_success", (True, False), "contradicted"),
        ("timed_out", (True, None), "unverified"),
        ("timed_out", (True, True), "state_observed"),
        ("failed", (True, True), "failed"),
        ("failed", (True, False), "failed"),
        ("failed", (None, False), "contradicted"),
        ("failed", (None, None), "failed"),
        ("failed", (False, False), "contradicted"),
    ],
)
def test_worst_obligation_counts(
    execution: str, seen: tuple[bool | None, bool | None], expected: str
):
    lines = on(obligation(A), obligation(B), execution=execution)
    looks = (observation(A, 30, exists=seen[0]), observation(B, 31, exists=seen[1]))
    assert verdict(*lines, *looks) == expected


@pytest.mark.parametrize(
    ("execution", "seen", "unresolved"),
    [
        ("reported_success", None, False),
        ("failed", True, True),
        ("failed", False, False),
        ("failed", None, True),
        ("timed_out", True, False),
        ("timed_out", False, False),
        ("timed_out", None, True),
        ("running", True, True),
        ("not_executed", None, False),
    ],
)
def test_unresolved_impact(execution: str, seen: bool | None, unresolved: bool):
    lines = on(obligation(A), execution=execution)
    effect = judged(*lines, observation(A, 30, exists=seen))["e"]
    assert effect.unresolved_impact == unresolved


def test_effects_come_by_sequence():
    assert list(judged(claim(9), claim(2), claim(5))) == ["e2", "e5", "e9"]


def test_empty_ledger_has_no_effects():
    assert judged() == {}
