"""Who reads which kind of file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, BinaryIO

from formats.detection import HEAD, detect
from formats.junit import read_junit
from formats.order import read_order
from formats.report import Note, Rejected
from formats.reportlog import read_reportlog
from formats.reviews.reading import read_review
from ingest.kinds import AUTO, KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.report import Reading

READERS: dict[str, Callable[[BinaryIO], Reading]] = {
    "junit": read_junit,
    "reportlog": read_reportlog,
    "order": read_order,
}
CHECKED_APART = "findings"  # the stage that stores what `check` has checked
FOR_PULLS = "pulls"  # the stage that takes facts of pull requests and commits
MAX_HOOK_BYTES = 32 * 2**20  # GitHub's are capped at 25 MB
_PACKED = (".gz", ".gzip", ".zst", ".zstd")
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def packed_unsaid(name: str, stream: BinaryIO) -> Note | None:
    """Warn of a file that had to be unpacked although its name does not say so."""
    head = stream.read(4)
    stream.seek(0)
    if name.lower().endswith(_PACKED):
        return None
    for magic, word in _MAGIC.items():
        if head.startswith(magic):
            message = f"{name}: packed with {word}, which its name does not say"
            return Note("packed", message)
    return None


def settle(kind: str, name: str, stream: BinaryIO) -> str:
    """Return the kind itself, or the one that the content of an `auto` file shows."""
    if kind != AUTO:
        return kind
    head = stream.read(HEAD)
    stream.seek(0)
    if not head.strip():
        raise Rejected("file is empty")
    found = detect(head, name)
    if found not in KINDS:
        raise Rejected("what kind of file this is cannot be told from its content")
    return found


def check_hook(stream: BinaryIO) -> None:
    """Read the payload of a GitHub or GitLab hook; raise `Rejected` for a bad one."""
    raw = stream.read(MAX_HOOK_BYTES + 1)
    if len(raw) > MAX_HOOK_BYTES:
        raise Rejected(f"longer than {MAX_HOOK_BYTES} bytes")
    try:
        document = json.loads(raw)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg}"
        raise Rejected(message, line=error.lineno, column=error.colno) from error
    except (ValueError, RecursionError) as error:
        raise Rejected(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise Rejected("must be a JSON object")


def check_review(stream: BinaryIO) -> list[Note]:
    """Read a review that a stage above stores; raise `Rejected` for a bad one."""
    return list(read_review(stream).notes)
