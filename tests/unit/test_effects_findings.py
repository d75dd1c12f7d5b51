"""Findings, disclosure, superseded effects and leaks, and the words they come in."""

from __future__ import annotations

import io

import pytest

from formats.effects.findings import Finding, findings, leak_kind
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

A, B = file("src/a.txt"), file("b.txt")
SUCCESS = "reported success but not independently verified"


def judged(*lines: Fields, run_ended: bool = False) -> list[Judged]:
    return judge(read_ledger(io.BytesIO(encode(*lines)), run_ended=run_ended))


def found(*lines: Fields, run_ended: bool = False) -> list[Finding]:
    return findings(judged(*lines, run_ended=run_ended))


def effect(execution: str, **fields: object) -> tuple[Fields, Fields]:
    """An effect on A that should exist afterwards."""
    external = bool(fields.pop("external", False))
    duties = [obligation(A)]
    return (
        claim(1, [A], effect_id="e", external=external, obligations=duties),
        outcome("e", 2, execution, **fields),
    )


THERE, GONE = observation(A, 3), observation(A, 3, exists=False)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((*effect("reported_success"), THERE), None),
        ((*effect("reported_success"),), None),
        ((*effect("not_executed", external=True),), None),
        ((*effect("timed_out"), THERE), None),
        ((*effect("reported_success"), GONE), ("P1", ["contradicted"])),
        ((*effect("failed"), GONE), ("P1", ["contradicted"])),
        ((*effect("timed_out"),), ("P2", ["unresolved_impact"])),
        ((*effect("failed"), THERE), ("P2", ["unresolved_impact"])),
        ((effect("failed")[0],), ("P2", ["unresolved_impact"])),
        ((*effect("reported_success", cleanup="failed"), THERE),
         ("P2", ["cleanup_failed"])),
        ((*effect("not_executed", cleanup="failed"),), ("P2", ["cleanup_failed"])),
        ((*effect("reported_success", cleanup="unknown"), THERE), None),
        ((*effect("reported_success", external=True),),
         ("P3", ["external_not_verified"])),
        ((*effect("reported_success", external=True), THERE), None),
        ((*effect("timed_out", external=True), THERE),
         ("P3", ["external_not_verified"])),
        ((*effect("reported_success", external=True, cleanup="failed"), GONE),
         ("P1", ["contradicted", "cleanup_failed", "external_not_verified"])),
        ((*effect("running"),),
         ("P2", ["unresolved_impact", "running_at_end"])),
    ],
)  # fmt: skip
def test_severities(lines: tuple[Fields, ...], expected: tuple[str, list[str]] | None):
    told = [(f.severity, list(f.causes)) for f in found(*lines, run_ended=True)]
    assert told == ([expected] if expected else [])


def test_pending_claim_is_unresolved_while_its_run_goes_on():
    (finding,) = found(claim(1, [A], external=True))
    assert finding.severity == "P2"
    assert finding.causes == ("unresolved_impact", "external_not_verified")
    (finding,) = found(*effect("running"))
    assert finding.causes == ("unresolved_impact",)


@pytest.mark.parametrize(
    ("execution", "seen", "expected"),
    [
        ("reported_success", None, SUCCESS),
        ("reported_success", GONE, SUCCESS),
        ("reported_success", THERE, ""),
        ("failed", None, "reported failure"),
        ("failed", GONE, "reported failure"),
        ("timed_out", None, "unknown outcome"),
        ("timed_out", THERE, "unknown outcome"),
        ("cancelled", None, "unknown outcome"),
        ("interrupted", None, "unknown outcome"),
        ("running", None, "unknown outcome"),
        ("not_executed", None, ""),
    ],
)
def test_external_effects_are_disclosed(
    execution: str, seen: Fields | None, expected: str
):
    lines = [*effect(execution, external=True), *([seen] if seen else [])]
    (told,) = judged(*lines)
    assert (told.external, told.disclosure) == (True, expected)
    (inside,) = judged(*effect(execution), *([seen] if seen else []))
    assert inside.disclosure == ""


def test_external_claim_without_outcome_is_disclosed():
    (told,) = judged(claim(1, [A], external=True))
    assert told.disclosure == "unknown outcome"


def on(sequence: int, *targets: Fields) -> Fields:
    return claim(sequence, list(targets), obligations=[obligation(t) for t in targets])


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([on(1, A), on(2, A)], "e2"),
        ([on(1, A), on(2, A), on(3, A)], "e3"),
        ([on(2, A), on(1, A)], ""),  # earlier in the file, later by sequence
        ([on(1, A), on(2, B)], ""),
        ([on(1, A), on(2, file("src"))], ""),
        ([on(1, A), claim(2, [])], ""),
        ([on(1, A, B), on(2, A)], ""),
        ([on(1, A, B), on(2, A), on(3, B)], "e2"),
        ([on(1, A), on(2, A, B)], "e2"),
        ([on(1, A), claim(2, [A])], "e2"),
        ([on(1, A), claim(2, [A, B], obligations=[obligation(B)])], ""),
        ([claim(1, [A]), on(2, A)], "e2"),
        ([claim(1, []), on(2, A)], ""),
        ([on(1, A), on(2, file("src/a.txt", incarnation="second"))], "e2"),
    ],
)
def test_later_claims_supersede(lines: list[Fields], expected: str):
    """The first of the lines is asked about."""
    effects = {e.effect_id: e for e in judged(*lines)}
    told = effects[lines[0]["record"]["effect_id"]]
    assert (told.superseded_by, told.superseded) == (expected, expected != "")


def test_superseded_effects_raise_no_finding_and_leak_nothing():
    lines = (*effect("timed_out", external=True, cleanup="failed"), on(5, A))
    first, second = judged(*lines)
    assert first.superseded
    assert (first.verdict, first.unresolved_impact) == ("unverified", True)
    assert first.disclosure == "unknown outcome"
    assert [f.effect_id for f in findings([first, second])] == ["e5"]
    assert (leak_kind(first), leak_kind(second)) == ("", "effect.pending")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((*effect("reported_success"), THERE), ""),
        ((*effect("timed_out"), THERE), ""),
        (effect("not_executed"), ""),
        (effect("reported_success"), "effect.unverified"),
        ((*effect("reported_success"), GONE), "effect.contradicted"),
        (effect("failed"), "effect.failed"),
        (effect("running"), "effect.pending"),
    ],
)
def test_unsettled_effects_are_leaks(lines: tuple[Fields, ...], expected: str):
    assert leak_kind(judged(*lines)[0]) == expected


def test_finding_tells_what_where_and_why():
    lines = [
        claim(1, [A], effect_id="e", run_id="run-7", external=True,
              obligations=[obligation(A, "content_sha256", DIGEST)],
              operation={"tool": "writer", "action": "", "input_sha256": OTHER,
                         "request_id": "tests/a.py::test_a"}),
        outcome("e", 2, cleanup="failed"),
        observation(A, 3, content_sha256=OTHER),
    ]  # fmt: skip
    (finding,) = found(*lines)
    assert (finding.effect_id, finding.run_id) == ("e", "run-7")
    assert finding.request_id == "tests/a.py::test_a"
    assert finding.title == "writer on src/a.txt: what was seen contradicts it"
    assert finding.detail == (
        "Effect e is contradicted. Reported success; src/a.txt should have the "
        "expected content; filesystem_read at 3 found it present, content "
        f"{OTHER[:12]}. Its cleanup: failed. It acts outside: {SUCCESS}."
    )


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([claim(1, [])], "claimed, and nothing tells how it went"),
        (effect("not_executed"), "it was not executed"),
        (effect("running"), "reported as running, and nothing tells how it ended"),
        (
            [claim(1, [A]), outcome("e1", 2)],
            "reported success, and no obligation says what to look for",
        ),
        (
            effect("reported_success"),
            "reported success; src/a.txt should exist; nobody looked",
        ),
        (
            [claim(1, [A], obligations=[obligation(A)]), observation(A, 2),
             outcome("e1", 3)],
            "reported success; src/a.txt should exist; the last look, at 2, came "
            "before it ended",
        ),
        (
            [*effect("timed_out"), THERE, claim(9, [])],
            "timed out; src/a.txt should exist; the last look, at 3, is stale: effect "
            "e9, claimed at 9, may have touched it since",
        ),
        (
            [*effect("cancelled"), THERE,
             observation(file("src/a.txt", incarnation="x"), 8, mechanism="job_state")],
            "was cancelled; src/a.txt should exist; the last look, at 3, is stale: "
            "another incarnation was seen at 8",
        ),
        (
            [claim(0, []), *effect("reported_success"), THERE],
            "reported success; src/a.txt should exist; the last look, at 3, came too "
            "early: effect e0, which may touch it, was not settled then",
        ),
        (
            [*effect("reported_success"), observation(A, 3, exists=None)],
            "reported success; src/a.txt should exist; filesystem_read at 3 cannot "
            "tell: existence not known",
        ),
        (
            [on(1, A, B), outcome("e1", 2), observation(B, 3, exists=False)],
            "reported success; b.txt should exist; filesystem_read at 3 found it "
            "absent (worst of 2 obligations)",
        ),
    ],
)  # fmt: skip
def test_reasons_are_told_in_words(lines: list[Fields], expected: str):
    told = {e.effect_id: e for e in judged(*lines)}
    assert told.get("e", told.get("e1"))
    assert (told.get("e") or told["e1"]).reason == expected


def test_timeline_goes_from_claim_to_outcome_to_observation():
    lines = [
        claim(10, [A, ref("process", "host", "12")], effect_id="e",
              obligations=[obligation(A), obligation(A)]),
        outcome("e", 20, "running", impact="possible"),
        outcome("e", 30, cleanup="unknown"),
        observation(A, 35),
        observation(A, 40, coverage="partial"),
    ]  # fmt: skip
    (told,) = judged(*lines)
    assert [(e.kind, e.sequence, e.state, e.text, e.line) for e in told.timeline] == [
        ("claim", 10, "editor", "src/a.txt, process host/12", 1),
        ("outcome", 20, "running", "impact possible, cleanup not_applicable", 2),
        ("outcome", 30, "reported_success", "impact changed, cleanup unknown", 3),
        ("observation", 40, "filesystem_read",
         "src/a.txt: present, content not known (partial coverage)", 5),
    ]  # fmt: skip
    assert [ref.location for ref in told.targets] == [
        ("filesystem", "home", "src/a.txt")
    ]


def test_scope_is_told():
    unknown, wide = judged(claim(1), claim(2, [file(f"f{n}") for n in range(5)]))
    assert (unknown.scope_known, wide.scope_known) == (False, True)
    assert (unknown.targets, len(wide.targets)) == ((), 5)
    assert unknown.timeline[0].text == "may have touched anything"
    assert wide.timeline[0].text == "f0, f1, f2 and 2 more"
    titles = [finding.title for finding in findings([unknown, wide])]
    assert titles == [
        "editor (scope unknown): impact unresolved",
        "editor on f0 and 4 more: impact unresolved",
    ]


def test_sentences_stay_short_and_numbers_writable():
    path = "d/" * 50_000 + "end"
    large = 10**1000 - 1
    target = file(path)
    lines = [
        claim(1, [target], effect_id="e" * 9_000, obligations=[obligation(target)]),
        outcome("e" * 9_000, 2),
        observation(target, 3, exists=False),
        claim(large, [target], effect_id="later"),
    ]
    first, later = judged(*lines, run_ended=True)
    assert "very large" in first.reason
    assert later.timeline[-1].sequence == large + 1
    for finding in findings([first, later]):
        assert len(finding.title) < 300
        assert len(finding.detail) < 1_000
