"""Every row of the shared corpus of real reports, where it lies beside the project."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from formats.junit import read_junit
from formats.outcomes import Outcome
from formats.report import Reading, Rejected

SHARED = Path(__file__).parents[2].parent / "shared"
CORPUS = SHARED / "junit"
INDEX = CORPUS / "expected.jsonl"
ROWS: list[dict[str, Any]] = (
    [json.loads(line) for line in INDEX.read_text().splitlines()]
    if INDEX.exists()
    else []
)
BUGS = sorted((SHARED / "bugs").glob("*/expected.json"))

needs_corpus = pytest.mark.skipif(not ROWS, reason="the shared corpus is not there")


def counted(reading: Reading) -> dict[str, float | None]:
    reported = reading.reported
    # Suite-level results are no tests; pytest's collection errors are.
    tests = [e for e in reading.elements if not e.collection or _is_listed(e)]
    names = {(e.file, e.classname, e.name) for e in tests}
    flaky = [e for e in tests if e.attempts and e.outcome is Outcome.PASSED]
    return {
        "tests": reported.tests,
        "passed": reported.passed,
        "failed": reported.failed,
        "errored": reported.errors,
        "skipped": reported.skipped,
        "rerun_or_flaky": reading.rerun_or_flaky,
        "flaky_cases": len(flaky),
        "suites": reading.suites,
        "suite_level_results": reading.suite_level_results,
        "unique_names": len(names),
        "duplicate_case_keys": len(tests) - len(names),
    }


def _outcome(stream: io.BytesIO) -> tuple[Reading | None, Rejected | None]:
    try:
        return read_junit(stream), None
    except Rejected as rejected:
        return None, rejected


def _is_listed(element) -> bool:
    return element.pytest and element.duration is not None


@needs_corpus
@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_row(row):
    data = io.BytesIO((CORPUS / row["file"]).read_bytes())
    reading, rejected = _outcome(data)
    if rejected:
        assert row["treatment"] != "accept"
        expected = row["expected_message"].removeprefix("rejected with a clear error: ")
        place = ", with line and column"
        assert rejected.message.startswith(expected.removesuffix(place))
        assert rejected.line
        assert rejected.column
        return
    assert reading
    assert row["treatment"] != "reject"
    if row["treatment"] != "accept" and row["repairs"] != ["gunzip"]:
        assert reading.notes
    expected = row.get("recovered", row)
    got = counted(reading)
    assert {key: got[key] for key in got if key in expected} == {
        key: expected[key] for key in got if key in expected
    }
    if row["treatment"] == "accept":
        assert reading.total_time_s == pytest.approx(
            expected.get("total_time_s"), abs=1e-6
        )


@pytest.mark.skipif(not BUGS, reason="the shared cases are not there")
@pytest.mark.parametrize("path", BUGS, ids=[path.parent.name for path in BUGS])
def test_counts_of_reported_faults(path):
    told = json.loads(path.read_text())["expected"].get("per_file", {})
    for name, expected in told.items():
        stream = io.BytesIO((path.parent / name).read_bytes())
        if expected.get("treatment") in ("reject", "recover-or-reject"):
            with pytest.raises(Rejected):
                read_junit(stream)
            continue
        got = counted(read_junit(stream))
        assert {key: got[key] for key in got if key in expected} == {
            key: expected[key] for key in got if key in expected
        }
