"""Every command that the documents show exists."""

from __future__ import annotations

import re
import subprocess
import sys

from django.core.management import get_commands

from tests.architecture.tracked import ROOT, files, name

SHOWN = re.compile(r"python3 dev\.py ([a-z]+)(?: ([a-z_]+))?")


def test_shown_commands_exist():
    shown = [
        (name(path), command, argument)
        for path in files()
        if path.suffix == ".md"
        for command, argument in SHOWN.findall(path.read_text())
    ]
    assert shown
    unknown = [
        (document, command, argument)
        for document, command, argument in shown
        if command not in ("serve", "manage", "test", "check")
        or (command == "manage" and argument and argument not in get_commands())
    ]
    assert unknown == []


def test_readme_shows_the_two_commands():
    shown = {command for command, _ in SHOWN.findall((ROOT / "README.md").read_text())}
    assert {"serve", "test"} <= shown


def test_dev_script_explains_itself():
    answer = subprocess.run(
        [sys.executable, ROOT / "dev.py", "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0
    for command in ("serve", "manage", "test", "check"):
        assert f"dev.py {command}" in answer.stdout


def test_unknown_command_is_an_error_that_shows_the_known_ones():
    answer = subprocess.run(
        [sys.executable, ROOT / "dev.py", "sreve"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 2
    assert "dev.py serve" in answer.stdout
