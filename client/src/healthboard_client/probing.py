"""What an experiment is, and what it costs: tests in an order, then how the last ended.

Guarantees: nothing here runs anything; whoever runs it counts every process and every
test that was started in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Ending(str, Enum):
    """How the last test of an experiment ended."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"  # skipped, not there, or the process ended before it


@dataclass
class Laboratory:
    """Runs experiments through `run`, and counts them."""

    run: Callable[[Sequence[str]], Ending]
    processes: int = 0
    tests: int = 0
    log: list[tuple[int, Ending]] = field(default_factory=list)

    def try_out(self, before: Sequence[str], victim: str) -> Ending:
        """Run these tests and then the victim in one fresh process."""
        self.processes += 1
        self.tests += len(before) + 1
        ending = self.run([*before, victim])
        self.log.append((len(before), ending))
        return ending
