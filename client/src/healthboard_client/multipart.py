"""The body of an upload: multipart, gzipped, written to a file block by block.

Guarantees: no file is ever held in memory; a file that changes or vanishes while it is
read makes no half part, the whole body is refused.
"""

from __future__ import annotations

import gzip
import json
import secrets
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from healthboard_client.files import Report

BLOCK = 256 * 1024
# Reports shrink about twentyfold at any level; the fastest third costs CI the least.
LEVEL = 4


def new_boundary() -> str:
    return f"healthboard-{secrets.token_hex(16)}"


def write_body(
    target: IO[bytes],
    context: dict[str, Any],  # Any: JSON
    reports: Iterable[Report],
    *,
    boundary: str,
) -> None:
    """Write the gzipped body of one upload."""
    text = json.dumps(context, ensure_ascii=False, sort_keys=True).encode()
    # Without a time and a name in it, the same upload is the same bytes.
    with gzip.GzipFile("", "wb", LEVEL, target, mtime=0) as packed:
        packed.write(_head(boundary, "context") + text + b"\r\n")
        for report in reports:
            packed.write(_head(boundary, report.kind, report.name))
            with report.path.open("rb") as file:
                while block := file.read(BLOCK):
                    packed.write(block)
            packed.write(b"\r\n")
        packed.write(f"--{boundary}--\r\n".encode())


def _head(boundary: str, name: str, filename: str = "") -> bytes:
    named = f'; filename="{_quoted(filename)}"' if filename else ""
    line = f'Content-Disposition: form-data; name="{name}"{named}'
    return f"--{boundary}\r\n{line}\r\n\r\n".encode(errors="surrogateescape")


def _quoted(filename: str) -> str:
    """Spell a file name as browsers do, so that it cannot end the header."""
    for sign, spelled in (('"', "%22"), ("\r", "%0D"), ("\n", "%0A")):
        filename = filename.replace(sign, spelled)
    return filename
