"""Test cases of one report that only their volatile parts told apart.

Guarantees: they stay different cases, numbered `#1, #2 …` in the order in which the
report tells them, and are never taken for attempts; a warning names the culprits.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from formats.plurals import agree, counted
from formats.report import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.identity import Identity

_NAMED = 5  # examples in a note
_SHOWN = 120  # characters of a name in a note


def number_masked(files: Sequence[list[Identity]]) -> list[Note]:
    """Number, in place, the cases that masking made equal; return the warnings.

    The files come in a fixed order, reports first: theirs is the order that counts.
    """
    masked = [identity for file in files for identity in file if identity.masked]
    if not masked:
        return []
    numbers: dict[str, int] = {}
    for identities in files:
        _number_file(identities, numbers)
    if numbers:
        for identities in files:
            for place, identity in enumerate(identities):
                number = numbers.get(identity.raw) if identity.masked else None
                if number:
                    key = f"{identity.key}#{number}"
                    identities[place] = identity._replace(key=key)
    return _notes(masked, numbers)


def shorten(name: str) -> str:
    """A name, short enough for a note; identity itself never cuts."""
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"


def _number_file(identities: Sequence[Identity], numbers: dict[str, int]) -> None:
    """Number the unmasked names of one file that share a masked one.

    A name that another file has numbered keeps its number: it is the same test.
    """
    names: dict[str, dict[str, None]] = {}
    for identity in identities:
        if identity.masked:
            names.setdefault(identity.key, {})[identity.raw] = None
    for raws in names.values():
        if len(raws) > 1:
            taken = {numbers[raw] for raw in raws if raw in numbers}
            free = (number for number in itertools.count(1) if number not in taken)
            for raw in raws:
                if raw not in numbers:
                    numbers[raw] = next(free)


def _notes(masked: Sequence[Identity], numbers: dict[str, int]) -> list[Note]:
    culprits = {identity.raw: identity for identity in masked}
    examples = [
        f"{shorten(one.nodeid)} ({', '.join(shorten(part) for part in one.masked)})"
        for one in sorted(culprits.values(), key=lambda one: one.raw)[:_NAMED]
    ]
    more = len(culprits) - len(examples)
    text = "; ".join(examples) + (f"; and {more} more" if more > 0 else "")
    whose = agree(len(culprits), "Its identity", "Their identity")
    notes = [
        Note(
            "volatile-names",
            f"{counted(len(culprits), 'test name')} {agree(len(culprits), 'holds', 'hold')} "
            f"parts that change from run to run. {whose} leaves these parts out: {text}",
        )
    ]
    if numbers:
        notes.append(
            Note(
                "numbered-names",
                f"{counted(len(numbers), 'test')} {agree(len(numbers), 'differs', 'differ')} "
                f"only by such parts and {agree(len(numbers), 'is', 'are')} numbered "
                "#1, #2 … in the order of the report",
            )
        )
    return notes
