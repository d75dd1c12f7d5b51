"""Test cases of one upload that only their volatile parts told apart.

Guarantees: they stay different cases, numbered `#1, #2 …` in the order in which the
files tell them, and are never taken for attempts; a warning names the culprits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.report import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.identity import Identity

_NAMED = 5  # examples in a note
_SHOWN = 120  # characters of a name in a note


def number_masked(files: Sequence[list[Identity]]) -> list[Note]:
    """Number, in place, the cases that masking made equal; return the warnings."""
    masked = [
        (place, identity)
        for identities in files
        for place, identity in enumerate(identities)
        if identity.masked
    ]
    if not masked:
        return []
    numbers = _numbers(masked)
    if numbers:
        for identities in files:
            for place, identity in enumerate(identities):
                number = numbers.get(identity.raw) if identity.masked else None
                if number:
                    identities[place] = identity._replace(
                        key=f"{identity.key}#{number}"
                    )
    return _notes([identity for _, identity in masked], numbers)


def shorten(name: str) -> str:
    """A name, short enough for a note; identity itself never cuts."""
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"


def _numbers(masked: Sequence[tuple[int, Identity]]) -> dict[str, int]:
    """Number each unmasked name whose masked one it shares, by its first place."""
    first: dict[str, dict[str, int]] = {}
    for place, identity in masked:
        raws = first.setdefault(identity.key, {})
        raws[identity.raw] = min(place, raws.get(identity.raw, place))
    return {
        raw: number
        for raws in first.values()
        if len(raws) > 1
        for number, raw in enumerate(sorted(raws, key=lambda r: (raws[r], r)), 1)
    }


def _notes(masked: Sequence[Identity], numbers: dict[str, int]) -> list[Note]:
    culprits = {identity.raw: identity for identity in masked}
    examples = [
        f"{shorten(one.nodeid)} ({', '.join(shorten(part) for part in one.masked)})"
        for one in sorted(culprits.values(), key=lambda one: one.raw)[:_NAMED]
    ]
    more = len(culprits) - len(examples)
    text = "; ".join(examples) + (f"; and {more} more" if more > 0 else "")
    notes = [
        Note(
            "volatile-names",
            f"{len(culprits)} test name(s) hold parts that change from run to run. "
            f"Their identity leaves these parts out: {text}",
        )
    ]
    if numbers:
        notes.append(
            Note(
                "numbered-names",
                f"{len(numbers)} tests differ only by such parts and are numbered "
                "#1, #2 … in their order in the report",
            )
        )
    return notes
