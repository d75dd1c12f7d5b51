"""Who reads which kind of file."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from formats.detection import HEAD, detect
from formats.junit import read_junit
from formats.order import read_order
from formats.report import Rejected
from formats.reportlog import read_reportlog
from ingest.kinds import AUTO, KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.report import Reading

READERS: dict[str, Callable[[BinaryIO], Reading]] = {
    "junit": read_junit,
    "reportlog": read_reportlog,
    "order": read_order,
}


def settle(kind: str, name: str, stream: BinaryIO) -> str:
    """Return the kind itself, or the one that the content of an `auto` file shows."""
    if kind != AUTO:
        return kind
    found = detect(stream.read(HEAD), name)
    stream.seek(0)
    if found not in KINDS:
        raise Rejected("what kind of file this is cannot be told from its content")
    return found
