"""The files of the project, as version control knows them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "client" / "src" / "healthboard_client"
PACKAGES = (
    "healthboard",
    "dashboard",
    "api",
    "review",
    "notify",
    "pulls",
    "leaks",
    "findings",
    "ingest",
    "results",
    "projects",
    "analysis",
    "formats",
)


@cache
def files() -> tuple[Path, ...]:
    """All tracked files; those of the tree where there is no version control."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False
    )
    if listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
        return tuple(ROOT / name for name in names if name and (ROOT / name).is_file())
    hidden = {".venv", ".git", ".data", "__pycache__", "node_modules"}
    return tuple(
        path
        for path in ROOT.rglob("*")
        if path.is_file() and hidden.isdisjoint(path.relative_to(ROOT).parts)
    )


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def sources() -> list[Path]:
    """The product's own Python files and the client's, without migrations."""
    return [
        path
        for path in files()
        if path.suffix == ".py"
        and (path.relative_to(ROOT).parts[0] in PACKAGES or CLIENT in path.parents)
        and "migrations" not in path.parts
    ]


def client_sources() -> list[Path]:
    return [path for path in sources() if CLIENT in path.parents]


def server_sources() -> list[Path]:
    """Without the client, whose settings are its own manual's."""
    return [path for path in sources() if CLIENT not in path.parents]
