"""The order trace: every kind of test, every way in which tests end."""

from __future__ import annotations

import os
import re

import pytest

from tests.client.suites import AGENT, Ran, run, write

KINDS = {
    "test_kinds.py": """
        import unittest
        import pytest

        def test_passes(): pass
        def test_fails(): assert 0
        @pytest.mark.skip(reason="no")
        def test_is_skipped(): pass
        def test_skips(): pytest.skip("no")
        @pytest.mark.xfail
        def test_xfails(): assert 0
        @pytest.mark.xfail
        def test_xpasses(): pass
        @pytest.mark.xfail(strict=True)
        def test_xpasses_strictly(): pass

        @pytest.fixture
        def broken(): assert 0
        def test_setup_breaks(broken): pass
        @pytest.fixture
        def breaking():
            yield
            assert 0
        def test_teardown_breaks(breaking): pass
        def test_all_breaks(breaking): assert 0

        def test_subtests_pass(subtests):
            with subtests.test("one"): pass
            with subtests.test("two"): pass
        def test_subtest_fails(subtests):
            with subtests.test("one"): assert 0
            with subtests.test("two"): pass
        def test_subtest_skips(subtests):
            with subtests.test("one"): pytest.skip("no")

        @pytest.mark.parametrize("value", ["a/b", "é", "x y", "[1]"])
        def test_parameters(value): pass

        class TestUnit(unittest.TestCase):
            @classmethod
            def setUpClass(cls): cls.ready = True
            def test_unit(self): assert self.ready
            def test_unit_fails(self): self.fail()
            @unittest.skip("no")
            def test_unit_skipped(self): pass
            @unittest.expectedFailure
            def test_unit_expected(self): self.fail()
            def test_unit_subtest(self):
                with self.subTest("one"): self.fail()

        class TestPlain:
            def test_method(self): pass
    """
}
OUTCOMES = {
    "test_passes": ("passed", "call"),
    "test_fails": ("failed", "call"),
    "test_is_skipped": ("skipped", "setup"),
    "test_skips": ("skipped", "call"),
    "test_xfails": ("xfailed", "call"),
    "test_xpasses": ("xpassed", "call"),
    "test_xpasses_strictly": ("failed", "call"),
    "test_setup_breaks": ("error", "setup"),
    "test_teardown_breaks": ("error", "teardown"),
    "test_all_breaks": ("error", "teardown"),
    "test_subtests_pass": ("passed", "call"),
    "test_subtest_fails": ("failed", "call"),
    "test_subtest_skips": ("passed", "call"),
    "test_parameters[a/b]": ("passed", "call"),
    "test_parameters[\\xe9]": ("passed", "call"),
    "test_parameters[x y]": ("passed", "call"),
    "test_parameters[[1]]": ("passed", "call"),
    "test_unit": ("passed", "call"),
    "test_unit_fails": ("failed", "call"),
    "test_unit_skipped": ("skipped", "call"),
    "test_unit_expected": ("xfailed", "call"),
    "test_unit_subtest": ("failed", "call"),
    "test_method": ("passed", "call"),
}


def _name(attempt) -> str:
    return attempt["test"].rpartition("::")[2]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory) -> Ran:
    return run(write(tmp_path_factory.mktemp("kinds"), KINDS, gates="env"))


@pytest.mark.parametrize("name", OUTCOMES)
def test_an_outcome_and_its_phase(kinds, name):
    assert kinds.outcomes(name) == [OUTCOMES[name]]


def test_a_line_has_all_that_the_format_names(kinds):
    assert len(kinds.order) == len(OUTCOMES)
    assert [one["position"] for one in kinds.order] == list(range(len(OUTCOMES)))
    first = kinds.order[0]
    assert list(first) == [
        *("v", "test", "worker", "pid", "position"),
        *("start", "duration", "outcome", "phase"),
    ]
    assert (first["v"], first["worker"]) == (1, "main")
    assert first["pid"] != os.getpid()
    assert {one["pid"] for one in kinds.order} == {first["pid"]}
    starts = [one["start"] for one in kinds.order]
    assert starts == sorted(starts)
    assert all(one["duration"] >= 0 for one in kinds.order)


@pytest.mark.parametrize("dist", ["load", "loadfile", "loadscope", "worksteal"])
def test_workers_are_merged(tmp_path, dist):
    many = """
        import pytest
        @pytest.mark.parametrize("number", range(8))
        def test_many(number): pass
    """
    suite = {f"test_{letter}.py": many for letter in "abc"}
    ran = run(
        write(tmp_path, suite, gates="env"), "-n2", f"--dist={dist}", plugins="xdist"
    )
    assert ran.code == 0
    assert len({one["test"] for one in ran.order}) == len(ran.order) == 24
    processes = {(one["worker"], one["pid"]) for one in ran.order}
    assert {worker for worker, _ in processes} <= {"gw0", "gw1"}
    assert len(processes) <= 2
    for process in processes:
        own = [one for one in ran.order if (one["worker"], one["pid"]) == process]
        assert [one["position"] for one in own] == list(range(len(own)))
    starts = [one["start"] for one in ran.order]
    assert starts == sorted(starts)
    assert sorted(path.name for path in (tmp_path / ".healthboard").iterdir()) == [
        ".gitignore",
        "gate.json",
        "order.jsonl",
    ]


def test_a_test_that_kills_its_worker_is_in_its_process(tmp_path):
    suite = {
        "test_crash.py": """
            import os
            def test_first(): pass
            def test_second(): pass
            def test_kills(): os._exit(3)
            def test_third(): pass
        """
    }
    ran = run(write(tmp_path, suite, gates="env"), "-n1", plugins="xdist")
    assert [(_name(one), one["outcome"]) for one in ran.order] == [
        ("test_first", "passed"),
        ("test_second", "passed"),
        ("test_kills", "error"),
        ("test_third", "passed"),
    ]
    first, second, killed, third = ran.order
    assert killed["pid"] == second["pid"] == first["pid"]
    assert killed["position"] == 2
    assert third["pid"] != first["pid"]
    assert third["position"] == 0


def test_a_killed_process_leaves_its_lines(tmp_path):
    suite = {
        "test_killed.py": """
            import os
            def test_leaks(): os.environ["LEFT"] = "1"
            def test_leaks_too(): os.environ["LEFT_TOO"] = "1"
            def test_kills(): os._exit(3)
        """
    }
    ran = run(write(tmp_path, suite, gates="env"))
    assert ran.order == []
    order, gate = sorted(
        path for path in (tmp_path / ".healthboard").iterdir() if path.suffix != ""
    )[::-1]
    assert re.fullmatch(r"order-(\d+)-main-\1\.jsonl", order.name)
    assert len(order.read_text().splitlines()) == 2
    assert re.fullmatch(r"gate-(\d+)-main-\1\.json", gate.name)
    assert gate.read_text().count('"env.set"') == 2
    # The next session of the directory begins anew.
    again = run(tmp_path, "-k", "leaks")
    assert [_name(one) for one in again.order] == ["test_leaks", "test_leaks_too"]
    assert len(list((tmp_path / ".healthboard").iterdir())) == 3


RERUN = {
    **AGENT,
    "test_again.py": """
        import os
        runs = []
        def test_before(): pass
        def test_flaky():
            runs.append(1)
            assert len(runs) == 3
        def test_always(): assert 0
        def test_leaks(): os.environ["LEFT"] = "1"
        def test_after(): pass
    """,
}


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["one", "xdist"])
def test_reruns_are_attempts(tmp_path, workers):
    where = write(tmp_path, RERUN, gates="env", enforce="error")
    ran = run(where, "--reruns=2", *workers, plugins="rerunfailures xdist")
    rerun = ("rerun", "call")
    assert ran.outcomes("test_flaky") == [rerun, rerun, ("passed", "call")]
    assert ran.outcomes("test_always") == [rerun, rerun, ("failed", "call")]
    assert [one["position"] for one in ran.order] == list(range(11))


def test_a_rerun_does_not_wash_a_leak_away(tmp_path):
    """The second attempt finds what the first one left, and changes nothing."""
    where = write(tmp_path, RERUN, gates="env", enforce="error")
    ran = run(where, "--reruns=2", plugins="rerunfailures")
    rerun = ("rerun", "teardown")
    assert ran.outcomes("test_leaks") == [rerun, rerun, ("error", "teardown")]
    places = [one["position"] for one in ran.order if "test_leaks" in one["test"]]
    assert [leak["position"] for leak in ran.of("test_leaks")] == places
    assert ran.outcomes("test_after") == [("passed", "call")]


def test_a_shuffled_order_is_the_one_that_ran(tmp_path):
    suite = {
        "test_many.py": """
            import pathlib, pytest
            @pytest.mark.parametrize("number", range(30))
            def test_many(number):
                with open("ran", "a") as file: print(number, file=file)
        """
    }
    ran = run(write(tmp_path, suite), plugins="randomly")
    shuffled = [one["test"].partition("[")[2][:-1] for one in ran.order]
    assert shuffled == (tmp_path / "ran").read_text().split()
    assert shuffled != sorted(shuffled, key=int)


def test_async_tests(tmp_path):
    suite = {
        "test_async.py": """
            import asyncio, os
            import pytest, pytest_asyncio
            pytestmark = pytest.mark.asyncio

            @pytest_asyncio.fixture
            async def slow():
                await asyncio.sleep(0)
                yield 1

            async def test_awaits(slow): await asyncio.sleep(0)
            async def test_leaks():
                await asyncio.to_thread(os.putenv, "NOTHING", "1")
                os.environ["LEFT"] = "1"
            async def test_fails(): assert 0
        """
    }
    where = write(tmp_path, suite, gates="env threads", enforce="error")
    ran = run(where, "-oasyncio_default_fixture_loop_scope=function", plugins="asyncio")
    assert [(_name(one), one["outcome"]) for one in ran.order] == [
        ("test_awaits", "passed"),
        ("test_leaks", "error"),
        ("test_fails", "failed"),
    ]
    assert ran.kinds("test_leaks") == ["env.set"]


STOPPED = {
    "test_stop.py": """
        import pytest
        def test_one(): pass
        def test_two(): assert 0
        def test_three(): pass
    """
}


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["one", "xdist"])
def test_a_run_that_stops_early(tmp_path, workers):
    where = write(tmp_path, STOPPED, gates="env")
    ran = run(where, "-x", *workers, plugins="xdist")
    assert [_name(one) for one in ran.order][:2] == ["test_one", "test_two"]
    assert ran.outcomes("test_two") == [("failed", "call")]


def test_a_run_that_is_interrupted(tmp_path):
    suite = {
        "test_interrupted.py": """
            def test_one(): pass
            def test_two(): raise KeyboardInterrupt
            def test_three(): pass
        """
    }
    ran = run(write(tmp_path, suite, gates="env"))
    assert [_name(one) for one in ran.order] == ["test_one"]


def test_only_the_last_failures(tmp_path):
    where = write(tmp_path, STOPPED, gates="env")
    cached = ["-pcacheprovider", "-ocache_dir=.cache"]
    run(where, *cached)
    ran = run(where, "--lf", *cached)
    assert [(_name(one), one["position"]) for one in ran.order] == [("test_two", 0)]


def test_a_file_that_cannot_be_collected(tmp_path):
    suite = {"test_broken.py": "import nothing_of_that_name", **STOPPED}
    where = write(tmp_path, suite, gates="env")
    ran = run(where)
    assert ran.code == 2
    assert ran.order == []
    ran = run(where, "--continue-on-collection-errors")
    assert [_name(one) for one in ran.order] == [
        "test_one",
        "test_two",
        "test_three",
    ]
