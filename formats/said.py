"""Where a failure's text *is* its exception, and where it only quotes one.

Guarantees: an exception stands at the start of the message (pytest's words for a
broken teardown aside), at the first line of a block of pytest's `E` lines, or at a
branch of a printed exception group; nothing else of a text is ever taken for one. Time is linear in the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from formats.said_groups import members

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_READ = 64 << 10  # characters of a message or text
_MOST_BLOCKS = 50
TEARDOWN = "failed on teardown with"
_WRAPPED = re.compile(TEARDOWN + r'\s+"')
_TYPE = re.compile(r"[A-Za-z_][\w.]{0,200}:\s+")
_RUN = re.compile(r"E[ \t][^\n]*(?:\nE(?:[ \t][^\n]*)?(?=\n|\Z))*")
_FIRST_LINE = re.compile(r"E\s+[A-Za-z_][\w.]{0,200}:(?:\s|\Z)")


class Said(NamedTuple):
    """An exception's own text, without its type."""

    text: str
    in_message: bool
    phase: str = ""
    member: bool = False  # of an exception group


def said(message: str, text: str) -> Iterator[Said]:
    """Yield the exceptions that a failure tells of, the message's first."""
    whole = message[:MOST_READ].strip()
    phase = ""
    wrapped = _WRAPPED.match(whole)
    if wrapped:
        phase = "teardown"
        whole = whole[wrapped.end() :].removesuffix('"')
    if whole:
        yield Said(_untyped(whole), True, phase)
    for block in _blocks(text[:MOST_READ]):
        yield Said(_untyped(block), False, phase)
    for one in members(whole, text[:MOST_READ]):
        yield Said(_untyped(one), False, phase, member=True)


def _untyped(text: str) -> str:
    kind = _TYPE.match(text)
    return text[kind.end() :] if kind else text


def _blocks(text: str) -> Iterator[str]:
    """Yield each run of `E` lines that begins with an exception's type."""
    found = 0
    at = 0 if text[:1] == "E" else text.find("\nE") + 1 or -1
    while at >= 0 and found < _MOST_BLOCKS:
        run = _RUN.match(text, at)
        if run and _FIRST_LINE.match(run[0]):
            found += 1
            yield _dedented([line[1:] for line in run[0].splitlines()])
        at = text.find("\nE", run.end() if run else at) + 1 or -1


def _dedented(block: list[str]) -> str:
    """The lines without pytest's own indentation, that of the first one."""
    indent = len(block[0]) - len(block[0].lstrip())
    return "\n".join(
        line[indent:] if not line[:indent].strip() else line.lstrip() for line in block
    ).strip()
