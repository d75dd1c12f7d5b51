"""A share with its 95 % interval, laid out to be drawn as a line with a dot. Pure.

Each drawing stands beside a sentence and a table that say the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.wording import percent
from results.rates import beta_rate

if TYPE_CHECKING:
    from leaks.shapes import PairRow


@dataclass(frozen=True, slots=True)
class Interval:
    """`dot`, `low` and `width` are hundredths of the drawing's length."""

    label: str
    hits: int
    of: int
    dot: float
    low: float
    high: float
    words: str


def of_share(label: str, hits: int, of: int) -> Interval:
    """Lay out `hits` of `of`; without a trial the interval is everything."""
    rate = beta_rate(hits, of)
    if rate is None:
        return Interval(label, hits, of, 50.0, 0.0, 100.0, "never seen")
    words = (
        f"{percent(hits / of)}, between {percent(rate.low)} and {percent(rate.high)}"
    )
    return Interval(
        label,
        hits,
        of,
        round(hits / of * 100, 2),
        round(rate.low * 100, 2),
        round(rate.high * 100, 2),
        words,
    )


def of_pair(pair: PairRow) -> list[Interval]:
    """Lay out how often a test failed after another one, and without it."""
    after = pair.failed_after + pair.passed_after
    without = pair.failed_without + pair.passed_without
    return [
        of_share("after it", pair.failed_after, after),
        of_share("without it", pair.failed_without, without),
    ]
