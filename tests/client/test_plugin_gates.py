"""The other gates, in both directions: each tells its leak, and only that."""

from __future__ import annotations

import json

import pytest

from tests.client.suites import Ran, run, write

GATES = "env cwd sys_path logging warnings threads processes files control_plane"
SUITE = {
    "watched/kept.txt": "",
    "conftest.py": """
        import os
        os.environ["SET_BEFORE"] = os.environ["GONE_BEFORE"] = "1"
    """,
    "test_leaks.py": """
        import logging, os, pathlib, socket, subprocess, sys, threading, warnings

        import pytest

        HERE = pathlib.Path(__file__).parent
        ENDS = threading.Event()
        HOUR = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        STARTED = []

        def start():
            process = subprocess.Popen(HOUR, stdin=subprocess.PIPE)
            STARTED.append(process)
            return process

        def test_env_set(): os.environ["SECRET_NAME"] = "secret value"
        def test_env_changed(): os.environ["SET_BEFORE"] = "2"
        def test_env_removed(): del os.environ["GONE_BEFORE"]

        def test_env_back():
            del os.environ["SECRET_NAME"]
            os.environ.update(SET_BEFORE="1", GONE_BEFORE="1")

        def test_env_patched(monkeypatch):
            monkeypatch.setenv("SECRET_NAME", "x")
            monkeypatch.delenv("SET_BEFORE")

        def test_cwd(): os.chdir("watched")
        def test_cwd_back(): os.chdir(HERE)
        def test_cwd_patched(monkeypatch, tmp_path): monkeypatch.chdir(tmp_path)

        def test_path(): sys.path.insert(0, "elsewhere")
        def test_path_back(): sys.path.remove("elsewhere")
        def test_path_patched(monkeypatch): monkeypatch.syspath_prepend("elsewhere")

        def test_handler(): logging.getLogger("agent").addHandler(logging.StreamHandler())
        def test_handler_back(): logging.getLogger("agent").handlers.clear()
        def test_level(): logging.getLogger("agent").setLevel("ERROR")
        def test_level_back(): logging.getLogger("agent").setLevel(logging.NOTSET)
        def test_disable(): logging.disable(logging.ERROR)
        def test_disable_back(): logging.disable(logging.NOTSET)
        def test_logger_used(caplog):
            caplog.set_level("DEBUG", logger="agent")
            logging.getLogger("agent.new").addHandler(logging.NullHandler())
            logging.getLogger("agent.new").warning("seen")

        def test_filters(): warnings.simplefilter("ignore", UserWarning)
        def test_filters_back(): del warnings.filters[0]
        def test_filters_in_another_order():
            warnings.filters.insert(0, warnings.filters.pop())
        def test_filters_ordered(): warnings.filters.append(warnings.filters.pop(0))
        def test_filters_caught():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")

        def test_thread(): threading.Thread(target=ENDS.wait, name="poller").start()
        def test_thread_ends(): ENDS.set()
        def test_thread_joined():
            one = threading.Thread(target=int)
            one.start(); one.join()
        def test_thread_about_to_end():
            ended = threading.Event()
            threading.Timer(0.02, ended.set).start()

        def test_process(): start()
        def test_process_ends():
            with STARTED.pop() as process: process.communicate()
        def test_process_waited_for():
            with start() as process: process.communicate()
        def test_process_not_reaped():
            process = start()
            process.stdin.close()
            # Waits without reaping it.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

        def test_file_in_directory(): (HERE / "watched/new.txt").touch()
        def test_file_written_again(): (HERE / "watched/new.txt").write_text("x")
        def test_file_gone(): (HERE / "watched/new.txt").unlink()
        def test_file_of_glob(): (HERE / "x-freeze.1").touch()
        def test_file_elsewhere(): (HERE / "other.txt").touch()
        def test_file_below():
            (HERE / "watched/deep/er").mkdir(parents=True)
            (HERE / "watched/deep/er/left").touch()
        def test_file_removed_at_the_end(request):
            path = HERE / "watched/short"
            path.touch()
            request.addfinalizer(path.unlink)
        def test_directory_appears():
            (HERE / "missing").mkdir()
            (HERE / "missing/one").touch()

        def test_control_plane():
            for name in ("job-1.json", "job-2.json"): (HERE / "plane/jobs" / name).touch()

        def test_socket():
            with socket.socket(socket.AF_UNIX) as one:
                os.chdir("sockets")
                one.bind("s" * max(1, 100 - len(os.getcwd()) - 1))
                os.chdir(HERE)

        @pytest.mark.allow_leak("env", "files", reason="both are meant")
        def test_marked():
            os.environ["MARKED"] = "1"
            (HERE / "watched/marked").touch()

        def test_ends():
            for process in STARTED: process.wait()
    """,
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Ran:
    where = write(
        tmp_path_factory.mktemp("g"),
        SUITE,
        gates=GATES,
        enforce="error",
        files="watched x-freeze.* missing sockets",
        control_planes="plane/jobs",
    )
    (where / "plane/jobs").mkdir(parents=True)
    (where / "sockets").mkdir()
    return run(where, "-pno:warnings")


@pytest.mark.parametrize(
    ("name", "kind", "items"),
    [
        ("test_env_set", "env.set", ["SECRET_NAME"]),
        ("test_env_changed", "env.changed", ["SET_BEFORE"]),
        ("test_env_removed", "env.removed", ["GONE_BEFORE"]),
        ("test_path", "sys_path.changed", ["+elsewhere"]),
        ("test_handler", "logging.handlers", ["agent"]),
        ("test_level", "logging.level", ["agent"]),
        ("test_disable", "logging.level", ["logging.disable"]),
        ("test_filters", "warnings.filters", ["+ignore::UserWarning"]),
        ("test_filters_in_another_order", "warnings.filters", ["another order"]),
        ("test_file_in_directory", "files.created", ["watched/new.txt"]),
        ("test_file_of_glob", "files.created", ["x-freeze.1"]),
        (
            "test_file_below",
            "files.created",
            ["watched/deep", "watched/deep/er", "watched/deep/er/left"],
        ),
        ("test_directory_appears", "files.created", ["missing/one"]),
    ],
)
def test_a_leak_names_the_test_the_items_and_the_recipe(ran, name, kind, items):
    (leak,) = ran.of(name)
    assert (leak["kind"], leak["items"]) == (kind, items)
    assert leak["message"].startswith(f"test_leaks.py::{name} ")
    assert leak["message"].endswith(f": {', '.join(items)}")
    assert len(leak["recipe"]) > 60
    assert leak["enforced"] is True
    assert ran.outcomes(name) == [("error", "teardown")]
    assert f"{leak['message']}\n\n{leak['recipe']}" in ran.out


def test_a_changed_directory_is_named(ran):
    (leak,) = ran.of("test_cwd")
    assert (leak["kind"], leak["items"]) == (
        "cwd.changed",
        [str(ran.where / "watched")],
    )


def test_a_thread_is_named(ran):
    (leak,) = ran.of("test_thread")
    assert leak["kind"] == "threads.alive"
    assert leak["items"][0].startswith("poller (thread ")


def test_a_process_is_named_with_its_number(ran):
    (leak,) = ran.of("test_process")
    assert leak["kind"] == "processes.alive"
    assert "python" in leak["items"][0]
    assert "(pid " in leak["items"][0]


def test_each_entry_of_a_control_plane_is_a_leak(ran):
    leaks = ran.of("test_control_plane")
    assert [leak["kind"] for leak in leaks] == ["control_plane.entry"] * 2
    assert sorted(leak["detail"]["path"] for leak in leaks) == [
        "plane/jobs/job-1.json",
        "plane/jobs/job-2.json",
    ]
    assert (ran.where / "plane/jobs/job-1.json").exists()


def test_a_socket_near_the_limit_is_warned_of(ran):
    left, warned = ran.of("test_socket")
    assert (left["kind"], left["enforced"]) == ("files.created", True)
    assert (warned["kind"], warned["enforced"]) == ("files.socket_path", False)
    assert "107" in warned["message"]


@pytest.mark.parametrize(
    "name",
    [
        "test_env_patched",
        "test_cwd_patched",
        "test_path_patched",
        "test_logger_used",
        "test_filters_caught",
        "test_thread_ends",
        "test_thread_joined",
        "test_thread_about_to_end",
        "test_process_ends",
        "test_process_waited_for",
        "test_process_not_reaped",
        "test_file_written_again",
        "test_file_gone",
        "test_file_elsewhere",
        "test_file_removed_at_the_end",
        "test_ends",
    ],
)
def test_it_is_silent(ran, name):
    assert ran.of(name) == []
    assert ran.outcomes(name) == [("passed", "call")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("test_env_back", "env.restored"),
        ("test_cwd_back", "cwd.restored"),
        ("test_path_back", "sys_path.restored"),
        ("test_handler_back", "logging.restored"),
        ("test_level_back", "logging.restored"),
        ("test_disable_back", "logging.restored"),
        ("test_filters_back", "warnings.restored"),
        ("test_filters_ordered", "warnings.restored"),
    ],
)
def test_a_change_back_is_a_clean_up(ran, name, kind):
    (leak,) = ran.of(name)
    assert (leak["kind"], leak["enforced"]) == (kind, False)
    assert ran.outcomes(name) == [("passed", "call")]


def test_marked_leaks_are_told_and_not_raised(ran):
    leaks = ran.of("test_marked")
    assert [leak["kind"] for leak in leaks] == ["env.set", "files.created"]
    assert {leak["opted_out"] for leak in leaks} == {True}
    assert ran.outcomes("test_marked") == [("passed", "call")]


def test_values_of_the_environment_are_never_told(ran):
    assert "SECRET_NAME" in ran.out
    assert "secret value" not in ran.out
    assert "secret value" not in json.dumps(ran.leaks)


def test_filters_that_pytest_puts_back_are_no_leak(tmp_path):
    """Its own plugin does after each test, whatever a test does to them."""
    suite = {
        "test_filters.py": """
            import warnings
            def test_filters(): warnings.simplefilter("ignore")
            def test_after(): assert warnings.filters[0][0] != "ignore"
        """
    }
    ran = run(write(tmp_path, suite, gates="warnings", enforce="error"))
    assert ran.leaks == []
    assert ran.code == 0
