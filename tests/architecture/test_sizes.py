"""Files and functions stay small enough to be read at once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.architecture.tracked import ROOT, files, name, sources

if TYPE_CHECKING:
    from pathlib import Path

FILE, FUNCTION, VIEW, TASK, CONFTEST = 400, 40, 25, 8, 150


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def _functions(path: Path) -> list[ast.FunctionDef]:
    tree = ast.parse(path.read_text())
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _length(function: ast.FunctionDef) -> int:
    """Lines of the body, without decorators, signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return 0
    return (function.end_lineno or 0) - body[0].lineno + 1


def _cap(path: Path, function: ast.FunctionDef) -> int:
    decorators = " ".join(ast.unparse(node) for node in function.decorator_list)
    if "shared_task" in decorators:
        return TASK
    if path.relative_to(ROOT).parts[0] == "dashboard" and "view" in path.stem:
        return VIEW
    return FUNCTION


def test_files_are_short():
    written = [p for p in files() if p.suffix == ".py" and "migrations" not in p.parts]
    assert len(written) > 50
    long = {
        name(path): _lines(path)
        for path in written
        if _lines(path) > (CONFTEST if path.name == "conftest.py" else FILE)
    }
    assert long == {}


def test_functions_are_short():
    long = {
        f"{name(path)}:{function.name}": _length(function)
        for path in sources()
        for function in _functions(path)
        if _length(function) > _cap(path, function)
    }
    assert long == {}
