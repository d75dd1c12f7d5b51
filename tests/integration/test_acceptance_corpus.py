"""Every report of the shared corpus, each as its own upload to a running server."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.outside import Outside, Project

pytestmark = [pytest.mark.kill, pytest.mark.timeout(300)]

COUNTED = ("tests", "passed", "failed", "errors", "skipped")
TRUNCATED = "truncated: kept complete cases only"


@dataclass(frozen=True)
class Sent:
    """One row of the corpus and what became of it."""

    row: dict[str, Any]
    upload: dict[str, Any]
    run: dict[str, Any] | None

    @property
    def accepted(self) -> bool:
        return bool(self.upload["state"] == "processed")


@pytest.fixture(scope="module")
def project(running: Outside) -> Project:
    return running.project()


@pytest.fixture(scope="module")
def corpus(project: Project, shared_folder: Path) -> list[Sent]:
    folder = shared_folder / "junit"
    rows = [
        json.loads(line)
        for line in (folder / "expected.jsonl").read_text().splitlines()
    ]
    numbers = [
        project.give(
            {"run": row["id"], "commit": row["id"]},
            (
                "junit",
                row["file"].rpartition("/")[2],
                (folder / row["file"]).read_bytes(),
            ),
        )
        for row in rows
    ]
    project.settle()
    return [_sent(project, *pair) for pair in zip(rows, numbers, strict=True)]


def _sent(project: Project, row: dict[str, Any], number: int) -> Sent:
    upload = project.upload(number)
    run = upload["run"]
    return Sent(row, upload, project.get(f"/api/v1/runs/{run}") if run else None)


def _expected(counts: dict[str, Any]) -> dict[str, int]:
    return {name: counts["errored" if name == "errors" else name] for name in COUNTED}


def test_each_report_is_accepted_or_rejected_as_expected(corpus: list[Sent]):
    wrong = [
        (sent.row["id"], sent.upload["state"], sent.upload["error"])
        for sent in corpus
        if (sent.row["treatment"] == "accept" and not sent.accepted)
        or (sent.row["treatment"] == "reject" and sent.accepted)
        or sent.upload["state"] not in ("processed", "rejected")
    ]
    assert wrong == []
    assert len(corpus) > 200


def test_what_is_reported_equals_the_expected_counts(corpus: list[Sent]):
    wrong = []
    for sent in corpus:
        if not sent.accepted:
            continue
        assert sent.run is not None
        counts = (
            sent.row if sent.row["treatment"] == "accept" else sent.row["recovered"]
        )
        accepted = [counts, *sent.row.get("accept_alternatives", [])]
        if sent.run["reported"] not in [_expected(one) for one in accepted]:
            wrong.append((sent.row["id"], sent.run["reported"], _expected(counts)))
    assert wrong == []


def test_a_recovered_report_carries_a_warning(corpus: list[Sent]):
    wrong = [
        sent.row["id"]
        for sent in corpus
        if sent.row["treatment"] == "recover-or-reject"
        and sent.accepted
        and not sent.upload["warnings"]
        and not sent.upload["errors"]
    ]
    assert wrong == []


def test_a_rejected_report_says_why_and_where(corpus: list[Sent]):
    wrong = []
    for sent in corpus:
        if sent.accepted:
            continue
        error, wanted = sent.upload["error"], sent.row["expected_message"]
        message = error["message"]
        said = bool(error["file"])
        if "root element" in wanted:
            said = said and wanted.rpartition("<")[2] in message
        elif "DTD" in wanted:
            said = said and bool(re.search("DTD|DOCTYPE|entit", message))
        elif "line and column" in wanted:
            said = said and bool(error["line"] and error["column"])
        if not said:
            wrong.append((sent.row["id"], wanted, error))
    assert wrong == []


def test_nothing_truncated_or_broken_is_green(corpus: list[Sent]):
    green = [
        sent.row["id"]
        for sent in corpus
        if sent.run is not None
        and sent.run["outcome"] == "passed"
        and (
            not sent.accepted
            or sent.upload["errors"]
            or TRUNCATED in sent.row.get("repairs", [])
            or sent.row.get("suite_level_results")
            or any(_counts(sent).get(bad) for bad in ("failed", "errored"))
            or not _counts(sent)["tests"]
        )
    ]
    assert green == []


def _counts(sent: Sent) -> dict[str, Any]:
    counts: dict[str, Any] = sent.row.get("recovered") or sent.row
    return counts


def test_the_run_counts_add_up(corpus: list[Sent]):
    wrong = []
    for sent in corpus:
        if sent.run is None:
            continue
        counts = sent.run["counts"]
        parts = ("passed", "failed", "errors", "skipped", "xfailed", "xpassed")
        if (
            counts["tests"] != sum(counts[name] for name in parts)
            or min(counts.values()) < 0
        ):
            wrong.append((sent.row["id"], counts))
    assert wrong == []


def test_durations_add_up_to_the_sum_of_the_cases(corpus: list[Sent]):
    """Attempts count each; only where nothing repeats must the sums be equal."""
    wrong = [
        (sent.row["id"], sent.row["total_time_s"], sent.run["duration_s"])
        for sent in corpus
        if sent.run is not None
        and sent.row.get("total_time_s") is not None
        and not sent.row["duplicate_case_keys"]
        and not sent.row["rerun_or_flaky"]
        and abs(sent.run["duration_s"] - sent.row["total_time_s"])
        > 0.001 + 0.001 * sent.row["total_time_s"]
    ]
    assert wrong == []


def test_distinct_names_are_distinct_tests(corpus: list[Sent]):
    """A run has at least as many tests as its report has (file, classname, name)."""
    wrong = [
        (sent.row["id"], sent.row["unique_names"], sent.run["counts"]["tests"])
        for sent in corpus
        if sent.run is not None
        and sent.row.get("unique_names") is not None
        and sent.run["counts"]["tests"] < sent.row["unique_names"]
    ]
    assert wrong == []


def test_every_body_is_kept_byte_for_byte(
    project: Project, corpus: list[Sent], shared_folder: Path
):
    folder = shared_folder / "junit"
    for sent in corpus[::7]:
        path = f"/api/v1/uploads/{sent.upload['id']}/files/1"
        assert project.ask("GET", path).body == (folder / sent.row["file"]).read_bytes()
