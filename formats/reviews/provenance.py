"""The line of a review that says how it came to be.

Guarantees: every part is optional, in any order, behind any of the separators; a part
that cannot be read is left out and noted, and never spoils the others.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from formats.report import Note
from formats.reviews.review import MOST_NAME, MOST_REVIEWERS, Provenance

if TYPE_CHECKING:
    from collections.abc import Callable

_LINE = re.compile(r"[\W_]{0,20}(?:FleetReview\s{1,3})?provenance\b", re.IGNORECASE)
_KEY = re.compile(
    r"\b(?P<key>models?|cost|duration|rounds?|files\s?examined)\s{0,3}[:=]",
    re.IGNORECASE,
)
_MOST_KEYS = 50
_SPLIT = re.compile(r"[·|,;]")
_COST = re.compile(
    r"(?:US)?\$?\s?(?P<amount>\d{1,3}(?:,\d{3}){1,3}(?:\.\d{1,9})?|\d{1,12}(?:\.\d{1,9})?)"
    r"(?:\s?(?:USD|US\$|\$))?(?![\w.])",
    re.IGNORECASE,
)
_STRETCH = re.compile(
    r"(?P<number>\d{1,9}(?:\.\d{1,9})?)\s?"
    r"(?P<unit>milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b"
    r"\s{0,3}",
    re.IGNORECASE,
)
_SECONDS = {"ms": 0.001, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_COUNT = re.compile(r"(\d{1,9})(?![\w.])")


def is_provenance(line: str) -> bool:
    match = _LINE.match(line)
    if match is None:
        return False
    # "Provenance of the fixture is unclear" is prose.
    return "fleetreview" in match[0].lower() or bool(_KEY.search(line))


def read_provenance(line: str, *, number: int) -> tuple[Provenance, list[Note]]:
    """Read the parts of the line; `number` is its own, for the notes."""
    plain = line.replace("*", "").replace("`", "")
    keys = list(islice(_KEY.finditer(plain), _MOST_KEYS))
    ends = [*(key.start() for key in keys), len(plain)][1:] if keys else []
    found: dict[str, object] = {}
    notes = []
    for key, end in zip(keys, ends, strict=True):
        name = " ".join(key["key"].lower().split())
        field, read = _READERS["models" if name == "model" else name]
        value = read(plain[key.end() : end].strip(" \t·|,;"))
        if value is None:
            message = f"{name} of the provenance cannot be read"
            notes.append(Note("provenance-unreadable", message, number))
        else:
            found.setdefault(field, value)
    # Each reader returns its field's own type.
    return Provenance(**found), notes  # type: ignore[arg-type]


def _models(text: str) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for part in _SPLIT.split(text)[:MOST_REVIEWERS]:
        reviewer, equals, model = part.partition("=")
        name = " ".join(reviewer.split())[:MOST_NAME]
        if equals and name:
            found[name] = " ".join(model.split())[:MOST_NAME]
    return found or None


def _cost(text: str) -> float | None:
    match = _COST.match(text)
    return float(match["amount"].replace(",", "")) if match else None


def _duration(text: str) -> float | None:
    total, position = 0.0, 0
    while match := _STRETCH.match(text, position):
        unit = match["unit"].lower()
        seconds = _SECONDS["ms" if unit.startswith(("ms", "mil")) else unit[0]]
        total += float(match["number"]) * seconds
        position = match.end()
    return total if position else None


def _count(text: str) -> int | None:
    match = _COUNT.match(text)
    return int(match[1]) if match else None


_READERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "models": ("models", _models),
    "cost": ("cost_usd", _cost),
    "duration": ("duration_s", _duration),
    "round": ("rounds", _count),
    "rounds": ("rounds", _count),
    "files examined": ("files_examined", _count),
    "filesexamined": ("files_examined", _count),
}
