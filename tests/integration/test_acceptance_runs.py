"""What the uploads of one run come to: parts, attempts, damage, conflicts, starts.

Each scenario is a list of uploads to one run, sent in this order; all are sent before
any is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.outside import junit

if TYPE_CHECKING:
    from tests.outside import File, Outside, Project

pytestmark = [pytest.mark.kill, pytest.mark.timeout(300)]

FAILED = "<failure message='boom'/>"
SUITE_ERROR = (
    b'<testsuite name="s"><error message="no"/><testcase name="a"/></testsuite>'
)
CUT = ("junit", "cut.xml", b'<testsuite><testcase name="a"/><testcase name="b">')
EMPTY = ("junit", "empty.xml", b"")
NO_CASE = ("junit", "none.xml", b"<testsuites/>")


def part(index: int, count: int) -> dict[str, Any]:
    return {"shard": {"index": index, "count": count}}


@dataclass(frozen=True)
class Scenario:
    """Uploads, and what their run must be; `tests` are the outcomes by name."""

    name: str
    uploads: list[tuple[dict[str, Any], list[File]]]
    outcome: str
    tests: dict[str, str] = field(default_factory=dict)
    flaky: set[str] = field(default_factory=set)
    problems: set[str] = field(default_factory=set)
    missing: list[int] = field(default_factory=list)
    said: str = ""  # stands in one of the problems


def one(context: dict[str, Any], *files: File) -> tuple[dict[str, Any], list[File]]:
    return context, list(files)


SCENARIOS = [
    Scenario("one part", [one({}, junit("a"))], "passed", {"a": "passed"}),
    Scenario(
        "the last of three parts",
        [one(part(3, 3), junit("c"))],
        "incomplete",
        {"c": "passed"},
        missing=[1, 2],
        problems={"part"},
    ),
    Scenario(
        "three parts, the last one first",
        [
            one(part(3, 3), junit("c")),
            one(part(1, 3), junit("a")),
            one(part(2, 3), junit("b")),
        ],
        "passed",
        dict.fromkeys("abc", "passed"),
    ),
    Scenario(
        "parts that disagree on their number",
        [one(part(1, 2), junit("a")), one(part(2, 3), junit("b"))],
        "incomplete",
        dict.fromkeys("ab", "passed"),
        missing=[3],
        problems={"count", "part"},
        said="2, 3",
    ),
    Scenario(
        "a job of two parts beside a whole one",
        [
            one({"job": "unit"}, junit("a")),
            one({"job": "e2e", **part(1, 2)}, junit("b")),
        ],
        "incomplete",
        dict.fromkeys("ab", "passed"),
        missing=[2],
        problems={"part"},
        said="part 2/2 of job 'e2e'",
    ),
    Scenario(
        "a later attempt of some tests",
        [
            one({"attempt": 1}, junit(f"a: {FAILED}", "b")),
            one({"attempt": 2}, junit("a")),
        ],
        "passed",
        dict.fromkeys("ab", "passed"),
        flaky={"a"},
    ),
    Scenario(
        "attempts in the wrong order",
        [
            one({"attempt": 2}, junit("a")),
            one({"attempt": 1}, junit(f"a: {FAILED}", "b")),
        ],
        "passed",
        dict.fromkeys("ab", "passed"),
        flaky={"a"},
    ),
    Scenario(
        "the third attempt fails",
        [
            one({"attempt": 1}, junit("a")),
            one({"attempt": 2}, junit("a", name="again.xml")),
            one({"attempt": 3}, junit(f"a: {FAILED}")),
        ],
        "failed",
        {"a": "failed"},
        flaky={"a"},
    ),
    Scenario(
        "two uploads of one part with other tests",
        [one({}, junit("a", "b")), one({}, junit("b", "c"))],
        "passed",
        dict.fromkeys("abc", "passed"),
    ),
    Scenario(
        "two uploads of one part that differ",
        [one({}, junit("a", "b")), one({}, junit(f"b: {FAILED}"))],
        "failed",
        {"a": "passed", "b": "failed"},
        problems={"conflict"},
    ),
    Scenario(
        "one test in two parts",
        [one(part(1, 2), junit("a", "b")), one(part(2, 2), junit(f"a: {FAILED}"))],
        "failed",
        {"a": "failed", "b": "passed"},
        problems={"duplicate"},
    ),
    Scenario(
        "a part that says that it is not complete",
        [one({"complete": False}, junit("a"))],
        "incomplete",
        {"a": "passed"},
        problems={"part"},
    ),
    Scenario(
        "… and is completed by its rest",
        [one({"complete": False}, junit("a")), one({}, junit("b"))],
        "passed",
        dict.fromkeys("ab", "passed"),
    ),
    Scenario(
        "… or by another attempt",
        [one({"complete": False}, junit("a")), one({"attempt": 2}, junit("a"))],
        "passed",
        {"a": "passed"},
    ),
    Scenario(
        "a command that failed outside its report",
        [one({"exit_code": 1}, junit("a"))],
        "failed",
        {"a": "passed"},
        problems={"outside"},
    ),
    Scenario(
        "a command that crashed on Windows",
        [one({"exit_code": 3221225477}, junit("a"))],
        "failed",
        {"a": "passed"},
        problems={"outside"},
        said="-1073741819",
    ),
    Scenario(
        "a command that failed with its tests",
        [one({"exit_code": 1}, junit("a", f"b: {FAILED}"))],
        "failed",
        {"a": "passed", "b": "failed"},
    ),
    Scenario(
        "a command that failed with its collection",
        [one({"exit_code": 2}, ("junit", "r.xml", SUITE_ERROR))],
        "failed",
        {"s (collection)": "error", "s::a": "passed"},
    ),
    Scenario("no case at all", [one({"exit_code": 0}, NO_CASE)], "no_results"),
    Scenario(
        "a report without a case beside another",
        [one({}, NO_CASE, junit("a"))],
        "passed",
        {"a": "passed"},
    ),
    Scenario(
        "a bad file among good ones",
        [one({}, junit("a"), CUT)],
        "damaged",
        {"a": "passed"},
        problems={"damage"},
        said="cut.xml",
    ),
    Scenario(
        "a bad file alone",
        [one({}, EMPTY)],
        "damaged",
        problems={"damage", "part"},
        missing=[1],
        said="empty.xml: file is empty",
    ),
    Scenario(
        "a bad file after a good upload",
        [one({}, junit("a")), one({}, CUT)],
        "damaged",
        {"a": "passed"},
        problems={"damage"},
    ),
    Scenario(
        "a bad file mended by a later upload",
        [one({}, CUT), one({}, junit("a"))],
        "passed",
        {"a": "passed"},
        problems={"mended"},
    ),
    Scenario(
        "… by what was good before",
        [one({}, junit("a")), one({}, CUT), one({"client": "x"}, junit("a"))],
        "passed",
        {"a": "passed"},
        problems={"mended", "duplicate"},
    ),
    Scenario(
        "… by a later attempt",
        [one({}, CUT), one({"attempt": 2}, junit("a"))],
        "passed",
        {"a": "passed"},
        problems={"mended"},
    ),
    Scenario(
        "a bad file not mended by sending it again",
        [one({}, junit("a"), CUT), one({"client": "x"}, junit("a"), CUT)],
        "damaged",
        {"a": "passed"},
        problems={"damage", "duplicate"},
    ),
    Scenario(
        "a bad file not mended by another part",
        [one(part(1, 2), CUT), one(part(2, 2), junit("a"))],
        "damaged",
        {"a": "passed"},
        problems={"damage", "part"},
        missing=[1],
    ),
    Scenario(
        "the same report twice",
        [one({}, junit("a")), one({"client": "x"}, junit("a"))],
        "passed",
        {"a": "passed"},
        problems={"duplicate"},
        said="already stored by upload",
    ),
]


@pytest.fixture(scope="module")
def project(running: Outside) -> Project:
    return running.project()


@pytest.fixture(scope="module")
def uploads(project: Project) -> dict[str, list[int]]:
    """The ids of each scenario's uploads, once all of them are processed."""
    sent = {
        scenario.name: [
            project.give({"run": scenario.name, **context}, *files)
            for context, files in scenario.uploads
        ]
        for scenario in SCENARIOS
    }
    project.settle()
    return sent


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_run_is_what_its_uploads_say(
    project: Project, uploads: dict[str, list[int]], scenario: Scenario
):
    run = project.run_of(uploads[scenario.name][0])
    results = project.results(run)
    found = {each["nodeid"].rpartition("tea::")[2]: each for each in results}
    assert {name: each["outcome"] for name, each in found.items()} == scenario.tests
    assert {name for name, each in found.items() if each["flaky"]} == scenario.flaky
    assert run["outcome"] == scenario.outcome
    assert {problem["kind"] for problem in run["problems"]} == scenario.problems
    assert scenario.said in str([problem["message"] for problem in run["problems"]])
    assert run["completeness"]["missing"] == scenario.missing
    assert run["counts"]["tests"] == len(scenario.tests)
    assert run["counts"]["flaky"] == len(scenario.flaky)
    assert run["uploads"] == uploads[scenario.name]
    conflicts = [each for each in results if each["conflict"]]
    assert bool(conflicts) == ("conflict" in scenario.problems)


def test_a_repeated_upload_says_where_it_is_stored(project: Project, uploads):
    first, second = uploads["the same report twice"]
    [warning] = project.upload(second)["warnings"]
    assert warning["message"].startswith(f"already stored by upload {first}")


def test_a_repeated_report_is_reported_once(project: Project, uploads):
    run = project.run_of(uploads["the same report twice"][0])
    assert (run["reported"]["tests"], run["counts"]["tests"]) == (1, 1)


def test_every_attempt_stays_visible(project: Project, uploads):
    run = project.run_of(uploads["attempts in the wrong order"][0])
    said = [
        (one["attempt"], one["counts"]["tests"], one["counts"]["failed"])
        for one in run["attempts"]
    ]
    assert said == [(1, 2, 1), (2, 1, 0)]


def test_environments_make_runs_whatever_the_order_of_their_keys(project: Project):
    environments = [{"os": "a", "py": "3"}, {"py": 3, "os": "a"}, {"os": "b"}, {}, None]
    sent = [
        project.give({"run": "matrix", "environment": each}, junit(f"t{number}"))
        for number, each in enumerate(environments)
    ]
    project.settle()
    runs = [project.upload(number)["run"] for number in sent]
    assert runs[0] == runs[1]
    assert runs[3] == runs[4]
    assert len(set(runs)) == 3


def test_uploads_without_a_run_are_runs_of_their_own(project: Project):
    sent = [project.give({"job": f"j{number}"}, junit("a")) for number in range(2)]
    project.settle()
    runs = {project.upload(number)["run"] for number in sent}
    assert len(runs) == 2
    bad = project.processed(project.give({}, EMPTY))
    assert (bad["state"], bad["run"]) == ("rejected", None)


def _stamped(*starts: datetime) -> File:
    suites = "".join(
        f'<testsuite name="s{number}" timestamp="{start:%Y-%m-%dT%H:%M:%SZ}">'
        f'<testcase name="a"/></testsuite>'
        for number, start in enumerate(starts)
    )
    return ("junit", "r.xml", f"<testsuites>{suites}</testsuites>".encode())


def test_a_run_starts_at_the_earliest_time_that_can_be_believed(project: Project):
    now = datetime.now(UTC).replace(microsecond=0)
    ago = {days: now - timedelta(days=days) for days in (3, 5, 13, 15, 3000)}
    soon = {hours: now + timedelta(hours=hours) for hours in (13, 15)}
    cases = {
        "in the window": ([ago[3], ago[5]], {}, ago[5]),
        "thirteen days": ([ago[13]], {}, ago[13]),
        "fifteen days": ([ago[15]], {}, None),
        "thirteen hours ahead": ([soon[13]], {}, soon[13]),
        "fifteen hours ahead": ([soon[15]], {}, None),
        "a cached suite": ([ago[3000], ago[3]], {}, ago[3]),
        "what the context says": ([ago[3]], {"started_at": ago[15]}, ago[15]),
        "long ago": ([], {"started_at": datetime(1970, 1, 1, tzinfo=UTC)}, None),
    }
    sent = {}
    for name, (stamps, context, _) in cases.items():
        said = {key: stamp.isoformat() for key, stamp in context.items()}
        file = _stamped(*stamps) if stamps else junit("a")
        sent[name] = project.give({"run": name, **said}, file)
    project.settle()
    for name, (_, context, expected) in cases.items():
        upload = project.upload(sent[name])
        run = project.get(f"/api/v1/runs/{upload['run']}")
        wanted = expected or context.get("started_at")
        told = datetime.fromisoformat(run["started_at"])
        assert told == (wanted or datetime.fromisoformat(upload["received_at"])), name


def test_jobs_of_the_same_test_count_the_worse(project: Project):
    number = project.give({"run": "jobs", "job": "x"}, junit("a"))
    project.give({"run": "jobs", "job": "y"}, junit(f"a: {FAILED}"))
    run = project.run_of(number)
    assert run["outcome"] == "failed"
    [result] = project.results(run)
    assert (result["outcome"], result["flaky"]) == ("failed", False)
