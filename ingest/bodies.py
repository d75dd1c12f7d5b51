"""The body files of uploads: kept as they were sent, below the inbox directory.

Guarantees: a body that `settle` returned for is on the disk, with its name; a draft
that nobody settled leaves no file behind.
"""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, TypedDict

from django.conf import settings

from formats.multiparts import Part, read_parts
from formats.payloads import read_payload
from formats.unpacking import BLOCK, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from ingest.models import Upload


CONTEXT = "context"  # the one part that is no file


# What the one file of a webhook's upload is called; reviews come in several forms.
_NAMES = {
    "gate": "gate.json",
    "effects": "effects.jsonl",
    "review": "review",
    "github": "github.json",
    "gitlab": "gitlab.json",
}


class FileEntry(TypedDict):
    """One file of an upload, as `Upload.files` holds it."""

    n: int
    kind: str
    name: str
    size: int
    sha256: str


class WriteRefused(Exception):
    """The body could not be written: a full disk, or none at all."""


class BodyGone(LookupError):
    """The body was deleted by retention, or there is no such part in it."""


class Draft:
    """A body that is being received."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self.name = name
        self.kept = False
        self._file = file

    def write(self, block: bytes) -> None:
        try:
            self._file.write(block)
        except OSError as error:
            raise WriteRefused(str(error)) from error

    def again(self) -> Iterator[bytes]:
        """Yield what was written."""
        try:
            self._file.seek(0)  # writes what is still buffered
        except OSError as error:
            raise WriteRefused(str(error)) from error
        while block := self._file.read(BLOCK):
            yield block

    def settle(self) -> None:
        """Bring the bytes and the name to the disk."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            _sync_directory(_path(self.name).parent)
        except OSError as error:
            raise WriteRefused(str(error)) from error


@contextmanager
def draft(now: datetime) -> Iterator[Draft]:
    """Open a new body; its file goes away again unless `kept` is set."""
    name = f"{now:%Y-%m-%d}/{uuid.uuid4().hex}"
    try:
        _make_directory(_path(name).parent)
        file = _path(name).open("x+b")
    except OSError as error:
        raise WriteRefused(str(error)) from error
    body = Draft(name, file)
    try:
        yield body
    finally:
        # After `settle` nothing is left to write. Without it the file goes away, and
        # what cannot be removed now is swept later.
        with suppress(OSError):
            file.close()
        if not body.kept:
            with suppress(OSError):
                delete(name)


def delete(name: str) -> None:
    """Remove a body; one that is not there is as good as removed."""
    _path(name).unlink(missing_ok=True)


def open_raw(upload: Upload) -> BinaryIO:
    """Open the body as it was sent."""
    if upload.body_deleted_at is not None:
        raise BodyGone(f"the body of upload {upload.pk} was deleted by retention")
    try:
        return _path(upload.body).open("rb")
    except FileNotFoundError as error:
        raise BodyGone(f"the body of upload {upload.pk} is not there") from error


def files(upload: Upload) -> Iterator[tuple[FileEntry, Part]]:
    """Yield each file of an upload: its entry in `Upload.files`, and its part."""
    yield from _files(upload, open_raw(upload))


def open_file(upload: Upload, n: int) -> Iterator[bytes]:
    """Yield the unpacked bytes of file `n`, counted from 1."""
    if not 1 <= n <= len(upload.files):
        raise BodyGone(f"upload {upload.pk} has no file {n}")
    return _one_file(upload, open_raw(upload), n)


def _one_file(upload: Upload, raw: BinaryIO, n: int) -> Iterator[bytes]:
    for entry, part in _files(upload, raw):
        if entry["n"] == n:
            yield from part.chunks()
            return


def _files(upload: Upload, raw: BinaryIO) -> Iterator[tuple[FileEntry, Part]]:
    entries = iter(upload.files)
    with raw:
        blocks = iter(lambda: raw.read(BLOCK), b"")
        unpacked = unpack(blocks, upload.encoding, most=upload.unpacked_bytes)
        for part in _parts(upload, unpacked):
            if part.name != CONTEXT:
                yield next(entries), part


def parts_of_delivery(
    blocks: Iterable[bytes], *, kind: str, content_type: str
) -> Iterator[Part]:
    """Yield the parts of an unpacked body that came to a route of this kind."""
    filename = _NAMES[kind]
    return read_payload(blocks, name=kind, filename=filename, content_type=content_type)


def _parts(upload: Upload, blocks: Iterator[bytes]) -> Iterator[Part]:
    kind = upload.content_type
    if upload.route_id is None:
        return read_parts(blocks, content_type=kind)
    [entry] = upload.files
    return parts_of_delivery(blocks, kind=entry["kind"], content_type=kind)


def _path(name: str) -> Path:
    inbox: Path = settings.INBOX_DIR
    return inbox / name


def _make_directory(path: Path) -> None:
    if path.is_dir():
        return
    missing = [path]
    while not missing[-1].parent.is_dir():
        missing.append(missing[-1].parent)
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        _sync_directory(each.parent)


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
