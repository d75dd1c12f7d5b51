"""What a test's history says by branch and by environment. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dashboard.sparklines import Slice, stacked
from formats.outcomes import FAILING, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from results.queries.shapes import HistoryCell

_FEWEST = 12


@dataclass(slots=True)
class Tally:
    """How a test went under one name (a branch, an environment)."""

    name: str
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        return sum(self.counts.values())

    @property
    def failing(self) -> int:
        return self.counts.get("failed", 0) + self.counts.get("errors", 0)

    @property
    def executed(self) -> int:
        idle = self.counts.get("skipped", 0) + self.counts.get("xfailed", 0)
        return self.runs - idle

    @property
    def words(self) -> str:
        """Say the counts, for who does not see the bar."""
        return ", ".join(f"{count} {kind}" for kind, count in self.counts.items())

    @property
    def bar(self) -> list[Slice]:
        order = ("failed", "errors", "flaky", "passed", "xpassed", "xfailed", "skipped")
        return stacked({kind: self.counts.get(kind, 0) for kind in order})


def tallies(cells: Iterable[HistoryCell], *, by: str) -> list[Tally]:
    """Count outcomes by `branch` or `environment`, the most failing first."""
    found: dict[str, Tally] = {}
    for cell in cells:
        name = cell.branch if by == "branch" else environment_name(cell.environment)
        tally = found.setdefault(name, Tally(name))
        kind = _kind(cell)
        tally.counts[kind] = tally.counts.get(kind, 0) + 1
    ranked = sorted(
        found.values(), key=lambda tally: (-tally.failing, -tally.runs, tally.name)
    )
    return ranked[:_FEWEST]


def environment_name(environment: Mapping[str, str]) -> str:
    """Write an environment in a line, its keys in order."""
    return ", ".join(f"{key}={environment[key]}" for key in sorted(environment))


def _kind(cell: HistoryCell) -> str:
    if cell.outcome == Outcome.ERROR:
        return "errors"
    if cell.flaky and cell.outcome not in FAILING:
        return "flaky"
    return cell.outcome
