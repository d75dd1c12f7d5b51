"""What the members of an exception group say, from the group's printed tree.

Guarantees: a text is a tree only from its first line on, and a member is what stands
behind a branch of it; what a member's words quote is indented by the printer, so it
can open no branch. Whatever cannot be told (a chained, cut or omitted member) is there
as an empty text. Time is linear in the text. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TREE = "+ Exception Group Traceback (most recent call last):"
_SIZE = re.compile(r"\(\d{1,9} sub-exceptions?\)\Z")
_BRANCH = re.compile(r"\+(-\+)?-{16} (?:\d{1,9}|\.\.\.) -{16}\s*\Z")
_TRACEBACKS = frozenset(
    (
        "Traceback (most recent call last):",
        "Exception Group Traceback (most recent call last):",
    )
)
_CHAINED = frozenset(
    (
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:",
    )
)


def members(message: str, text: str) -> Iterator[str]:
    """Yield what each innermost member says, with its type; nothing for another text.

    `message` is the group's own, or empty where the producer wrote none.
    """
    first, _, rest = text.lstrip().partition("\n")
    said = message.strip()
    if first.strip() != _TREE or not (_SIZE.search(said) or first.startswith(said)):
        return
    lines: list[str] | None = None
    for line in rest.split("\n"):
        bare = line.lstrip(" ")
        if bare[:1] == "|":
            if lines is not None:
                lines.append(bare[1:].removeprefix(" "))
            continue
        branch = _BRANCH.match(bare)
        if lines is not None and not (branch and branch[1]):  # else it is a group
            yield _words(lines) if bare[:1] == "+" else ""
        lines = [] if branch else None
        if bare[:1] != "+":
            return
    if lines is not None:
        yield ""  # the text was cut in the middle of it


def _words(lines: Sequence[str]) -> str:
    """The exception below a member's frames, which are indented."""
    if not _CHAINED.isdisjoint(line.strip() for line in lines):
        return ""
    for place, line in enumerate(lines):
        if line[:1].strip() and line not in _TRACEBACKS:
            return "\n".join(lines[place:]).strip()
    return ""
