"""What makes two failures the same failure.

Guarantees: the digest comes from the exception with its message, volatile parts
masked, and from the innermost frames of the project; line numbers, addresses and
libraries never matter. Time is linear in the text, of which only two ends are read.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from formats.frames import project_frames
from formats.volatile import mask_message

if TYPE_CHECKING:
    from collections.abc import Sequence

# Stored with each digest. Changing what goes into one means: a new number, and
# failures are grouped anew.
VERSION = 1

_MESSAGE = 2_000
_TITLE = 200
_ENDS = 16 * 1024
_FRAMES = 3
_WRAPPED = re.compile(r'failed on (?:setup|teardown) with "(.*?)"?\Z', re.DOTALL)
_ERROR_LINE = re.compile(r"E {2,}(\S.*)")
_NAMED_ERROR = re.compile(
    r"(?:Caused by: |Uncaught |thread '[^']{0,200}' panicked at )?"
    r"((?:[A-Za-z_$][\w$]*[.:]{1,2}){0,20}[A-Z][\w$]*"
    r"(?:Error|Exception|Failure|Failed|Warning|Interrupt|Exit)\b.*)"
)
_WIDTH = 2_000  # of a longer line the rest is not read
_SPACE = re.compile(r"\s+")


class Fingerprint(NamedTuple):
    """`digest` is equal for the same failure; `title` is for people."""

    digest: bytes
    version: int
    title: str


def fingerprint(
    message: str, text: str, *, project_markers: Sequence[str] = ()
) -> Fingerprint:
    """Fingerprint a failure by its message and its text (traceback and output).

    `project_markers` are parts of paths or packages that belong to the project, where
    a frame would otherwise be taken for a library's.
    """
    ends = text if len(text) <= 2 * _ENDS else f"{text[:_ENDS]}\n{text[-_ENDS:]}"
    told = _exception(message, ends)
    masked = mask_message(_SPACE.sub(" ", told[:_MESSAGE])).strip()
    frames = project_frames(ends, markers=project_markers, most=_FRAMES)
    content = "\n".join((f"v{VERSION}", masked, *frames))
    digest = hashlib.blake2b(
        content.encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()
    return Fingerprint(digest, VERSION, _title(masked, frames))


def _exception(message: str, text: str) -> str:
    """The exception and its message, wherever the producer wrote them."""
    message = message.strip()
    wrapped = _WRAPPED.match(message)
    if wrapped:
        message = wrapped[1]
    if message:
        return message
    # Line by line: a pattern that runs over line ends can take quadratic time.
    lines = [line[:_WIDTH].strip() for line in text.splitlines()]
    for pattern in (_ERROR_LINE, _NAMED_ERROR):
        for line in lines:
            found = pattern.match(line)
            if found:
                return found[1]
    return next((line for line in lines if line), "")


def _title(masked: str, frames: Sequence[str]) -> str:
    title = masked or (frames[-1] if frames else "no message")
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
