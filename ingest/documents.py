"""The files of an upload that a stage above reads, each as a stream.

Guarantees: the bytes are those that were sent; a file whose kind cannot be told is left
out here, for it was rejected when the upload was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, BinaryIO, cast

from formats.report import Rejected
from ingest import bodies, readers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ingest.models import Upload

IN_MEMORY = 16 * 2**20  # a file beyond this is spooled to the disk


@dataclass(frozen=True, slots=True)
class Document:
    """`n` counts the files of its upload from 1; the stream is read while it is new."""

    n: int
    kind: str
    name: str
    stream: BinaryIO


def documents(upload: Upload, kinds: Collection[str]) -> Iterator[Document]:
    """Yield the files of these kinds, one at a time, in the order of the body."""
    for entry, part in bodies.files(upload):
        if entry["kind"] not in (*kinds, "auto"):
            continue
        with SpooledTemporaryFile(max_size=IN_MEMORY) as spool:
            for chunk in part.chunks():
                spool.write(chunk)
            spool.seek(0)
            stream = cast(BinaryIO, spool)
            try:
                kind = readers.settle(entry["kind"], entry["name"], stream)
            except Rejected:
                continue
            if kind in kinds:
                yield Document(entry["n"], kind, entry["name"], stream)
