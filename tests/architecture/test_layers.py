"""Imports point down; the contracts themselves stand in pyproject.toml."""

from __future__ import annotations

import ast
import subprocess
import sys

from tests.architecture.tracked import ROOT, name, sources

BANNED_NAMES = {"utils", "helpers", "helper", "common", "base", "manager", "service"}


def test_import_contracts_hold():
    code = "from importlinter.cli import lint_imports_command as c; c()"
    answer = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "0 broken" in answer.stdout


def test_modules_import_at_their_top():
    """A late import hides a cycle."""
    late = [
        f"{name(path)}:{node.lineno}"
        for path in sources()
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert late == []


def test_modules_are_named_after_what_they_do():
    vague = [name(path) for path in sources() if path.stem in BANNED_NAMES]
    assert vague == []
