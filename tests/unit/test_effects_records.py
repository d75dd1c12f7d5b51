"""The records of a ledger: every key, type and value that rejects the whole of it."""

from __future__ import annotations

from typing import Any

import pytest

from formats.report import Rejected
from tests.effect_ledgers import (
    DIGEST,
    Fields,
    changed,
    claim,
    encode,
    file,
    obligation,
    observation,
    outcome,
    read,
    ref,
    refuse,
)

A = file("a.txt")
CLAIM = claim(1, [A], obligations=[obligation(A)], dependencies=[file("b.txt")])
OUTCOME = outcome("e1", 2)
LOOK = observation(A, 3)


TEXTS = {
    "claim": ("effect_id", "run_id", "action_id", "parent_run_id", "operation.tool",
              "operation.action", "operation.request_id", "impact_scope.0.role",
              "impact_scope.0.location.1", "impact_scope.0.incarnation",
              "dependencies.0.role"),
    "outcome": ("effect_id", "execution_id"),
    "observation": ("observation_id", "source_action_id", "source_execution_id",
                    "evidence_event_id", "resource.location.2"),
}  # fmt: skip
FILLED = ("effect_id", "run_id", "action_id", "operation.tool", "observation_id",
          "impact_scope.0.role", "dependencies.0.role", "source_action_id")  # fmt: skip
LINES = {"claim": CLAIM, "outcome": OUTCOME, "observation": LOOK}
EARLIER = {"claim": b"", "outcome": encode(CLAIM), "observation": encode(CLAIM)}


def refuse_changed(kind: str, path: str, value: object) -> Rejected:
    raw = EARLIER[kind]
    refused = refuse(raw + encode(changed(LINES[kind], path, value)))
    assert refused.line == raw.count(b"\n") + 1
    return refused


@pytest.mark.parametrize(
    ("kind", "path"), [(kind, path) for kind, paths in TEXTS.items() for path in paths]
)
def test_texts_hold_no_control_and_are_texts(kind: str, path: str):
    for value in ("a\x00b", "a\nb", "a\rb", "\ud800", "\udc00x", 1, None, ["a"], True):
        refused = refuse_changed(kind, f"record.{path}", value)
        named = path.replace(".0", "[0]").replace(".1", "[1]").replace(".2", "[2]")
        assert f"record.{named}" in (refused.path or "")
        assert str(refused.path) in refused.message


@pytest.mark.parametrize(
    ("kind", "path"), [(kind, path) for kind, paths in TEXTS.items() for path in paths]
)
def test_some_texts_must_be_filled(kind: str, path: str):
    if path in FILLED or (kind, path) == ("outcome", "effect_id"):
        assert "empty" in refuse_changed(kind, f"record.{path}", "").message
        return
    line = changed(LINES[kind], f"record.{path}", "")
    if path.startswith("impact_scope"):
        line = changed(line, "record.obligations", [])
    read(EARLIER[kind] + encode(line))


def test_other_characters_are_texts():
    text = "\u00e9 \u2028 \x1f \ufeff \U0001f600 \x85"
    (told,) = read(encode(claim(1, run_id=text))).claims
    assert told.run_id == text


@pytest.mark.parametrize("kind", LINES)
def test_keys_are_exact(kind: str):
    record = LINES[kind]["record"]
    for key in record:
        refuse_changed(kind, f"record.{key}", ...)
    refuse_changed(kind, "record.more", "")
    for key in ("v", "type", "record"):
        refuse_changed(kind, key, ...)
    refuse_changed(kind, "more", 1)
    values: list[object] = [None, [], "text", {}]
    for value in values:
        refuse_changed(kind, "record", value)


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("claim", "operation"),
        ("claim", "impact_scope.0"),
        ("claim", "dependencies.0"),
        ("claim", "obligations.0"),
        ("claim", "obligations.0.target"),
        ("outcome", "facts"),
        ("observation", "resource"),
    ],
)
def test_keys_of_inner_objects_are_exact(kind: str, path: str):
    inner: Any = LINES[kind]["record"]
    for step in path.split("."):
        inner = inner[int(step)] if step.isdigit() else inner[step]
    for key in inner:
        refuse_changed(kind, f"record.{path}.{key}", ...)
    refuse_changed(kind, f"record.{path}.more", "")
    for value in (None, [], "text", 1, list(inner)):
        refuse_changed(kind, f"record.{path}", value)


@pytest.mark.parametrize("value", [True, 1.0, 1.5, "1", None, -1, 1e3, [1]])
def test_sequence_is_a_whole_number_from_zero(value: object):
    for kind in LINES:
        assert refuse_changed(kind, "record.sequence", value).path == "record.sequence"


@pytest.mark.parametrize("value", [True, 1.0, 2, 0, "1", None, 10**40])
def test_version_is_one(value: object):
    assert refuse_changed("claim", "v", value).path == "v"


@pytest.mark.parametrize("value", [True, 0.0, "0", [0]])
def test_exit_code_is_an_integer_or_null(value: object):
    refuse_changed("outcome", "record.facts.exit_code", value)


@pytest.mark.parametrize("value", [None, 0, -9, 10**20])
def test_exit_code_may_be_any_integer(value: int | None):
    line = changed(OUTCOME, "record.facts.exit_code", value)
    assert read(encode(CLAIM, line)).outcomes[0].facts.exit_code == value


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("claim", "external"),
        ("outcome", "replayed"),
        ("outcome", "facts.timed_out"),
        ("outcome", "facts.output_truncated"),
        ("outcome", "facts.remote_acknowledged"),
        ("outcome", "facts.external"),
        ("outcome", "facts.mutation_attempted"),
    ],
)
def test_flags_are_true_or_false(kind: str, path: str):
    values: list[object] = [0, 1, None, "true", []]
    for value in values:
        refuse_changed(kind, f"record.{path}", value)


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("claim", "type"),
        ("claim", "record.impact_scope.0.kind"),
        ("claim", "record.obligations.0.predicate"),
        ("outcome", "record.execution"),
        ("outcome", "record.impact"),
        ("outcome", "record.cleanup"),
        ("observation", "record.mechanism"),
        ("observation", "record.coverage"),
    ],
)
def test_words_are_known(kind: str, path: str):
    values: list[object] = ["other", "", "Claim", "attempted", None, 1, [], {}]
    for value in (*values, "\ud800"):
        refuse_changed(kind, path, value)


@pytest.mark.parametrize("label", ["a" * 64, "", "net.timeout:5_x-1"])
def test_labels_are_kept(label: str):
    line = changed(OUTCOME, "record.facts.failure_kind", label)
    assert read(encode(CLAIM, line)).outcomes[0].facts.failure_kind == label


@pytest.mark.parametrize("label", ["a" * 65, "A", "a b", "a\n", "\u00e9", None, 1])
def test_other_labels_are_refused(label: object):
    refuse_changed("outcome", "record.facts.failure_kind", label)
    refuse_changed("outcome", "record.facts.job_state", label)


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("claim", "operation.input_sha256"),
        ("claim", "impact_scope.0.snapshot_sha256"),
        ("observation", "resource.snapshot_sha256"),
        ("observation", "content_sha256"),
    ],
)
def test_digests_are_64_lower_case_digits(kind: str, path: str):
    for value in (DIGEST.upper(), DIGEST[1:], DIGEST + "0", DIGEST + "\n", None, 1,
                  "g" * 64, "\u0661" * 64):  # fmt: skip
        refuse_changed(kind, f"record.{path}", value)


@pytest.mark.parametrize(
    "location",
    [
        ["filesystem"], [], ["owned", "a"], ["home", "filesystem"], "filesystem",
        ["filesystem", 1], ["filesystem", None], {"filesystem": 1, "home": 2}, None,
        [["filesystem"], "a"], ["filesystem", "a\x00"],
    ],
)  # fmt: skip
def test_locations_begin_with_their_kind(location: object):
    refuse_changed("claim", "record.impact_scope.0.location", location)
    refuse_changed("observation", "record.resource.location", location)


def test_location_like_a_known_one_is_still_checked():
    known = ref("filesystem", "home")
    again = changed(observation(known, 2), "record.resource.location",
                    {"filesystem": "", "home": ""})  # fmt: skip
    assert refuse(encode(claim(1, [known]), again)).line == 2


CONTENT = obligation(A, "content_sha256", DIGEST)
OBLIGATIONS: dict[str, tuple[list[Fields], Fields]] = {
    "digest missing": ([A], obligation(A, "content_sha256")),
    "digest missing for changed": ([A], obligation(A, "content_changed")),
    "digest for exists": ([A], obligation(A, "exists", DIGEST)),
    "digest for absent": ([A], obligation(A, "absent", DIGEST)),
    "no target in scope": ([A], obligation(file("b.txt"))),
    "scope unknown": ([], obligation(A)),
    "another role": ([A], obligation(file("a.txt", role="source"))),
    "another incarnation": ([A], obligation(file("a.txt", incarnation="second"))),
    "another snapshot": ([A], obligation({**A, "snapshot_sha256": "1" * 64})),
    "a process": ([ref("process", "x")], obligation(ref("process", "x"))),
    "a job": ([ref("background_job", "x")], obligation(ref("background_job", "x"))),
    "a session": (
        [ref("browser_session", "x")],
        obligation(ref("browser_session", "x")),
    ),
    "a launch": (
        [ref("process_launch", "x")],
        obligation(ref("process_launch", "x")),
    ),
}


@pytest.mark.parametrize(("scope", "duty"), OBLIGATIONS.values(), ids=OBLIGATIONS)
def test_obligations_must_fit_the_claim(scope: list[Fields], duty: Fields):
    refused = refuse(encode(claim(1, scope, obligations=[duty])))
    assert (refused.path or "").startswith("record.obligations[0]")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"impact": "none"}, "record.impact"),
        ({"execution": "not_executed", "execution_id": ""}, "record.impact"),
        ({"execution": "not_executed", "impact": "none"}, "record.execution_id"),
        ({"execution": "running", "impact": "none"}, "record.impact"),
    ],
)
def test_outcomes_agree_with_themselves(fields: Fields, path: str):
    line = {**OUTCOME, "record": {**OUTCOME["record"], **fields}}
    assert refuse(encode(CLAIM, line)).path == path


@pytest.mark.parametrize("exists", [None, False])
def test_content_needs_existence(exists: bool | None):
    look = observation(A, 3, exists=exists, content_sha256=DIGEST)
    assert refuse(encode(CLAIM, look)).path == "record.content_sha256"


@pytest.mark.parametrize("value", [0, 1, "true", []])
def test_existence_is_told_or_null(value: object):
    refuse_changed("observation", "record.exists", value)


@pytest.mark.parametrize(
    ("mechanism", "needs_source"),
    [
        ("filesystem_read", True),
        ("owned_record_read", True),
        ("remote_readback", True),
        ("process_ownership", False),
        ("job_state", False),
        ("browser_session", False),
        ("execution_receipt", False),
        ("remote_acknowledgement", False),
    ],
)
def test_reads_need_a_source(mechanism: str, needs_source: bool):
    raw = encode(observation(A, 3, mechanism=mechanism, source_action_id=""))
    if needs_source:
        assert refuse(raw).path == "record.source_action_id"
    else:
        assert read(raw).observations[0].mechanism == mechanism
