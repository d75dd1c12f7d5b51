"""The shared faults that users of other tools reported, sent as CI would send them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.outside import Outside, Project

pytestmark = [pytest.mark.kill, pytest.mark.timeout(300)]

COUNTED = ("tests", "passed", "failed", "errored", "skipped")


@dataclass(frozen=True)
class Case:
    """One folder, sent to a project of its own; the uploads in the order of sending."""

    expected: dict[str, Any]
    project: Project
    uploads: list[tuple[str, dict[str, Any]]]  # file, upload
    statuses: list[int]

    @property
    def runs(self) -> list[dict[str, Any]]:
        ids = dict.fromkeys(upload["run"] for _, upload in self.uploads)
        return [self.project.get(f"/api/v1/runs/{run}") for run in ids if run]

    @property
    def run(self) -> dict[str, Any]:
        [run] = self.runs
        return run

    @property
    def results(self) -> list[dict[str, Any]]:
        return [each for run in self.runs for each in self.project.results(run)]

    @property
    def tests(self) -> list[dict[str, Any]]:
        return self.project.items(f"{self.project.path}/tests")


def _context(sending: dict[str, Any]) -> dict[str, Any]:
    """As bugs/README.md says how its words are ours."""
    context = {
        "run": sending["ci_run"],
        "commit": sending["commit"],
        "branch": sending["branch"],
        "attempt": sending["attempt"],
        "job": sending["job"],
        "environment": sending["env"],
        "started_at": sending["at"],
    }
    if sending["shard"]:
        index, count = map(int, sending["shard"].split("/"))
        context["shard"] = {"index": index, "count": count}
    return context


def _send(project: Project, folder: Path) -> Case:
    expected = json.loads((folder / "expected.json").read_text())
    planned = folder / "uploads.json"
    if planned.exists():
        sendings = json.loads(planned.read_text())
        sent = [
            (each["file"], each.get("sent_as"), _context(each)) for each in sendings
        ]
    else:
        files = sorted(path.name for path in folder.glob("*.xml"))
        sent = [(name, None, {"run": name, "commit": "c1"}) for name in files]
    answers = []
    for file, sent_as, context in sent:
        content = (folder / file).read_bytes()
        answers.append(project.send(context, ("junit", sent_as or file, content)))
        assert answers[-1].status in (200, 202), answers[-1].body
    project.settle()
    uploads = [
        (file, project.upload(answer.json["id"]))
        for (file, _, _), answer in zip(sent, answers, strict=True)
    ]
    return Case(
        expected.get("expected", expected),
        project,
        uploads,
        [answer.status for answer in answers],
    )


@pytest.fixture(scope="module")
def cases(running: Outside, shared_folder: Path) -> dict[str, Case]:
    folders = [path for path in (shared_folder / "bugs").iterdir() if path.is_dir()]
    return {
        folder.name[:2]: _send(running.project(), folder)
        for folder in sorted(folders)
        if folder.name[:2] != "04"  # a report of 300 MiB has a test of its own
    }


def test_counts_of_each_file(cases: dict[str, Case]):
    wrong = []
    for number, case in cases.items():
        for file, upload in case.uploads:
            wanted = case.expected.get("per_file", {}).get(file, {})
            if wanted.get("treatment") == "reject":
                assert upload["state"] == "rejected", (number, upload)
                continue
            if upload["state"] == "rejected":
                assert wanted.get("treatment") == "recover-or-reject", (number, upload)
                continue
            # A run of several uploads reports them all: only a single one tells.
            same = [one for one in case.uploads if one[1]["run"] == upload["run"]]
            if len(same) > 1:
                continue
            run = case.project.get(f"/api/v1/runs/{upload['run']}")
            reported = run["reported"] | {"errored": run["reported"]["errors"]}
            for name in COUNTED:
                if name in wanted and reported[name] != wanted[name]:
                    wrong.append((number, file, name, reported, wanted))
    assert wrong == []


def test_distinct_tests(cases: dict[str, Case]):
    wrong = []
    for number, case in cases.items():
        wanted = case.expected.get(
            "unique_tests", case.expected.get("unique_tests_normalised")
        )
        # Case 55 needs a setting of the project: that is tested with the settings.
        if wanted is not None and number != "55" and len(case.tests) != wanted:
            wrong.append((number, wanted, [test["nodeid"] for test in case.tests]))
    assert wrong == []


def test_final_outcomes_and_flaky_marks(cases: dict[str, Case]):
    wrong = []
    for number, case in cases.items():
        final = dict(case.expected.get("final", {}))
        if "flaky" in case.expected:
            final["flaky"] = case.expected["flaky"]
        # Case 40 needs a setting of the project, as 55 does.
        if final and number != "40":
            counts = case.run["counts"]
            if {name: counts[name] for name in final} != final:
                wrong.append((number, counts, final))
    assert wrong == []
