"""The report files that a command line names.

Guarantees: each file once, in a stable order; a pattern that matches nothing and a
file that is no report are told, not dropped in silence.
"""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from pathlib import Path

from healthboard_client.kinds import KINDS, kind_of

# What is looked for where nothing is named. Directories that begin with a dot are not
# entered by a pattern, so the plugin's own is named.
USUAL = (
    "**/junit*.xml",
    "**/*junit.xml",
    "**/TEST-*.xml",
    "**/test-results/**/*.xml",
    "**/reportlog*.jsonl",
    ".healthboard/order*.jsonl",
    ".healthboard/gate*.json",
)
SKIPPED = ("node_modules", "site-packages", ".git", ".venv", "venv")


@dataclass(frozen=True)
class Report:
    """One file to send."""

    kind: str
    path: Path
    size: int
    said: str = ""  # what it is called, where not by its path

    @property
    def name(self) -> str:
        return self.said or self.path.as_posix()


@dataclass
class Found:
    """What was found, and what a person should know of the rest."""

    reports: list[Report] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def find(patterns: list[str], *, kind: str = "") -> Found:
    """Find the files that the patterns name, or the usual ones where there are none.

    A pattern may begin with its kind: `review:comments.md`.
    """
    found, seen = Found(), set()
    for pattern in patterns or USUAL:
        said, pattern = _split(pattern, kind)
        paths = _matches(pattern)
        if patterns and not paths:
            found.remarks.append(f"no file matches {pattern}")
        for path in paths:
            real = path.resolve()
            if real not in seen:
                seen.add(real)
                _add(found, path, said, asked=bool(patterns))
    return found


def _split(pattern: str, kind: str) -> tuple[str, str]:
    before, colon, rest = pattern.partition(":")
    return (before, rest) if colon and before in (*KINDS, "auto") else (kind, pattern)


def _matches(pattern: str) -> list[Path]:
    plain = Path(pattern)
    if plain.is_file():  # also where its name has brackets
        return [plain]
    if plain.is_dir():
        pattern = str(plain / "**" / "*")
    # Path.glob takes no absolute pattern.
    names = glob.glob(pattern, recursive=True)  # noqa: PTH207
    paths = (Path(name) for name in names)
    return sorted(
        path for path in paths if path.is_file() and not set(SKIPPED) & set(path.parts)
    )


def _add(found: Found, path: Path, kind: str, *, asked: bool) -> None:
    try:
        size = path.stat().st_size
        told = kind or kind_of(path)
    except OSError as error:
        found.remarks.append(f"{path}: cannot be read ({error.strerror})")
        return
    if not told and size == 0:
        told = "auto"  # the server names it as what it is: an empty report
    if told:
        found.reports.append(Report(told, path, size))
    elif asked:
        found.remarks.append(f"{path}: no kind of report is recognised; not sent")
