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


def _messages(upload: dict[str, Any]) -> str:
    return " | ".join(one["message"] for one in upload["warnings"])


def test_what_else_must_hold_of_one_report(cases: dict[str, Case]):
    """The lines under `must` that speak of results, identity, damage and warnings."""
    for name in ("BS", "ESC", "NUL"):
        assert name in _messages(cases["01"].uploads[0][1])
    messages = [one["message"] for one in cases["01"].results if one["message"]]
    assert messages == ["bad byte \N{REPLACEMENT CHARACTER}"]
    [(_, cut)] = cases["03"].uploads
    assert cut["state"] == "rejected"
    assert cut["error"]["line"]
    assert cut["error"]["column"]
    assert cases["03"].run["outcome"] == "damaged"
    assert "declared but not listed: 1 skipped" in _messages(cases["09"].uploads[0][1])
    [skipped] = [one for one in cases["15"].results if one["outcome"] == "skipped"]
    assert skipped["message"]
    problems = [one["message"] for one in cases["21"].run["problems"]]
    assert problems == ["b.xml: file is empty"]
    assert cases["21"].run["counts"]["tests"] == 1
    known = {test["nodeid"].rpartition("::")[2] for test in cases["31"].tests}
    assert known == set(cases["31"].expected["names"])
    assert "windows-1252" in _messages(cases["33"].uploads[0][1])
    suites = {test["suite"] for test in cases["33"].tests}
    assert len(suites) == 1
    times = [one["duration_s"] for one in cases["34"].results]
    assert times == cases["34"].expected["times_s"]
    assert "invocations" in _messages(cases["40"].uploads[0][1])


def test_what_else_must_hold_of_several_uploads(cases: dict[str, Case]):
    linux, mac = cases["45"].runs
    assert [linux["counts"]["passed"], mac["counts"]["skipped"]] == [1, 1]
    old, new = cases["46"].runs
    assert (old["outcome"], new["outcome"]) == ("failed", "passed")
    for number in ("45", "46"):
        assert len(cases[number].tests) == 1
        assert not any(one["flaky"] for one in cases[number].results)
    for number in ("48", "49", "51"):
        counts = cases[number].run["counts"]
        wanted = dict(cases[number].expected["counts"])
        flaky = wanted.pop("flaky_events", 0)
        assert {name: counts[name] for name in wanted} == wanted, number
        assert counts["flaky"] == flaky
    assert cases["49"].statuses[1] in (200, 202)
    assert "already stored" in _messages(cases["49"].uploads[1][1])
    assert [one["attempt"] for one in cases["51"].run["attempts"]] == [1, 2]
    assert [run["outcome"] for run in cases["52"].runs] == ["passed", "failed"]
    failed = [one for one in cases["58"].results if one["outcome"] == "failed"]
    assert failed
    assert cases["60"].run["counts"]["failed"] == 20
    assert len({one["failure_group"] for one in cases["60"].results}) == 1
    assert len(cases["43"].runs) == 20
    [case] = cases["43"].tests
    assert case["stats"]["fail_rate"] == pytest.approx(0.05)
