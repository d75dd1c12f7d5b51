"""Reading one upload's body: what its parts are, while its bytes go to the disk.

Guarantees: each byte is read once; only the context is held in memory, up to its cap;
nothing but the names of kinds passes as a part.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from formats.context import MAX_CONTEXT_BYTES, Context, read_context
from formats.multiparts import Part, read_parts
from formats.unpacking import Unfit, known_encoding, unpack
from ingest.bodies import CONTEXT, FileEntry, parts_of_delivery
from ingest.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_NAME = 300

_CONTROL = re.compile("[\x00-\x1f\x7f]")


@dataclass(slots=True)
class Received:
    """What was read of a body so far; after a `BodyError` it is what came before."""

    context: bytes | None = None
    files: list[FileEntry] = field(default_factory=list)
    unpacked: int = 0


def read_body(
    blocks: Iterable[bytes],
    into: Received,
    *,
    content_type: str,
    content_encoding: str,
    most: int,
) -> None:
    """Read an upload's body to its end; raise a `BodyError` for one that is refused."""
    unpacked = unpack(blocks, known_encoding(content_encoding), most=most)
    counted = _counted(unpacked, into)
    for part in read_parts(counted, content_type=content_type):
        if part.name == CONTEXT:
            _take_context(part, into)
        elif part.name in KINDS:
            into.files.append(_take_file(part, n=len(into.files) + 1))
        else:
            name = _CONTROL.sub("�", part.name[:100])
            known = ", ".join((CONTEXT, *KINDS))
            raise Unfit(f"there is no part {name!r}; the parts are {known}", field=name)
    if not into.files:
        raise Unfit(
            f"no file was sent; name its part by its kind: {', '.join(KINDS)}",
            field="file",
        )


def read_delivery(
    blocks: Iterable[bytes],
    into: Received,
    *,
    kind: str,
    content_type: str,
    content_encoding: str,
    most: int,
) -> None:
    """Read the body of a webhook to its end, as `read_body` does: one file."""
    unpacked = unpack(blocks, known_encoding(content_encoding), most=most)
    counted = _counted(unpacked, into)
    for part in parts_of_delivery(counted, kind=kind, content_type=content_type):
        if part.name == CONTEXT:
            _take_context(part, into)
        else:
            into.files.append(_take_file(part, n=1))


def settle_context(raw: bytes | None, *, slug: str) -> Context:
    """Read the context; it then names its project also where the sender did not."""
    context = read_context(raw) if raw is not None else Context()
    return replace(context, project=context.project or slug)


def digest_of(context: Context, files: list[FileEntry]) -> str:
    """Digest what an upload says: not its boundaries, encoding or order of parts."""
    named = sorted([entry["kind"], entry["name"], entry["sha256"]] for entry in files)
    said = context.canonical() + b"\n" + json.dumps(named).encode()
    return hashlib.sha256(said).hexdigest()


def stored_context(context: Context) -> dict[str, Any]:  # Any: JSON
    """Return a context as JSON that `read_context` reads back to the same value."""
    values = json.loads(context.canonical())
    return {key: value for key, value in values.items() if value not in ("", None)}


def _counted(blocks: Iterable[bytes], into: Received) -> Iterator[bytes]:
    for block in blocks:
        into.unpacked += len(block)
        yield block


def _take_context(part: Part, into: Received) -> None:
    if into.context is not None:
        raise Unfit("the context was sent twice", field=CONTEXT)
    raw = bytearray()
    for chunk in part.chunks():
        raw += chunk
        if len(raw) > MAX_CONTEXT_BYTES:
            message = f"the context is longer than {MAX_CONTEXT_BYTES} bytes"
            raise Unfit(message, field=CONTEXT)
    into.context = bytes(raw)


def _take_file(part: Part, *, n: int) -> FileEntry:
    name = _CONTROL.sub("�", part.filename) or part.name
    if len(name) > MAX_NAME:
        message = f"the name of file {n} is longer than {MAX_NAME} characters"
        raise Unfit(message, field=part.name)
    digest = hashlib.sha256()
    size = 0
    for chunk in part.chunks():
        digest.update(chunk)
        size += len(chunk)
    return {
        "n": n,
        "kind": part.name,
        "name": name,
        "size": size,
        "sha256": digest.hexdigest(),
    }
