"""One test in every format, alone and joined, and how sure its place is."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest

from tests.outside import jsonl, junit, trace

if TYPE_CHECKING:
    from tests.outside import File, Outside, Project

pytestmark = [pytest.mark.kill, pytest.mark.timeout(300)]

CART = "tests/test_cart.py::TestCart::test_adds[1-x]"
TOTAL = "tests/test_cart.py::TestCart::test_total"
LATER = "tests/test_cart.py::test_later"
OUTCOMES = {CART: "passed", TOTAL: "failed", LATER: "xfailed"}

XUNIT1 = b"""<testsuites><testsuite name="pytest" tests="3" time="0.9" hostname="h">
<testcase classname="tests.test_cart.TestCart" name="test_adds[1-x]"
 file="tests/test_cart.py" line="4" time="0.1"/>
<testcase classname="tests.test_cart.TestCart" name="test_total"
 file="tests/test_cart.py" line="9" time="0.2"><failure message="assert 1 == 2">E</failure>
</testcase><testcase classname="tests.test_cart" name="test_later"
 file="tests/test_cart.py" time="0.3"><skipped type="pytest.xfail" message="later"/>
</testcase></testsuite></testsuites>"""
XUNIT2 = XUNIT1.replace(b' file="tests/test_cart.py"', b"")
PARALLEL = XUNIT1.replace(b'time="0.9"', b'time="0.3"')


def ran(test: str, position: int, outcome: str, **more: Any) -> dict[str, Any]:
    told = {"v": 1, "test": test, "worker": "gw1", "pid": 7, "position": position}
    times = {"start": 1764520000 + position, "duration": 0.1}
    return told | times | {"outcome": outcome} | more


TRACE = trace(ran(LATER, 0, "xfailed"), ran(TOTAL, 1, "failed"), ran(CART, 2, "passed"))


def phases(test: str, outcome: str, start: float, **more: Any) -> list[dict[str, Any]]:
    """The three lines of one test in a report log."""
    return [
        {
            "$report_type": "TestReport",
            "nodeid": test,
            "when": when,
            "outcome": outcome if when == "call" else "passed",
            "duration": 0.1,
            "start": start,
            "stop": start + 0.1,
            "longrepr": None,
            **(more if when == "call" else {}),
        }
        for when in ("setup", "call", "teardown")
    ]


LOG = [
    {"pytest_version": "9.0", "$report_type": "SessionStart"},
    *phases(TOTAL, "failed", 1764520000.0, longrepr="E   assert 1 == 2"),
    *phases(LATER, "skipped", 1764520001.0, wasxfail="later"),
    *phases(CART, "passed", 1764520002.0),
    {"exitstatus": 1, "$report_type": "SessionFinish"},
]
REPORTLOG = ("reportlog", "log.jsonl", jsonl(LOG))
PACKED_LOG = ("auto", "log.jsonl.gz", gzip.compress(jsonl(LOG)))

AS_REPORTED = {CART: ("h: pytest", 0), TOTAL: ("h: pytest", 1), LATER: ("h: pytest", 2)}
AS_TRACED = {LATER: ("gw1:7", 0), TOTAL: ("gw1:7", 1), CART: ("gw1:7", 2)}
AS_LOGGED = {TOTAL: ("main", 0), LATER: ("main", 1), CART: ("main", 2)}
NOWHERE = dict.fromkeys(OUTCOMES, (None, None))

x1, x2 = ("junit", "r.xml", XUNIT1), ("junit", "r.xml", XUNIT2)
# The uploads of each run; how sure the order is; where each test ran.
RUNS: dict[str, tuple[list[list[File]], str, dict[str, Any]]] = {
    "xunit1": ([[x1]], "assumed", AS_REPORTED),
    "xunit2": ([[x2]], "assumed", AS_REPORTED),
    "in parallel": ([[("junit", "r.xml", PARALLEL)]], "unknown", NOWHERE),
    "trace": ([[TRACE]], "traced", AS_TRACED),
    "log": ([[REPORTLOG]], "traced", AS_LOGGED),
    "packed log": ([[PACKED_LOG]], "traced", AS_LOGGED),
    "xunit1 and trace": ([[x1, TRACE]], "traced", AS_TRACED),
    "xunit2 and trace": ([[x2, TRACE]], "traced", AS_TRACED),
    "xunit2 and log": ([[x2, REPORTLOG]], "traced", AS_LOGGED),
    "all three": ([[x1, REPORTLOG, TRACE]], "traced", AS_TRACED),
    "trace after report": ([[x2], [TRACE]], "traced", AS_TRACED),
    "report after trace": ([[TRACE], [x1]], "traced", AS_TRACED),
    "log after report": ([[x1], [REPORTLOG]], "traced", AS_LOGGED),
}


@pytest.fixture(scope="module")
def project(running: Outside) -> Project:
    return running.project()


@pytest.fixture(scope="module")
def runs(project: Project) -> dict[str, Any]:
    sent = {
        name: [project.give({"run": name}, *files) for files in uploads]
        for name, (uploads, _, _) in RUNS.items()
    }
    project.settle()
    return {name: project.run_of(numbers[0]) for name, numbers in sent.items()}


@pytest.mark.parametrize("name", RUNS)
def test_every_format_tells_the_same_tests(project: Project, runs, name: str):
    run, (_, order, places) = runs[name], RUNS[name]
    results = {each["nodeid"]: each for each in project.results(run)}
    assert {test: each["outcome"] for test, each in results.items()} == OUTCOMES
    assert run["order"] == order
    where = {test: (one["worker"], one["position"]) for test, one in results.items()}
    assert where == places
    assert run["outcome"] == "failed"
    counts = {"tests": 3, "passed": 1, "failed": 1, "xfailed": 1}
    assert {name: number for name, number in run["counts"].items() if number} == counts
    said = {"tests": 3, "passed": 1, "failed": 1, "errors": 0, "skipped": 1}
    assert run["reported"] == said
    if name != "trace":
        assert results[TOTAL]["message"] == "assert 1 == 2"


def test_they_are_one_case_each(project: Project, runs):
    cases = {one["nodeid"]: one for one in project.items(f"{project.path}/tests")}
    assert set(cases) >= set(OUTCOMES)
    assert len([one for one in cases if "test_cart" in one]) == len(OUTCOMES)
    told = cases[CART]
    assert (told["file"], told["line"]) == ("tests/test_cart.py", 4)
    assert (told["name"], told["params"]) == ("test_adds", "1-x")
    history = project.items(f"/api/v1/tests/{told['id']}/history")
    assert {one["run_name"] for one in history} >= set(runs)


def test_reruns_of_a_trace_are_attempts(project: Project):
    lines = [ran("t.py::a", 0, "rerun"), ran("t.py::a", 1, "passed")]
    run = project.run_of(project.give({"run": "again"}, trace(*lines)))
    [result] = project.results(run)
    assert (result["outcome"], result["attempts"]) == ("passed", 2)
    assert (result["flaky"], run["counts"]["flaky"]) == (True, 1)


def test_a_restarted_worker_is_another_process(project: Project):
    lines = [
        ran("t.py::a", 0, "passed", pid=1),
        ran("t.py::b", 0, "passed", pid=2),
        ran("t.py::c", 0, "passed", pid=1, worker="gw2"),
    ]
    run = project.run_of(project.give({"run": "workers"}, trace(*lines)))
    results = project.results(run)
    assert {one["worker"] for one in results} == {"gw1:1", "gw1:2", "gw2:1"}
    assert {one["position"] for one in results} == {0}


def test_what_one_side_does_not_know_is_counted(project: Project):
    lines = [ran(LATER, 0, "xfailed"), ran("t.py::new", 1, "passed")]
    number = project.give({"run": "sides"}, x2, trace(*lines))
    run = project.run_of(number)
    assert run["counts"]["tests"] == run["reported"]["tests"] == 4
    said = " ".join(one["message"] for one in project.upload(number)["warnings"])
    assert "2 tests are in the report and not in the trace" in said
    assert "1 test is in the trace and not in the report: t.py::new" in said


def test_a_test_in_a_report_and_in_another_upload_of_a_log_is_reported_once(
    project: Project,
):
    number = project.give({"run": "parts of it"}, junit("a", "b"))
    extra = trace(ran("kitchen/tea.py::b", 0, "passed"), ran(CART, 1, "passed"))
    project.give({"run": "parts of it"}, extra)
    run = project.run_of(number)
    assert run["reported"]["tests"] == run["counts"]["tests"]


WRONG = [
    *((name, None) for name in ("v", "test", "worker", "pid", "outcome")),
    *(("v", value) for value in (2, "1", 1.5, True)),
    *(("test", value) for value in ("", 5, [])),
    *(("outcome", value) for value in ("PASSED", "ok", 1)),
    *(("pid", value) for value in ("x", -1, 1.5)),
    *(("position", value) for value in ("0", -1, 0.5, 2**40)),
    *(("duration", value) for value in ("x", -1, 1e308)),
    *(("start", value) for value in ("x", -1, 1e308)),
    ("phase", "later"),
]


def test_a_wrong_line_refuses_the_trace_and_is_named(running: Outside):
    fresh = running.project()
    good = ran("t.py::a", 0, "passed")
    sent = []
    for name, value in WRONG:
        bad = {**ran("t.py::b", 1, "passed"), name: value}
        bad = {key: said for key, said in bad.items() if said is not None}
        sent.append(fresh.give({"run": f"{name}={value}"}, trace(good, bad)))
    fresh.settle()
    for (name, value), number in zip(WRONG, sent, strict=True):
        upload = fresh.upload(number)
        assert upload["state"] == "rejected", (name, value)
        assert upload["error"]["line"] == 2
        assert upload["error"]["message"].startswith(f"{name}:")


HUGE = ["1e308", "1e400", "-1", "NaN", "inf", "99999999999999999999"]


def test_times_that_are_none_stop_nothing(project: Project):
    """Sums of them would be infinite, which no database and no JSON holds."""
    cases = "".join(f'<testcase name="{time}" time="{time}"/>' for time in HUGE * 2)
    raw = f'<testsuite name="s" time="1e308">{cases}</testsuite>'.encode()
    run = project.run_of(project.give({"run": "times"}, ("junit", "r.xml", raw)))
    assert (run["outcome"], run["counts"]["tests"]) == ("passed", len(HUGE))
    assert run["duration_s"] == 0
