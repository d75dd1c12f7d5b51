"""The order of `formats.reviews.ranking` as one text that a database sorts by.

Guarantees: two texts compare as the facts rank, but for the path, of which only the
beginning counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from formats.reviews.ranking import Facts

_MOST = 9_999
_PATH = 150


def rank_of(facts: Facts) -> str:
    """Return the text; the smaller, the more pressing."""
    agreeing = _MOST - min(len(facts.reviewers), _MOST)
    confidence = facts.confidence.share if facts.confidence else 0.0
    share = _MOST - min(max(round(confidence * 1_000), 0), _MOST)
    victims = _MOST - min(facts.victims, _MOST)
    due = f"{facts.due:%Y%m%d%H%M%S}" if facts.due else "9" * 14
    line = min(facts.line or 0, 10**9)
    path = facts.path[:_PATH].replace("\0", "")
    return (
        f"{facts.severity.step}{0 if facts.blocks else 1}{agreeing:04}{share:04}"
        f"{victims:04}{due}{path}:{line:010}"
    )
