"""The drawing of who waits for whom: places and lines, values in and out. Pure.

Guarantees: what is to be merged first is at the left; no two boxes share a place; what
found no room is counted.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.phrases import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pulls.shapes import EdgeRow, Graph, Node

MOST = 300  # boxes that are drawn
WIDTH, HEIGHT = 96, 26
_STEP_X, _STEP_Y = 152, 34
_EDGE = 10  # around the drawing
_DEEPEST = 40  # steps to the right


@dataclass(frozen=True, slots=True)
class Box:
    """A pull request where it stands."""

    node: Node
    x: int
    y: int

    @property
    def text_x(self) -> int:
        return self.x + WIDTH // 2

    @property
    def text_y(self) -> int:
        return self.y + HEIGHT // 2 + 4


@dataclass(frozen=True, slots=True)
class Line:
    """From what waits to what it waits for, as a path."""

    edge: EdgeRow
    path: str


@dataclass(frozen=True, slots=True)
class Drawing:
    boxes: list[Box]
    lines: list[Line]
    width: int
    height: int
    hidden: int


def draw(graph: Graph) -> Drawing:
    """Place each pull request right of what it waits for."""
    waits = _waits(graph.edges)
    depths = _depths([node.number for node in graph.nodes], waits)
    nodes = sorted(graph.nodes, key=lambda node: (depths[node.number], node.number))
    rows: dict[int, int] = defaultdict(int)
    places: dict[int, Box] = {}
    for node in nodes[:MOST]:
        column = depths[node.number]
        places[node.number] = Box(
            node, _EDGE + column * _STEP_X, _EDGE + rows[column] * _STEP_Y
        )
        rows[column] += 1
    lines = [
        Line(edge, _path(places[edge.from_number], places[edge.to]))
        for edge in graph.edges
        if isinstance(edge.to, int) and edge.from_number in places and edge.to in places
    ]
    boxes = list(places.values())
    return Drawing(
        boxes=boxes,
        lines=lines,
        width=max((box.x for box in boxes), default=0) + WIDTH + _EDGE,
        height=max((box.y for box in boxes), default=0) + HEIGHT + _EDGE,
        hidden=len(nodes) - len(boxes),
    )


def _waits(edges: Sequence[EdgeRow]) -> dict[int, list[int]]:
    waits: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        if edge.kind == Kind.BLOCKING and isinstance(edge.to, int):
            waits[edge.from_number].append(edge.to)
    return waits


def _depths(
    numbers: Sequence[int], waits: Mapping[int, Sequence[int]]
) -> dict[int, int]:
    """Return how many steps stand before each; a circle ends after some rounds."""
    depths = dict.fromkeys(numbers, 0)
    for _ in range(_DEEPEST):
        moved = False
        for number in numbers:
            behind = [depths[one] for one in waits.get(number, ())]
            wanted = min(max(behind, default=-1) + 1, _DEEPEST)
            if wanted > depths[number]:
                depths[number], moved = wanted, True
        if not moved:
            break
    return _without_gaps(depths)


def _without_gaps(depths: Mapping[int, int]) -> dict[int, int]:
    """Close columns that a circle left empty."""
    columns = {depth: at for at, depth in enumerate(sorted(set(depths.values())))}
    return {number: columns[depth] for number, depth in depths.items()}


def _path(waiting: Box, before: Box) -> str:
    x1, y1 = waiting.x, waiting.y + HEIGHT // 2
    x2, y2 = before.x + WIDTH, before.y + HEIGHT // 2
    bend = max(abs(x1 - x2) // 2, 24)
    return f"M{x1} {y1}C{x1 - bend} {y1} {x2 + bend} {y2} {x2} {y2}"
