"""The timeline of workers as lanes to draw: one a process, its tests in order. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.outcomes import FAILING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from results.queries.shapes import Lane, Timeline

_BINS = 250
_WIDTH = 1000.0
_SPOT = _WIDTH / _BINS


@dataclass(frozen=True, slots=True)
class Mark:
    """A failing test, where it ran."""

    x: float
    test: int
    nodeid: str
    outcome: str


@dataclass(frozen=True, slots=True)
class DrawnLane:
    """A process: stretches in which it was busy, as (x, width) of 1000."""

    name: str
    tests: int
    busy_s: float
    end_s: float
    stretches: list[tuple[float, float]]
    failing: int
    marks: list[Mark]  # of failing tests that lie on one spot, the first


@dataclass(frozen=True, slots=True)
class Lanes:
    """All lanes on one scale. `idle_s` is what the processes waited at the end."""

    lanes: list[DrawnLane]
    end_s: float
    busy_s: float
    exact: bool
    order: str
    shown: int
    total: int

    @property
    def used(self) -> float | None:
        """The share of the processes' time in which tests ran."""
        room = self.end_s * len(self.lanes)
        return min(self.busy_s / room, 1.0) if room else None


def lanes_of(timeline: Timeline | None) -> Lanes | None:
    """Lay out a timeline; None where nothing is known of it."""
    if timeline is None or not timeline.lanes:
        return None
    end = max(lane.end_s for lane in timeline.lanes)
    scale = _WIDTH / end if end else 0.0
    return Lanes(
        lanes=[_drawn(lane, scale) for lane in timeline.lanes],
        end_s=end,
        busy_s=sum(lane.busy_s for lane in timeline.lanes),
        exact=timeline.exact,
        order=timeline.order,
        shown=timeline.shown,
        total=timeline.total,
    )


def _drawn(lane: Lane, scale: float) -> DrawnLane:
    whole = lane.tests > len(lane.starts)
    marks = [
        Mark(round((start + length / 2) * scale, 1), test, nodeid, outcome)
        for start, length, test, nodeid, outcome in zip(
            lane.starts,
            lane.durations,
            lane.test_ids,
            lane.nodeids,
            lane.outcomes,
            strict=True,
        )
        if outcome in FAILING
    ]
    name = f"{lane.job} {lane.index}".strip() if lane.job else f"part {lane.index}"
    return DrawnLane(
        name=f"{name} · {lane.worker}" if lane.worker else name,
        tests=lane.tests,
        busy_s=lane.busy_s,
        end_s=lane.end_s,
        # Where only the longest tests are listed, gaps between them mean nothing.
        stretches=[(0.0, lane.end_s * scale)] if whole else _stretches(lane, scale),
        failing=len(marks),
        marks=_apart(marks),
    )


def _apart(marks: Sequence[Mark]) -> list[Mark]:
    """Leave out what nobody could tell from the mark before it."""
    seen: dict[int, Mark] = {}
    for mark in marks:
        seen.setdefault(int(mark.x // _SPOT), mark)
    return list(seen.values())


def _stretches(lane: Lane, scale: float) -> list[tuple[float, float]]:
    """Join tests that follow each other closer than can be seen."""
    closest = _WIDTH / _BINS / 2
    joined: list[tuple[float, float]] = []
    for start, length in zip(lane.starts, lane.durations, strict=True):
        left, right = start * scale, (start + length) * scale
        if joined and left - joined[-1][1] < closest:
            joined[-1] = (joined[-1][0], max(joined[-1][1], right))
        else:
            joined.append((left, right))
    return [(round(left, 1), round(right - left, 1)) for left, right in joined]
