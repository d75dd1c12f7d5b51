"""Small suites of our own, run by pytest in a process of its own with the plugin on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from tests.architecture.tracked import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CLIENT = ROOT / "client" / "src"
# A package for the inner suites to import: agent and agent.* are watched.
AGENT = {
    "agent/__init__.py": "",
    "agent/loop.py": "calls = 0",
    "agent/context.py": "",
    "agentic.py": "",
}
_FOREIGN = ("PYTEST_", "HEALTHBOARD_", "COV_")


@dataclass(frozen=True)
class Ran:
    """What a run left: its output, its order trace and its leaks."""

    code: int
    out: str
    where: Path
    order: list[dict[str, Any]]
    leaks: list[dict[str, Any]]

    def of(self, name: str) -> list[dict[str, Any]]:
        """The leaks of the test (or the fixture) with this name."""
        return [
            leak
            for leak in self.leaks
            if (leak["test"] or "").rpartition("::")[2] == name
            or leak.get("fixture") == name
        ]

    def kinds(self, name: str) -> list[str]:
        return [leak["kind"] for leak in self.of(name)]

    def outcomes(self, name: str) -> list[tuple[str, str]]:
        """Outcome and phase of each attempt of a test."""
        return [
            (one["outcome"], one["phase"])
            for one in self.order
            if one["test"].rpartition("::")[2] == name
        ]


def write(where: Path, files: Mapping[str, str], /, **ini: str) -> Path:
    """Write a suite; keywords are its ini file's values, without `healthboard_`."""
    for name, text in files.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip())
    values = {"watch": "agent", **ini}
    lines = [f"healthboard_{name} = {value}" for name, value in values.items()]
    (where / "pytest.ini").write_text("\n".join(["[pytest]", *lines, ""]))
    return where


def run(where: Path, *arguments: str, plugins: str = "", **environ: str) -> Ran:
    """Run the suite that stands in a directory. `plugins` are loaded besides ours."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_FOREIGN)
    }
    environment |= {
        "PYTHONPATH": str(CLIENT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **environ,
    }
    loaded = [f"-p{name}" for name in ("healthboard_client.plugin", *plugins.split())]
    command = [sys.executable, "-m", "pytest", "-pno:cacheprovider", *loaded]
    if "--no-healthboard" not in arguments:
        command.append("--healthboard")
    command += [one for one in arguments if one != "--no-healthboard"]
    done = subprocess.run(
        command, cwd=where, env=environment, capture_output=True, text=True, timeout=50
    )
    written = where / ".healthboard"
    return Ran(
        code=done.returncode,
        out=done.stdout + done.stderr,
        where=where,
        order=_lines(written / "order.jsonl"),
        leaks=_leaks(written / "gate.json"),
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def _leaks(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text())["leaks"] if path.exists() else []
