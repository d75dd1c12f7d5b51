"""A project's own patterns of gate failures, none of which can hold anything up.

Guarantees: one look of one pattern at one text ends after 50 ms, all looks of one
upload after two seconds; what was cut off or left out is told in a note, and a pattern
that was cut off three times is not tried again on that upload.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import regex

from formats import recognisers
from formats.gates import ENTRY, MOST_ITEMS, EntryDetail, LeakFact
from formats.plurals import agree, counted
from formats.report import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.recognisers import Carrier
    from formats.said import Said

GROUPS = frozenset({"test", "items", "count", "path", "reason", "recipe"})
MOST_PATTERN = 1_000
MOST_PATTERNS = 20
PER_TEXT = 0.05
PER_UPLOAD = 2.0
_MOST_TIMEOUTS = 3


class PatternError(ValueError):
    """A pattern that cannot be used; says why."""


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """A pattern as the settings hold it. With `session` its leaks have no test."""

    name: str
    kind: str
    pattern: str
    session: bool = False


def compiled(own: OwnPattern) -> regex.Pattern[str]:
    """Compile a pattern, or raise `PatternError` in words for its author."""
    if not own.pattern.strip():
        raise PatternError("the pattern is empty")
    if len(own.pattern) > MOST_PATTERN:
        raise PatternError(f"the pattern is longer than {MOST_PATTERN:,} characters")
    try:
        pattern = regex.compile(own.pattern)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise PatternError(f"no regular expression: {error}") from error
    unknown = sorted(set(pattern.groupindex) - GROUPS)
    if unknown:
        known = ", ".join(sorted(GROUPS))
        raise PatternError(f"unknown group {unknown[0]!r}; there are: {known}")
    return pattern


class OwnPatterns:
    """A project's patterns at work on one upload."""

    def __init__(
        self,
        patterns: Sequence[OwnPattern],
        *,
        per_text: float = PER_TEXT,
        per_upload: float = PER_UPLOAD,
    ) -> None:
        self._per_text = per_text
        self._left = per_upload
        self._timeouts: dict[str, int] = {}
        self._left_out = 0
        self._broken: list[str] = []
        self._table: list[tuple[OwnPattern, regex.Pattern[str]]] = []
        for own in patterns[:MOST_PATTERNS]:
            try:
                self._table.append((own, compiled(own)))
            except PatternError as error:
                self._broken.append(f"{own.name}: {error}")

    def add(
        self,
        told: Sequence[Said],
        leaks: Sequence[list[LeakFact] | None],
        carrier: Carrier,
    ) -> list[list[LeakFact] | None]:
        """Try the patterns on the exceptions that no other one has recognised."""
        found = list(leaks)
        for own, pattern in self._table:
            if self._timeouts.get(own.name, 0) >= _MOST_TIMEOUTS:
                continue
            left = self._per_text  # for all places of the one text together
            for place, one in enumerate(told):
                if found[place] is None and left > 0:
                    spent, match = self._look(own, pattern, one.text, left)
                    left -= spent
                    if match is not None:
                        found[place] = _leaks_of(own, match, one, carrier)
        return found

    def _look(
        self, own: OwnPattern, pattern: regex.Pattern[str], text: str, left: float
    ) -> tuple[float, regex.Match[str] | None]:
        if self._left <= 0:
            self._left_out += 1
            return left, None
        start = time.perf_counter()
        match = None
        try:
            match = pattern.match(text, timeout=min(left, self._left))
        except TimeoutError:
            self._timeouts[own.name] = self._timeouts.get(own.name, 0) + 1
        spent = time.perf_counter() - start
        self._left -= spent
        return spent, match

    def notes(self) -> list[Note]:
        """Say what was cut off, left out or could not be used."""
        told = [
            Note(
                "recogniser-too-slow",
                f"the recogniser {name!r} took longer than "
                f"{self._per_text * 1000:.0f} ms on {counted(count, 'text')} and was cut off",
            )
            for name, count in sorted(self._timeouts.items())
        ]
        if self._left_out:
            verb = agree(self._left_out, "was", "were")
            text = f"{counted(self._left_out, 'text')} {verb} not shown to the "
            text += "project's own recognisers: their time for this upload was used up"
            told.append(Note("recogniser-budget", text))
        return told + [
            Note("recogniser-broken", f"the recogniser {one}") for one in self._broken
        ]


def _leaks_of(
    own: OwnPattern, match: regex.Match[str], told: Said, carrier: Carrier
) -> list[LeakFact] | None:
    """The leak that a match is; None where it names another test than the carrier."""
    groups = {name: text or "" for name, text in match.groupdict().items()}
    nodeid = recognisers.squeezed(groups.get("test", ""))
    if own.session:
        nodeid = ""
    elif nodeid and not recognisers.is_carried(nodeid, carrier):
        return None
    items = [one for one in _separated(groups.get("items", "")) if one]
    count = groups.get("count", "")
    number = (
        int(count) if count.isascii() and count.isdigit() and len(count) < 10 else 0
    )
    path = groups.get("path", "").strip()
    detail = EntryDetail(path, groups.get("reason", "").strip()) if path else None
    if detail and not items:
        items = [path]
    return [
        LeakFact(
            test_nodeid=None if own.session else nodeid or carrier.nodeid,
            kind=own.kind or ENTRY,
            gate=own.name,
            items=tuple(items[:MOST_ITEMS]),
            item_count=max(number, len(items)),
            phase=told.phase,
            message=recognisers.squeezed(match[0]),
            recipe=(groups.get("recipe") or told.text[match.end() :]).strip(),
            detail=detail,
        )
    ]


def _separated(text: str) -> list[str]:
    separator = "," if "," in text else None
    return [one.strip() for one in text.split(separator)]
