"""The figures of a benchmark beside their limits, as a table.

Guarantees: a limit stands in the same table as the figure, and says which way it goes;
a figure is the median of several rounds, or what its name says.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a table. `least` and `most` are limits; without one it is context."""

    name: str
    value: float
    unit: str = ""
    least: float | None = None
    most: float | None = None

    @property
    def limit(self) -> str:
        if self.least is not None:
            return f"≥ {number(self.least)} {self.unit}".rstrip()
        if self.most is not None:
            return f"< {number(self.most)} {self.unit}".rstrip()
        return ""

    @property
    def verdict(self) -> str:
        if self.least is not None:
            return "reached" if self.value >= self.least else "**missed**"
        if self.most is not None:
            return "reached" if self.value < self.most else "**missed**"
        return ""


def number(value: float) -> str:
    """Three digits that mean something, whatever the size."""
    if value == 0 or not math.isfinite(value):
        return str(value)
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    shown = f"{value:,.{min(places, 4)}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def show(title: str, figures: Sequence[Figure]) -> None:
    say(f"\n{title} (load {os.getloadavg()[0]:.1f})\n")
    say("| figure | measured | limit | |\n|---|---:|---:|---|")
    for one in figures:
        value = f"{number(one.value)} {one.unit}".rstrip()
        say(f"| {one.name} | {value} | {one.limit} | {one.verdict} |")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed."""
    rising = sorted(values)
    return rising[max(0, math.ceil(share * len(rising)) - 1)]


@dataclass(slots=True)
class Spent:
    """What a block took, in seconds."""

    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def spending() -> Iterator[Spent]:
    """Measure wall and CPU seconds of this process in a block."""
    spent = Spent()
    wall, cpu = time.perf_counter(), time.process_time()
    yield spent
    spent.wall = time.perf_counter() - wall
    spent.cpu = time.process_time() - cpu
