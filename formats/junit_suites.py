"""What a `<testsuite>` tells beyond its cases: names, counts, place and order.

Guarantees: declared counters never make a result; they are only compared, and each
difference ends in one note. The order of a suite's cases is taken as the order in
which they ran only where nothing shows that they ran side by side.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from formats.clipping import Clip
from formats.durations import seconds
from formats.report import Note

if TYPE_CHECKING:
    from collections.abc import Mapping

WORKER_PROPERTIES = frozenset(
    {"worker", "worker_id", "workerid", "xdist_worker", "pytest_xdist_worker"}
)
_PARALLEL_PROPERTIES = frozenset(
    {
        "parallel",
        "numprocesses",
        "workers",
        "maxworkers",
        "threadcount",
        "xdist",
        "dist",
        "pytest_xdist_worker_count",
        "junit.jupiter.execution.parallel.enabled",
    }
)
_SERIAL_VALUES = frozenset({"", "0", "1", "none", "no", "off", "false"})
_SKIP_COUNTERS = ("skipped", "skips", "skip", "disabled", "ignored")
_COUNT = re.compile(r"\s*([0-9]{1,9})(?:\.0*)?\s*\Z")
_NAMED = 5  # suites that a note names before it only counts them


class Counts(NamedTuple):
    """Listed or declared numbers of one suite; declared ones may be unknown."""

    tests: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None


def shows_parallel(name: str, value: str) -> bool:
    """Tell whether a property says that the runner ran tests side by side."""
    return (
        name.casefold() in _PARALLEL_PROPERTIES
        and value.strip().casefold() not in _SERIAL_VALUES
    )


class Suite:
    """An open `<testsuite>` or `<testsuites>`."""

    __slots__ = (
        "at_start",
        "cases",
        "declared",
        "declared_time",
        "direct",
        "file",
        "hostname",
        "is_group",
        "label",
        "modules",
        "names",
        "output",
        "parallel",
        "process",
        "pytest",
        "results",
        "seconds",
        "timed",
        "unplaced",
        "worker",
    )

    def __init__(
        self, attrs: Mapping[str, str], parent: Suite | None, *, is_group: bool
    ) -> None:
        name = attrs.get("name", "")
        outer: tuple[str, ...] = parent.names if parent else ()
        self.is_group = is_group
        self.names: tuple[str, ...] = (
            outer if is_group else (*outer, _qualified(name, attrs))
        )
        self.file = attrs.get("file", "")
        self.label = self.file or name
        inherited = parent.hostname if parent else ""
        self.hostname: str = attrs.get("hostname", "") or inherited
        self.worker: str = parent.worker if parent else ""
        self.process = ""
        self.pytest: bool = bool(parent and parent.pytest) or name == (
            "pytest tests" if is_group else "pytest"
        )
        self.declared = _declared(attrs)
        self.declared_time = seconds(attrs.get("time", ""))
        self.cases = 0  # direct ones; also the next position in the process
        self.timed = 0
        self.seconds = 0.0
        self.unplaced = False  # some case names no worker
        self.parallel = False
        self.modules: set[str] = set()
        self.at_start = Counts(0, 0, 0, 0)
        self.direct = [0, 0, 0]  # failed, errors, skipped
        self.results: list[int] = []  # elements of the suite's own failing results
        self.output: Clip | None = None

    def ran_in_parallel(self) -> bool:
        """Tell whether cases ran side by side and the report does not say where."""
        if not self.unplaced:
            return False
        if self.parallel:
            return True
        if self.declared_time is None:
            return False
        # Times are written rounded, mostly to a thousandth.
        tolerance = 0.0005 * self.timed + 0.01 * self.declared_time
        return self.seconds > self.declared_time + tolerance + 1e-9


def _qualified(name: str, attrs: Mapping[str, str]) -> str:
    package = attrs.get("package", "")
    if not package or name == package or name.startswith(package + "."):
        return name
    return f"{package}.{name}" if name else package


def _declared(attrs: Mapping[str, str]) -> Counts:
    skips = [count(attrs[key]) for key in _SKIP_COUNTERS if key in attrs]
    known = [number for number in skips if number is not None]
    return Counts(
        count(attrs.get("tests", "")),
        count(attrs.get("failures", "")),
        count(attrs.get("errors", "")),
        sum(known) if known else None,
    )


def count(text: str) -> int | None:
    """Read a counter attribute; `None` when it holds no plain number."""
    match = _COUNT.match(text)
    return int(match[1]) if match else None


class Comparison:
    """Declared against listed counts, over all suites of a file."""

    __slots__ = ("_differing", "_missing", "only_tests")

    def __init__(self) -> None:
        self._missing: list[str] = []
        self._differing: list[str] = []
        self.only_tests = True  # no other count differs

    def add(self, suite: Suite, *, direct: Counts, whole: Counts) -> None:
        """Compare one suite; what it declares may mean its own cases or all below."""
        declared = suite.declared
        if _agrees(declared, direct) or _agrees(declared, whole):
            return
        missing = _missing(declared, whole)
        if missing:
            self._missing.append(
                _of_suite(f"declared but not listed: {missing}", suite)
            )
        else:
            pairs = zip(Counts._fields, declared, whole, strict=True)
            told = ", ".join(
                f"{said} {field} declared, {listed} listed"
                for field, said, listed in pairs
                if said is not None and said != listed
            )
            self._differing.append(_of_suite(told, suite))
            if not _agrees(declared._replace(tests=None), whole):
                self.only_tests = False

    def notes(self, *, repeats_explain: bool) -> list[Note]:
        """Tell the differences, but for numbers of tests that repeats explain."""
        explained = repeats_explain and self.only_tests
        differing = [] if explained else self._differing
        return [
            *_summed("declared-not-listed", "", self._missing),
            *_summed("declared-counts-differ", "counts differ: ", differing),
        ]


def _agrees(declared: Counts, listed: Counts) -> bool:
    return all(
        said is None or said == number
        for said, number in zip(declared, listed, strict=True)
    )


def _missing(declared: Counts, listed: Counts) -> str:
    """Say what a suite declares and does not list; empty when it lists enough."""
    surplus = {
        field: (said or 0) - (number or 0)
        for field, said, number in zip(Counts._fields, declared, listed, strict=True)
    }
    if listed.tests and surplus["tests"] <= 0:
        return ""
    kinds = {
        field: number
        for field, number in surplus.items()
        if number > 0 and field != "tests"
    }
    others = surplus["tests"] - sum(kinds.values())
    parts = [f"{number} {field}" for field, number in kinds.items()]
    if others > 0:
        parts.append(f"{others} other tests" if parts else f"{others} tests")
    return ", ".join(parts)


def _of_suite(text: str, suite: Suite) -> str:
    return f"{text} (suite {suite.label[:200]})" if suite.label else text


def _summed(code: str, prefix: str, texts: list[str]) -> list[Note]:
    notes = [Note(code, prefix + text) for text in texts[:_NAMED]]
    if len(texts) > _NAMED:
        notes.append(Note(code, f"{prefix}and in {len(texts) - _NAMED:,} more suites"))
    return notes
