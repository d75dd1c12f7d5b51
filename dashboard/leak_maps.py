"""Leakers and victims as a map and as a graph of two sides. Pure.

Guarantees: the dearest leaker is first; victims stand near their leakers; what does
not fit is counted, not hidden silently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.leak_words import speaks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaks.shapes import LeakerRow, PairRow

MOST_LEAKERS, MOST_VICTIMS = 40, 60
ROW = 34  # pixels of a row of the graph
_FAINTEST = 0.01  # of the belief: a weaker suspicion is not drawn


@dataclass(frozen=True, slots=True)
class Side:
    """A test on one side of the map; `leaker` is its id there, else None."""

    test: int
    nodeid: str
    leaker: int | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A pair where it stands: `row` of the leaker, `column` of the victim."""

    row: int
    column: int
    leaker: LeakerRow
    pair: PairRow

    @property
    def y1(self) -> int:
        return self.row * ROW + ROW // 2

    @property
    def y2(self) -> int:
        return self.column * ROW + ROW // 2

    @property
    def width(self) -> float:
        """The more belief, the thicker."""
        return round(1 + 3 * self.pair.posterior, 1)


@dataclass(frozen=True, slots=True)
class LeakMap:
    """All pairs that are drawn, by leaker and then by victim."""

    leakers: list[Side]
    victims: list[Side]
    cells: list[Cell]
    hidden: int  # victims for which there was no room

    @property
    def height(self) -> int:
        """How high the graph is, in pixels."""
        return max(len(self.leakers), len(self.victims)) * ROW

    @property
    def width(self) -> int:
        """How wide the heat map is at least, in pixels, for its names to be read."""
        return 240 + 24 * len(self.victims)

    def selected(self, leaker: int, victim: int) -> Cell | None:
        """Return the cell of a leaker and one of its victims, if it is drawn."""
        fitting = (
            cell
            for cell in self.cells
            if cell.leaker.id == leaker and cell.pair.test == victim
        )
        return next(fitting, None)


def lay_out(leakers: Sequence[LeakerRow]) -> LeakMap:
    """Place leakers in their order, and each victim near those that break it."""
    rows = [(one, _drawn(one)) for one in leakers]
    rows = [(one, pairs) for one, pairs in rows if pairs][:MOST_LEAKERS]
    places: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for place, (_, pairs) in enumerate(rows):
        for pair in pairs:
            places.setdefault(pair.test, []).append(place)
            names[pair.test] = pair.nodeid
    ordered = sorted(
        places, key=lambda test: (sum(places[test]) / len(places[test]), names[test])
    )
    column = {test: at for at, test in enumerate(ordered[:MOST_VICTIMS])}
    return LeakMap(
        leakers=[Side(one.test, one.nodeid, one.id) for one, _ in rows],
        victims=[Side(test, names[test]) for test in column],
        cells=[
            Cell(row, column[pair.test], leaker, pair)
            for row, (leaker, pairs) in enumerate(rows)
            for pair in sorted(pairs, key=lambda pair: column.get(pair.test, -1))
            if pair.test in column
        ],
        hidden=max(len(ordered) - MOST_VICTIMS, 0),
    )


def _drawn(leaker: LeakerRow) -> list[PairRow]:
    return [
        pair
        for pair in leaker.victims
        if pair.current and speaks(pair) and pair.posterior >= _FAINTEST
    ]
