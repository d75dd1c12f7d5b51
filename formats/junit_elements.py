"""From a case's attributes and children to its element.

Guarantees: a case without children costs next to nothing, for nearly all are such;
texts are kept within the limits of a case and of the whole file, and what is left out
is told in a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.clipping import clip
from formats.durations import seconds
from formats.junit_cases import (
    FLAKES,
    OUTPUTS,
    RERUNS,
    Child,
    describe,
    earlier_attempts,
    is_collection,
    judge,
    module_of,
    problems_of,
    rest_of,
    written_by_pytest,
)
from formats.junit_suites import WORKER_PROPERTIES, Suite, count
from formats.outcomes import FAILING, Outcome
from formats.report import Attempt, Element, Note, Rejected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.junit_tally import Tally
    from formats.limits import Limits

_TOLD_WHEN_FULL = 200  # characters of each message once the file's texts are full
_TIMES_KEPT = 20_000
_PASSED = Outcome.PASSED
_new = tuple.__new__


class _Times(dict[str, float | None]):
    """Durations by their text: few texts are many cases' durations."""

    def __missing__(self, text: str) -> float | None:
        value = seconds(text)
        if len(self) < _TIMES_KEPT:
            self[text] = value
        return value


def by_name(attrs: list[str]) -> dict[str, str]:
    pairs = iter(attrs)
    return dict(zip(pairs, pairs, strict=True))


class Elements:
    """The elements of one file, in file order."""

    def __init__(self, limits: Limits, tally: Tally) -> None:
        self.limits = limits
        self.tally = tally
        self.list: list[Element] = []
        self.parts_left_out = 0
        self._longest = limits.name
        self._times = _Times()
        self._kept = 0
        self._texts_full = False
        self._long_outputs = self._long_output_length = 0
        self._positions: dict[str, int] = {}
        self.leave_class()

    def leave_class(self) -> None:
        """Forget class and file of the last case: another suite goes on."""
        self._classname = ""
        self._module = ""

    def add_plain(self, cases: list[list[str]], suite: Suite) -> None:
        """Add cases without children, of which only the attributes are given.

        One loop over a batch of them costs half of what adding each in its own event
        does.
        """
        append, times, classname = self.list.append, self._times, self._classname
        names, worker, process = suite.names, suite.worker, suite.process
        for attrs in cases:
            if len(attrs) != 6 or attrs[4] != "time":
                self.add(by_name(attrs), (), {}, suite)
                classname = self._classname
                continue
            first, given, second, name, _, time = attrs
            if first == "name":
                second, name, first, given = first, given, second, name
            if first != "classname" or second != "name" or len(name) > self._longest:
                self.add(by_name(attrs), (), {}, suite)
                classname = self._classname
                continue
            if given != classname:
                self._change_class(given, "", suite)
                classname = given
            duration = times[time]
            if duration is not None:
                suite.seconds += duration
                suite.timed += 1
            position = suite.cases
            suite.cases = position + 1
            # Past the class, whose constructor would take as long as all the rest.
            case = (
                name, classname, "", names, _PASSED, duration, "", "", (), "", "",
                None, worker, process, position, None, suite.pytest, False,
                (), None, None,
            )  # fmt: skip
            append(_new(Element, case))
        if not worker:
            suite.unplaced = True

    def _change_class(self, classname: str, file: str, suite: Suite) -> None:
        """Note a file that comes again after another one: tests were interleaved."""
        if len(classname) > self._longest:
            limit = f"{self._longest:,}"
            raise Rejected(f"a class name is longer than {limit} characters")
        if classname != self._classname:
            self._classname = classname
        module = file or module_of(classname)
        if module and module != self._module:
            self._module = module
            if suite.pytest and module in suite.modules:
                suite.parallel = True
            suite.modules.add(module)

    def add(
        self,
        attrs: dict[str, str],
        children: Sequence[Child],
        properties: dict[str, str],
        suite: Suite,
    ) -> None:
        """Add a case that says more than its name, class and time."""
        get = attrs.get
        name, duration = get("name", ""), self._times[get("time", "")]
        if len(name) > self._longest:
            raise Rejected(f"a test name is longer than {self._longest:,} characters")
        if duration is not None:
            suite.seconds += duration
            suite.timed += 1
        self._change_class(get("classname", ""), get("file", ""), suite)
        status, result = get("status", ""), get("result", "")
        outcome = judge(children, status=status, result=result)
        message, text = self._within_budget(*describe(outcome, children))
        if outcome in FAILING and not (message or text):
            message = status or result
        file, classname = get("file", ""), self._classname
        pytest = suite.pytest or written_by_pytest(file, classname)
        worker, process, position = self._place(suite, properties)
        self._count(outcome, children, suite)
        self.list.append(
            Element(
                name=name,
                classname=classname,
                file=file,
                suites=suite.names,
                outcome=outcome,
                duration=duration,
                message=message,
                text=text,
                attempts=self._attempts(outcome, children),
                test_id=properties.get("test_id", ""),
                line=count(get("line", "")),
                worker=worker,
                process=process,
                position=position,
                pytest=pytest,
                collection=pytest and not classname and is_collection(children),
                problems=() if self._texts_full else problems_of(outcome, children),
                rest=rest_of(outcome, children),
            )
        )

    def _place(self, suite: Suite, properties: dict[str, str]) -> tuple[str, str, int]:
        """Return worker, process and position of the case that ends."""
        position = suite.cases
        suite.cases = position + 1
        named = [value for key, value in properties.items() if key in WORKER_PROPERTIES]
        worker = named[0] if named else suite.worker
        if not worker:
            suite.unplaced = True
        if not named or worker == suite.worker:
            return worker, suite.process, position
        process = f"{suite.process} {worker}"
        position = self._positions.get(process, 0)
        self._positions[process] = position + 1
        return worker, process, position

    def _count(self, outcome: Outcome, children: Sequence[Child], suite: Suite) -> None:
        tally = self.tally
        if outcome is Outcome.FAILED:
            tally.failed += 1
            suite.direct[0] += 1
        elif outcome is Outcome.ERROR:
            tally.errors += 1
            suite.direct[1] += 1
        elif outcome is not Outcome.PASSED:
            tally.skipped += 1
            suite.direct[2] += 1
        if any(child.kind in FLAKES or child.kind in RERUNS for child in children):
            tally.rerun_or_flaky += 1
        if outcome not in FAILING:
            self._count_output(children)

    def _count_output(self, children: Sequence[Child]) -> None:
        """Remember output that is not kept, where there was much of it."""
        lengths = [child.text.length for child in children if child.kind in OUTPUTS]
        if lengths and max(lengths) > self.limits.output:
            self._long_outputs += 1
            self._long_output_length += sum(lengths)

    def _within_budget(self, message: str, text: str) -> tuple[str, str]:
        if self._kept > self.limits.kept:
            self._texts_full = True
            return clip(message, _TOLD_WHEN_FULL), ""
        self._kept += len(message) + len(text)
        return message, text

    def _attempts(
        self, outcome: Outcome, children: Sequence[Child]
    ) -> tuple[Attempt, ...]:
        told: list[Attempt] = []
        for attempt in earlier_attempts(outcome, children):
            message, text = self._within_budget(attempt.message, attempt.text)
            told.append(Attempt(attempt.outcome, attempt.duration, message, text))
        return tuple(told)

    def add_suite_result(self, child: Child, suite: Suite) -> None:
        """Add an error, failure or skip of a suite itself: a pseudo case."""
        outcome = judge([child])
        message, text = self._within_budget(*describe(outcome, [child]))
        if outcome in FAILING:
            suite.results.append(len(self.list))
        self.tally.suite_results += 1
        self.list.append(
            Element(
                name=suite.label,
                file=suite.file,
                suites=suite.names,
                outcome=outcome,
                message=message,
                text=text,
                pytest=suite.pytest,
                collection=True,
            )
        )

    def add_suite_output(self, suite: Suite) -> None:
        """Append a suite's captured output to the last of its own failing results."""
        if suite.output is None or not suite.results:
            return
        last = suite.results[-1]
        element = self.list[last]
        text = f"{element.text}\n\n{suite.output.text().strip()}".strip()
        self.list[last] = element._replace(text=text)

    def notes(self) -> list[Note]:
        """Say what was left out."""
        notes = []
        if self._long_outputs:
            cases = f"{self._long_outputs:,} case{'s' * (self._long_outputs > 1)}"
            text = (
                f"captured output is kept of failing cases only; of {cases} that did "
                f"not fail, {self._long_output_length:,} characters were left out"
            )
            notes.append(Note("output-left-out", text))
        if self.parts_left_out:
            text = (
                f"of a case at most {self.limits.parts} failures, attempts and outputs "
                f"are kept; {self.parts_left_out:,} more were left out"
            )
            notes.append(Note("parts-left-out", text))
        if self._texts_full:
            text = (
                f"texts beyond {self.limits.kept:,} characters in one file were left "
                "out; the results are complete"
            )
            notes.append(Note("texts-left-out", text))
        return notes
