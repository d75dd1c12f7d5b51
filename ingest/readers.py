"""Who reads which kind of file."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from formats.detection import detect
from formats.junit import read_junit
from formats.order import read_order
from formats.reportlog import read_reportlog
from ingest.kinds import AUTO

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.report import Reading

READERS: dict[str, Callable[[BinaryIO], Reading]] = {
    "junit": read_junit,
    "reportlog": read_reportlog,
    "order": read_order,
}


def settle(kind: str, stream: BinaryIO) -> str:
    """Return the kind itself, or the one that the content of an `auto` file shows."""
    return detect(stream) if kind == AUTO else kind
