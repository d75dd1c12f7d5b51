"""Without being asked the plugin does nothing, and costs nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.client.suites import CLIENT, run, write

LEAKY = {
    "test_off.py": """
        import os, sys
        import pytest
        def test_leaks(): os.environ["LEFT"] = "1"
        @pytest.mark.allow_leak("env", reason="x")
        def test_marked(): pass
        def test_nothing_is_loaded():
            ours = {n for n in sys.modules if n.startswith("healthboard_client")}
            assert ours == {
                "healthboard_client",
                "healthboard_client.plugin",
                "healthboard_client.plugin.fresh",
            }
    """
}


def test_it_is_off_until_asked_for(tmp_path):
    where = write(tmp_path, LEAKY, gates="env", enforce="error")
    ran = run(where, "--no-healthboard", "--strict-markers", "--strict-config")
    assert ran.code == 0, ran.out
    assert not (tmp_path / ".healthboard").exists()
    assert "healthboard:" not in ran.out


def test_the_ini_file_may_ask_for_it(tmp_path):
    where = write(tmp_path, LEAKY, gates="env", enforce="error")
    ran = run(where, "--no-healthboard", "-ohealthboard=true", "-k", "test_leaks")
    assert ran.code == 1
    assert ran.kinds("test_leaks") == ["env.set"]


def test_importing_it_brings_in_nothing_that_pytest_has_not():
    program = """
import sys, pytest
before = set(sys.modules)
import healthboard_client.plugin
print(sorted(n for n in set(sys.modules) - before if "healthboard" not in n))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(CLIENT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_the_directory_can_be_chosen(tmp_path):
    where = write(tmp_path, LEAKY, gates="env")
    run(where, "-k", "test_leaks", "--healthboard-dir=out/hb")
    assert sorted(path.name for path in (tmp_path / "out/hb").iterdir()) == [
        ".gitignore",
        "gate.json",
        "order.jsonl",
    ]
    assert not (tmp_path / ".healthboard").exists()


def test_only_its_own_files_are_cleared(tmp_path):
    where = write(tmp_path, LEAKY, gates="env")
    directory = tmp_path / ".healthboard"
    directory.mkdir()
    for name in (
        "effects.jsonl",
        "order.txt",
        "gatekeeper.json",
        "order-99999999-gw0-1.jsonl",
    ):
        (directory / name).touch()
    alive = directory / f"order-{os.getpid()}-gw0-1.jsonl"
    alive.write_text("another session's\n")
    run(where, "-k", "test_leaks")
    assert sorted(path.name for path in directory.iterdir()) == [
        ".gitignore",
        "effects.jsonl",
        "gate.json",
        "gatekeeper.json",
        alive.name,
        "order.jsonl",
        "order.txt",
    ]
    assert alive.read_text() == "another session's\n"


def test_collecting_alone_writes_nothing(tmp_path):
    run(write(tmp_path, LEAKY, gates="env"), "--collect-only")
    assert not (tmp_path / ".healthboard").exists()


MARKED = """
    import os, pytest
    @pytest.mark.allow_leak({arguments})
    def test_marked(): os.environ["LEFT"] = "1"
    def test_other(): pass
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('"env"', "allow_leak needs a reason"),
        ('"env", reason=""', "allow_leak needs a reason"),
        ('"env", reason=None', "allow_leak needs a reason"),
        ('reason="x"', "allow_leak needs a gate"),
        ('"enf", reason="x"', "not enf"),
    ],
)
def test_an_incomplete_marker_fails_its_test(tmp_path, arguments, words):
    suite = {"test_marked.py": MARKED.format(arguments=arguments)}
    ran = run(write(tmp_path, suite, gates="env", enforce="report"))
    assert ran.outcomes("test_marked") == [("error", "setup")]
    assert ran.outcomes("test_other") == [("passed", "call")]
    assert words in ran.out


@pytest.mark.parametrize(
    ("arguments", "opted_out"),
    [
        ('"env", reason="x"', True),
        ('"cwd", "env", reason="x"', True),
        ('"env.set", reason="x"', True),
        ('"env.removed", reason="x"', False),
        ('"cwd", reason="x"', False),
    ],
)
def test_a_marker_lets_pass_what_it_names(tmp_path, arguments, opted_out):
    suite = {"test_marked.py": MARKED.format(arguments=arguments)}
    ran = run(write(tmp_path, suite, gates="env", enforce="error"))
    assert [leak["opted_out"] for leak in ran.leaks] == [opted_out]
    assert ran.code == (0 if opted_out else 1)


def test_a_marker_of_a_class_or_a_module_counts(tmp_path):
    suite = {
        "test_module.py": """
            import os, pytest
            pytestmark = pytest.mark.allow_leak("env", reason="of the module")
            @pytest.fixture(scope="module")
            def held(): os.environ["HELD"] = "1"
            def test_one(held): os.environ["ONE"] = "1"
        """,
        "test_class.py": """
            import os, pytest
            @pytest.mark.allow_leak("env", reason="of the class")
            class TestMarked:
                def test_two(self): os.environ["TWO"] = "1"
        """,
    }
    ran = run(write(tmp_path, suite, gates="env", enforce="error"))
    assert ran.code == 0
    assert {leak["reason"] for leak in ran.leaks} == {"of the module", "of the class"}
    assert [leak["opted_out"] for leak in ran.leaks] == [True] * 3
