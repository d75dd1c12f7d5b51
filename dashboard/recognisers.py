"""A project's own recognisers: the form, and what a pattern finds in a sample. Pure.

Guarantees: a preview is what an upload would give: the sample goes through the same
reader, rules and time limits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from django import forms

from formats.assembly import assemble
from formats.junit import read_junit
from formats.own_patterns import (
    MOST_PATTERN,
    OwnPattern,
    OwnPatterns,
    PatternError,
    compiled,
)
from formats.recognisers import Carrier, Recognisers
from formats.report import Rejected

if TYPE_CHECKING:
    from formats.gates import LeakFact

_NODEID = re.compile(r"\S+::([^\s:]+)")
_KIND = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)+")


@dataclass(frozen=True, slots=True)
class Preview:
    """What a pattern makes of a sample. `own`: leaks that the pattern itself found."""

    leaks: list[LeakFact]
    own: int
    notes: list[str]


class RecogniserForm(forms.Form):
    """A new recogniser, and the sample on which it is tried."""

    name = forms.SlugField(max_length=60, help_text="What the gate is called.")
    kind = forms.RegexField(
        _KIND,
        max_length=100,
        help_text="family.change, for example threads.alive",
        error_messages={"invalid": "Use words with dots, for example threads.alive."},
    )
    pattern = forms.CharField(
        max_length=MOST_PATTERN,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="A regular expression that the exception's text begins with. Named"
        " groups: test, items, count, path, reason, recipe.",
    )
    session = forms.BooleanField(
        required=False, label="It speaks of the whole session, not of one test"
    )
    sample = forms.CharField(
        max_length=200_000,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text="Paste a failure's message or text, or a JUnit report that holds one.",
    )

    def clean_pattern(self) -> str:
        pattern: str = self.cleaned_data["pattern"]
        try:
            compiled(OwnPattern("new", "new.one", pattern))
        except PatternError as error:
            raise forms.ValidationError(f"This is {error}.") from error
        return pattern

    def recogniser(self) -> OwnPattern:
        data: dict[str, Any] = self.cleaned_data  # Any: as Django has it
        return OwnPattern(data["name"], data["kind"], data["pattern"], data["session"])


def preview(own: OwnPattern, sample: str) -> Preview:
    """Try a pattern on a sample."""
    patterns = OwnPatterns([own])
    try:
        leaks = _leaks(sample, patterns)
        notes = [note.message for note in patterns.notes()]
    except Rejected as refused:
        leaks, notes = [], [f"The sample is no report that can be read: {refused}"]
    return Preview(leaks, sum(leak.gate == own.name for leak in leaks), notes)


def _leaks(sample: str, patterns: OwnPatterns) -> list[LeakFact]:
    if sample.lstrip().startswith("<"):
        reading = read_junit(BytesIO(sample.encode("utf-8", "replace")))
        told = assemble([("junit", "sample", reading)], own_patterns=patterns)
        return [leak.fact for leak in told.leaks]
    named = _NODEID.search(sample)
    carrier = Carrier(named[1] if named else "", named[0] if named else "")
    found = Recognisers(patterns).find(sample, sample, carrier)
    return list(found.leaks) if found else []
