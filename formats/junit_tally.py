"""What a JUnit file sums up to: counts, times, order, and the notes on them.

Guarantees: every number of a reading is made from listed elements; declared ones
appear only in notes, as the declared total and as the document's own wall time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.junit_suites import Comparison, Counts, Suite
from formats.report import Element, Note, OrderQuality, Reading, Reported
from formats.timestamps import stamp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class Tally:
    """Sums over all suites of a file; a file may hold several documents."""

    def __init__(self) -> None:
        self.tests = self.failed = self.errors = self.skipped = 0
        self.suites = self.suite_results = self.rerun_or_flaky = 0
        self.documents = 0
        self.declared_tests: int | None = None
        self.wall: float | None = None
        self.seconds = 0.0
        self.timed = 0
        self.zoned: set[datetime] = set()
        self.zoneless: tuple[datetime, str] | None = None
        self.parallel = False
        self.comparison = Comparison()
        self.notes: list[Note] = []
        self._processes: dict[str, int] = {}
        self._top: list[Suite] = []

    def open(self, attrs: Mapping[str, str], suite: Suite) -> None:
        suite.at_start = Counts(self.tests, self.failed, self.errors, self.skipped)
        if not suite.is_group:
            self.suites += 1
            suite.process = self._process(suite)
        if "timestamp" in attrs:
            self._note_start(attrs["timestamp"])

    def _process(self, suite: Suite) -> str:
        """Name the sequence that a suite's cases make; no two suites share one."""
        path = " / ".join(suite.names)
        label = f"{suite.hostname}: {path}" if suite.hostname else path
        seen = self._processes.get(label, 0) + 1
        self._processes[label] = seen
        return label if seen == 1 else f"{label} #{seen}"

    def _note_start(self, text: str) -> None:
        moment = stamp(text)
        if moment is None:
            return
        if moment.tzinfo is not None:
            self.zoned.add(moment)
        elif self.zoneless is None or moment < self.zoneless[0]:
            self.zoneless = (moment, text.strip())

    def close(self, suite: Suite, *, depth: int) -> None:
        """Take in a suite that ends; `depth` counts the suites still open around it."""
        self.tests += suite.cases
        self.seconds += suite.seconds
        self.timed += suite.timed
        self.parallel = self.parallel or suite.ran_in_parallel()
        before = suite.at_start
        whole = Counts(
            self.tests - (before.tests or 0),
            self.failed - (before.failed or 0),
            self.errors - (before.errors or 0),
            self.skipped - (before.skipped or 0),
        )
        direct = Counts(suite.cases, *suite.direct)
        if not suite.is_group:
            self.comparison.add(suite, direct=direct, whole=whole)
        if depth == 1:
            self._top.append(suite)
        elif depth == 0:
            self._close_root(suite)

    def _close_root(self, root: Suite) -> None:
        """Add the document's own totals: its root's, else those of its top suites."""
        self.documents += 1
        top = self._top if root.is_group else [root]
        self._top = []
        declared = root.declared.tests
        if declared is None:
            counts = [suite.declared.tests for suite in top]
            declared = _total([number for number in counts if number is not None])
        if declared is not None:
            self.declared_tests = (self.declared_tests or 0) + declared
        wall = root.declared_time
        if wall is None:
            times = [suite.declared_time for suite in top]
            wall = _total([number for number in times if number is not None])
        if wall is not None:
            self.wall = (self.wall or 0.0) + wall

    def reading(self, elements: list[Element]) -> Reading:
        """Return what the file says, once all of it is read."""
        failing = self.failed + self.errors + self.skipped
        order = OrderQuality.ASSUMED
        if self.parallel or not self.tests:
            order = OrderQuality.UNKNOWN
            elements = [_without_place(element) for element in elements]
        starts = sorted(self.zoned)
        return Reading(
            elements=elements,
            reported=Reported(
                tests=self.tests,
                passed=self.tests - failing,
                failed=self.failed,
                errors=self.errors,
                skipped=self.skipped,
            ),
            suites=self.suites,
            suite_level_results=self.suite_results,
            rerun_or_flaky=self.rerun_or_flaky,
            declared_tests=self.declared_tests,
            started_at=starts[0] if starts else None,
            later_starts=tuple(starts[1:]),
            zoneless_start=self.zoneless[1] if self.zoneless else "",
            wall_s=self.wall,
            total_time_s=self.seconds if self.timed else None,
            order=order,
            notes=self._all_notes(elements),
        )

    def _all_notes(self, elements: list[Element]) -> list[Note]:
        explained = self._repeats_explain(elements)
        notes = [*self.notes, *self.comparison.notes(repeats_explain=explained)]
        if self.documents > 1:
            text = f"the file holds {self.documents} documents; all of them count"
            notes.append(Note("several-documents", text))
        if not self.tests and not self.suite_results:
            notes.append(Note("no-cases", "the report lists no test case"))
        return notes

    def _repeats_explain(self, elements: list[Element]) -> bool:
        """Tell whether as many tests are declared as have a name of their own.

        A producer that writes each attempt of a test as a case has counted it once.
        """
        if self.declared_tests is None or self.declared_tests >= self.tests:
            return False
        names = {(e.suites, e.file, e.classname, e.name) for e in elements}
        return self.declared_tests == len(names) - self.suite_results


def _total[Number: (int, float)](numbers: list[Number]) -> Number | None:
    return sum(numbers[1:], numbers[0]) if numbers else None


_PROCESS = Element._fields.index("process")
_NO_PLACE = ("", None)


def _without_place(element: Element) -> Element:
    """Return the element without process and position, which stand side by side.

    By slices, for it runs for every case of every parallel report; `_replace` takes
    four times as long.
    """
    place = _NO_PLACE
    values = (*element[:_PROCESS], *place, *element[_PROCESS + len(place) :])
    return tuple.__new__(Element, values)
