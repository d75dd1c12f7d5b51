"""What a finding speaks of: pull requests, files of tests, tests, gates.

Guarantees: only what is literally there; a number after a word such as "leaker" or
"round" is no pull request, nor is one of another repository.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from formats.reviews.likeness import files_in
from formats.reviews.review import Finding

_PULL = re.compile(
    r"(?:\b(?P<word>[A-Za-z]{1,20})\s?)?(?:(?<![\w/&#])|(?<=\bPR)|(?<=\bMR))#(?P<number>\d{1,9})\b"
)
# "#1" behind one of these counts something else.
_OTHER = frozenset(
    [
        "attempt",
        "case",
        "comment",
        "finding",
        "item",
        "leaker",
        "leakers",
        "line",
        "number",
        "polluter",
        "point",
        "rank",
        "reason",
        "round",
        "rule",
        "shard",
        "step",
        "task",
        "test",
        "tests",
        "thread",
        "try",
        "victim",
        "worker",
    ]
)
_TEST_FILE = re.compile(
    r"(?:^|/)(?:test_[\w-]+\.py|[\w-]+_test\.\w+|conftest\.py"
    r"|[\w.-]+\.(?:test|spec)\.\w+|\w+Tests?\.(?:java|kt|cs|scala|groovy|swift))$"
)
_TEST = re.compile(r"\btest_\w{1,200}(?!\.?\w)(?!\.py)")
_GATE = re.compile(r"(?:\b|_)gates?(?:\b|_)", re.IGNORECASE)
# Families of gates, and how a reviewer writes them.
_FAMILIES = {
    "sys_modules": re.compile(r"sys[._]modules", re.IGNORECASE),
    "sys_path": re.compile(r"sys[._]path", re.IGNORECASE),
    "env": re.compile(r"\benv\b|os\.environ|environment variables?", re.IGNORECASE),
    "cwd": re.compile(r"\bcwd\b|working directory", re.IGNORECASE),
    "logging": re.compile(r"\blogging\b", re.IGNORECASE),
    "warnings": re.compile(r"\bwarnings\b", re.IGNORECASE),
    "threads": re.compile(r"\bthreads?\b", re.IGNORECASE),
    "processes": re.compile(r"\b(?:sub)?process(?:es)?\b", re.IGNORECASE),
    "files": re.compile(r"\b(?:leftover|created) files?\b", re.IGNORECASE),
    "control_plane": re.compile(r"control[ _-]plane|state guard", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class References:
    pulls: tuple[int, ...] = ()
    test_files: tuple[str, ...] = ()  # the finding's own first, then those it names
    tests: tuple[str, ...] = ()  # names of test functions
    about_gate: bool = False
    gates: tuple[str, ...] = ()  # families, as in the kinds of leaks


def references(finding: Finding) -> References:
    text = f"{finding.title}\n{finding.detail}"
    files = [finding.path, *files_in(text)]
    test_files = tuple(dict.fromkeys(each for each in files if _TEST_FILE.search(each)))
    about_gate = bool(_GATE.search(finding.title) or _GATE.search(finding.path))
    place = f"{finding.path} {finding.title}"
    gates = [name for name, shape in _FAMILIES.items() if shape.search(place)]
    return References(
        pulls=pulls_in(text),
        test_files=test_files,
        tests=tuple(dict.fromkeys(_TEST.findall(text))),
        about_gate=about_gate,
        gates=tuple(gates) if about_gate else (),
    )


def pulls_in(text: str) -> tuple[int, ...]:
    """The numbers of the pull requests of this repository that the text names."""
    found = (
        int(match["number"])
        for match in _PULL.finditer(text)
        if (match["word"] or "").lower() not in _OTHER
    )
    return tuple(dict.fromkeys(number for number in found if number > 0))
