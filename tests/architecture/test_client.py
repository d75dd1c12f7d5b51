"""The client runs in other people's CI: it imports the standard library alone."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib

from tests.architecture.tracked import CLIENT, ROOT, client_sources, name

PYTHON = (3, 10)
# Loaded by pytest itself, so pytest is there: the plugin, and that of `confirm`.
WITH_PYTEST = {CLIENT / "plugin", CLIENT / "replaying.py"}


def _imports(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return {each.partition(".")[0] for each in found}


def test_the_client_imports_only_the_standard_library():
    allowed = {*sys.stdlib_module_names, "healthboard_client"}
    foreign = {}
    for path in client_sources():
        names = _imports(ast.parse(path.read_text())) - allowed
        if WITH_PYTEST & {path, *path.parents}:
            names -= {"pytest", "_pytest", "pluggy", "xdist"}
        if names:
            foreign[name(path)] = names
    assert client_sources()
    assert foreign == {}


def test_the_client_declares_no_dependency():
    project = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == []
    assert project["requires-python"] == ">=3.10"


def test_the_client_parses_on_its_oldest_python():
    for path in client_sources():
        ast.parse(path.read_text(), feature_version=PYTHON)


def test_the_client_and_the_server_are_apart():
    """A command loads neither the server nor pytest, nor the other commands' needs."""
    code = (
        "import sys; sys.path.insert(0, 'client/src');"
        "import healthboard_client.cli as cli; cli.main(['--version']);"
        "loaded = {'django', 'pytest', 'http.client', 'ssl', 'asyncio', 'xml.parsers'};"
        "sys.exit(', '.join(sorted(loaded & set(sys.modules))) or 0)"
    )
    answer = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
