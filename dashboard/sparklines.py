"""Small plots drawn on the server as SVG: sparklines and stacked bars. Pure.

Each is decoration beside a number or a sentence that says the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 120
HEIGHT = 28
_PAD = 3


@dataclass(frozen=True, slots=True)
class Sparkline:
    """SVG paths in a box of WIDTH × HEIGHT, and the last point."""

    line: str
    area: str
    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Slice:
    """A segment of a stacked bar, in hundredths of its length."""

    kind: str
    count: int
    start: float
    width: float


def sparkline(
    values: Sequence[float | None], *, low: float, high: float, label: str
) -> Sparkline | None:
    """Draw values between two bounds; None is a gap. Nothing to draw: None."""
    known = [(index, value) for index, value in enumerate(values) if value is not None]
    if len(known) < 2:
        return None
    last = len(values) - 1
    span = (high - low) or 1.0

    def point(index: int, value: float) -> tuple[float, float]:
        x = _PAD + (WIDTH - 2 * _PAD) * index / last
        clipped = min(max(value, low), high)
        y = HEIGHT - _PAD - (HEIGHT - 2 * _PAD) * (clipped - low) / span
        return round(x, 1), round(y, 1)

    points = [point(index, value) for index, value in known]
    line = "M" + "L".join(f"{x} {y}" for x, y in points)
    area = f"{line}L{points[-1][0]} {HEIGHT}L{points[0][0]} {HEIGHT}Z"
    return Sparkline(line, area, *points[-1], label)


def stacked(counts: dict[str, int]) -> list[Slice]:
    """Lay counts side by side; what is there is at least visible (one hundredth)."""
    present = {kind: count for kind, count in counts.items() if count > 0}
    total = sum(present.values())
    if not total:
        return []
    raw = {kind: max(count / total * 100, 1.0) for kind, count in present.items()}
    scale = 100 / sum(raw.values())
    slices, start = [], 0.0
    for kind, width in raw.items():
        slices.append(
            Slice(kind, present[kind], round(start, 2), round(width * scale, 2))
        )
        start += width * scale
    return slices
