"""What assembling an upload has to tell, in words and with examples.

Guarantees: each kind of thing is one note per file or upload, with its number and at
most a few examples, however many tests it concerns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.masked_names import shorten
from formats.plurals import agree, counted
from formats.repeats import Repeats
from formats.report import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from formats.folding import Folding
    from formats.joining import Told

_NAMED = 5  # examples in a note
_MEANING = {
    Repeats.ATTEMPTS: "taken as attempts of one test: the last result counts",
    Repeats.INVOCATIONS: "taken as invocations of one test: the worst result counts",
}


def say_repeats(foldings: Iterable[Folding]) -> list[Note]:
    """What the repeated ids of each file were taken for."""
    return [
        Note(
            "repeated-ids",
            f"{counted(len(names), 'test')} {agree(len(names), 'stands', 'stand')} more "
            f"than once in {folding.label}, "
            f"{_MEANING[rule]}: {_examples(names)}",
        )
        for folding in foldings
        for rule, names in sorted(folding.rules.items())
    ]


def say_conflicts(tests: Iterable[Told]) -> list[Note]:
    """Tests of which two files tell different things."""
    told = [
        f"{shorten(one.identity.nodeid)} ({one.conflict})"
        for one in tests
        if one.conflict
    ]
    if not told:
        return []
    verb = agree(len(told), "has", "have")
    message = f"{counted(len(told), 'test')} {verb} different results in the files "
    message += f"of this upload, the worse one counts: {_examples(told)}"
    return [Note("conflicting-results", message)]


def say_one_sided(in_report: Sequence[Told], in_trace: Sequence[Told]) -> list[Note]:
    """Tests that only the report, or only the trace, tells of."""
    sides = (
        ("only-in-report", "report", "trace", in_report),
        ("only-in-trace", "trace", "report", in_trace),
    )
    return [
        Note(
            code,
            f"{counted(len(told), 'test')} {agree(len(told), 'is', 'are')} in the {here} "
            f"and not in the {there}: "
            f"{_examples([one.identity.nodeid for one in told])}",
        )
        for code, here, there, told in sides
        if told
    ]


def _examples(names: Sequence[str]) -> str:
    shown = [shorten(name) for name in sorted(names)[:_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
