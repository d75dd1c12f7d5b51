"""The command line: help that teaches, exit codes, shards as a command."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from formats.detection import detect
from healthboard_client.exits import Exit
from healthboard_client.files import find
from healthboard_client.kinds import kind_of_head
from tests.client.running import ROOT

MANUAL = ROOT / "docs" / "client.md"
COMMANDS = ("upload", "check", "confirm", "shards")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_with_examples_and_exit_codes(job, command):
    said = job.ci(command, "--help")
    assert said.code == 0
    assert f"healthboard-ci {command}" in said.out.partition("examples:")[2]
    assert "exit codes:" in said.out
    assert "HEALTHBOARD_TOKEN" in said.out


def test_help_names_every_command(job):
    out = job.ci("--help").out
    assert all(f"    {command}" in out for command in COMMANDS)


def test_exit_codes_and_variables_are_documented():
    manual = MANUAL.read_text()
    assert all(f"| {code.value} |" in manual for code in Exit)
    for path in (ROOT / "client/src/healthboard_client").glob("*.py"):
        for word in re.findall(r'"(HEALTHBOARD_[A-Z_]+)"', path.read_text()):
            assert f"`{word}`" in manual or word == "HEALTHBOARD_REPLAY", word


@pytest.mark.parametrize(
    "arguments",
    [(), ("nothing",), ("upload", "--token", "x"), ("shards",), ("confirm",)],
)
def test_wrong_options_exit_64(job, arguments):
    assert job.ci(*arguments).code == 64


def test_the_oldest_python_that_is_here(job):
    """It is made for 3.10; whatever older one than ours is installed runs it."""
    found = [shutil.which(f"python3.{minor}") for minor in (10, 11, 12)]
    older = next((path for path in found if path and _runs(path)), None)
    if older is None:
        pytest.skip("no older Python on this machine")
    job.python = older
    job.write("junit.xml", "<testsuite/>")
    said = job.ci("upload", "--dry-run")
    assert said.code == 0, said.err
    assert "junit.xml" in said.out


def _runs(python):
    """A version manager's stub may stand for nothing."""
    answer = subprocess.run([python, "-c", ""], capture_output=True, check=False)
    return answer.returncode == 0


def test_shards_are_the_suite_exactly_once(job):
    names = [f"tests/test_{n}.py" for n in range(9)]
    for name in names:
        job.write(name, "")
    job.write("node_modules/x/test_no.py", "")
    job.write("d.json", json.dumps({name: n for n, name in enumerate(names)}))
    dealt = []
    for index in (1, 2, 3):
        options = ("--index", str(index), "--count", "3", "--durations", "d.json")
        said = job.ci("shards", *options)
        assert said.code == 0
        assert "ideal 12.0 s" in said.err
        dealt += said.out.split()
    assert sorted(dealt) == names
    piped = job.ci("shards", *options, "-", stdin="\n".join(reversed(names)))
    assert piped.out == said.out


def test_shards_with_the_servers_durations(connected, project):
    job = connected
    cases = "".join(
        f'<testcase classname="tests.test_{n}" name="test_x" file="tests/test_{n}.py" '
        f'time="{n}"/>'
        for n in (1, 2, 9)
    )
    report = f'<testsuite name="pytest">{cases}</testsuite>'.encode()
    project.give({"run": "r"}, ("junit", "j.xml", report))
    project.settle()
    for n in (1, 2, 9):
        job.write(f"tests/test_{n}.py", "")
    said = job.ci(
        *("shards", "--index", "1", "--count", "2", "--save-durations", "d.json")
    )
    assert said.out == "tests/test_9.py\n"
    assert "longest is shard 1 with" in said.err
    saved = json.loads((job.folder / "d.json").read_text())
    # The server keeps durations in bins.
    assert saved == pytest.approx(
        {f"tests/test_{n}.py": float(n) for n in (1, 2, 9)}, rel=0.25
    )


@pytest.mark.parametrize(
    "head",
    [
        b'<?xml version="1.0"?><testsuites/>',
        b"noise before\n<testsuite name='x'>",
        "\ufeff<testsuite/>".encode(),
        "<testsuite/>".encode("utf-16"),
        b'{"$report_type": "TestReport"}\n',
        b'{"v": 1, "test": "a", "worker": "m", "outcome": "passed"}\n',
        b'{"schema": "healthboard.gate/1", "leaks": []}',
        b'[{"path": "/tmp/x", "reason": "left"}]',
        b'{"v": 1, "type": "claim", "record": {}}\n',
        b'{"version": "2.1.0", "runs": []}',
        b"Confidence: 4/5\n",
        b"nothing of the kind",
        b"{}",
        b"",
    ],
)
def test_the_client_tells_kinds_as_the_server_does(head):
    assert kind_of_head(head) == detect(head, "")


def test_every_file_once_however_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.xml").write_text("<testsuite/>")
    found = find(["a.xml", "*.xml", str(tmp_path), "junit:a.xml"])
    assert [report.name for report in found.reports] == ["a.xml"]
