"""Numbers with their nouns, as the notes of a reading say them. Pure."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return "1 test" or "1,204 tests"; `plural` where the noun does not take an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def agree(number: int, one: str, many: str) -> str:
    """Return the verb that goes with that many."""
    return one if number == 1 else many
