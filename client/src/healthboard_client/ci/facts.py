"""What a CI may say, in one form for all of them.

Guarantees: nothing is guessed; what a CI does not say stays empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Environ = Mapping[str, str]
Load = Callable[[str], str]

_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Facts:
    """Fields of the upload's context as far as a CI knows them."""

    provider: str = ""
    run: str = ""
    attempt: int = 1
    job: str = ""
    shard: tuple[int, int] | None = None  # (index from 1, count)
    branch: str = ""
    commit: str = ""
    head_sha: str = ""
    base_sha: str = ""
    pr: int | None = None
    base_branch: str = ""
    merge_base: str = ""
    committed_at: str = ""
    started_at: str = ""
    ci_url: str = ""


def load(path: str) -> str:
    """Return the text of a file that a CI names; "" where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace") if path else ""
    except OSError:
        return ""


def number(text: str | None) -> int | None:
    """Return a positive number, or None for anything else."""
    if text is None or not _NUMBER.fullmatch(text.strip()):
        return None
    return int(text) or None


def last_number(text: str | None) -> int | None:
    """Return the number at the end of an address such as …/pull/538."""
    return number((text or "").rstrip("/").rpartition("/")[2])


def shard_of(
    index: str | None, count: str | None, *, first: int
) -> tuple[int, int] | None:
    """Return index and count where there are several; `first` is the CI's first index."""
    of = number(count)
    if of is None or of < 2 or index is None or not _NUMBER.fullmatch(index):
        return None
    place = int(index) - first + 1
    return (place, of) if 1 <= place <= of else None


def branch_of(ref: str | None) -> str:
    """Return the branch that a full ref or a short name names."""
    text = ref or ""
    if text.startswith(("refs/tags/", "refs/pull/", "refs/merge-requests/")):
        return ""
    return text[len("refs/heads/") :] if text.startswith("refs/heads/") else text
