"""From XML events to elements: the handlers of a streaming JUnit parse.

Guarantees: memory grows with the number of cases and with what is kept of failures,
never with captured output; a document type or entity declaration ends the parse; a
case counts only when all its ancestors are suites, and only once it is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from formats.clipping import Clip, clip
from formats.durations import seconds
from formats.junit_cases import (
    CAPTURED,
    FLAKES,
    OUTPUTS,
    PROBLEMS,
    RERUNS,
    Child,
    describe,
    earlier_attempts,
    is_collection,
    judge,
    module_of,
    written_by_pytest,
)
from formats.junit_suites import WORKER_PROPERTIES, Suite, count, shows_parallel
from formats.junit_tally import Tally
from formats.outcomes import FAILING, Outcome
from formats.report import Attempt, Element, Note, Reading, Rejected

if TYPE_CHECKING:
    from formats.limits import Limits

NO_DTD = "DTD/entity declarations are not allowed"
_TOLD_WHEN_FULL = 200  # characters of each message once the file's texts are full
_OWN_ENCODINGS = frozenset({"utf-8", "utf8", "utf-16"})


class EncodingDeclared(Exception):
    """The document declares an encoding that the strict pass leaves to the second."""


class Collector:
    """Elements and counts of one file, fed by one parser a document."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.tally = Tally()
        self.elements: list[Element] = []
        self._kept = 0
        self._texts_full = False
        self._parts_dropped = 0
        self._long_outputs = self._long_output_length = 0
        self._longest_name = limits.name
        self._begin()

    def _begin(self) -> None:
        """Start a document: nothing is open."""
        self.frames: list[Suite] = []
        self.root_closed = False
        self._inner = 0  # open elements that are not suites around cases
        self._attrs: dict[str, str] | None = None  # of the open case
        self._children: list[Child] = []
        self._child: Child | None = None
        self._child_level = 0
        self._properties: dict[str, str] = {}
        self._classname = ""
        self._module = ""
        self._positions: dict[str, int] = {}

    def parser(self, encoding: str | None = None) -> expat.XMLParserType:
        """Return a parser for the next document of the file."""
        self._begin()
        parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.buffer_size = 1 << 16
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse_dtd
        parser.EntityDeclHandler = self._refuse_dtd
        if encoding is None:
            parser.XmlDeclHandler = self._declaration
        self._parser = parser
        return parser

    @property
    def tests(self) -> int:
        """Complete cases so far (pytest's collection errors are cases, too)."""
        return len(self.elements) - self.tally.suite_results

    def reject(self, message: str) -> NoReturn:
        parser = self._parser
        raise Rejected(
            message,
            line=parser.CurrentLineNumber,
            column=parser.CurrentColumnNumber + 1,
        )

    def _refuse_dtd(self, *_declaration: object) -> None:
        self.reject(NO_DTD)

    def _declaration(self, _version: str, encoding: str | None, _alone: int) -> None:
        if encoding and encoding.lower() not in _OWN_ENCODINGS:
            raise EncodingDeclared(encoding)

    # Elements

    def _start(self, tag: str, attrs: dict[str, str]) -> None:
        if not self._inner:
            if tag == "testcase" and self.frames:
                self._inner = 1
                self._attrs = attrs
                return
            self._start_in_suite(tag.rpartition(":")[2], attrs)
        else:
            if self._inner == 1 and self._attrs is not None:
                self._open_child(tag.rpartition(":")[2], attrs)
            elif self._child is None:
                self._read_property(tag.rpartition(":")[2], attrs)
            self._inner += 1
            if self._inner > self.limits.depth:
                self.reject(f"elements are nested deeper than {self.limits.depth}")

    def _start_in_suite(self, tag: str, attrs: dict[str, str]) -> None:
        if tag in ("testsuite", "testsuites"):
            self._open_suite(attrs, is_group=tag == "testsuites")
        elif not self.frames:
            self.reject(f"not a JUnit report, root element <{clip(tag, 100)}>")
        else:
            if tag == "testcase":
                self._attrs = attrs
            else:
                self._open_child(tag, attrs)
            self._inner = 1

    def _open_child(self, kind: str, attrs: dict[str, str]) -> None:
        if kind not in CAPTURED:
            return
        children = self._children
        if len(children) >= self.limits.parts and any(
            child.kind == kind for child in children
        ):
            self._parts_dropped += 1
            return
        self._child = Child(kind, attrs, self.limits)
        self._child_level = self._inner
        self._parser.CharacterDataHandler = self._child.text.add

    def _read_property(self, tag: str, attrs: dict[str, str]) -> None:
        if tag != "property":
            return
        name, value = attrs.get("name", ""), attrs.get("value", "")
        if self._attrs is not None:
            self._properties[name.casefold()] = value
        elif name.casefold() in WORKER_PROPERTIES:
            self.frames[-1].worker = value
        elif shows_parallel(name, value):
            self.frames[-1].parallel = True

    def _end(self, tag: str) -> None:
        if not self._inner:
            self._close_suite()
            return
        self._inner -= 1
        if not self._inner and self._attrs is not None:
            self._close_case(self._attrs)
        elif self._child is not None and self._inner == self._child_level:
            self._close_child(self._child)

    def _close_child(self, child: Child) -> None:
        self._parser.CharacterDataHandler = None
        self._child = None
        if self._attrs is not None:
            self._children.append(child)
        elif child.kind in PROBLEMS or child.kind == "skipped":
            self._add_suite_result(child)
        elif child.kind in OUTPUTS:
            self._keep_suite_output(child)

    # Cases

    def _close_case(self, attrs: dict[str, str]) -> None:
        self._attrs = None
        suite = self.frames[-1]
        name, classname = attrs.pop("name", ""), attrs.pop("classname", "")
        time = attrs.pop("time", None)
        duration = None if time is None else seconds(time)
        if duration is not None:
            suite.seconds += duration
            suite.timed += 1
        if classname != self._classname:
            self._change_class(classname, attrs.get("file", ""), suite)
        if len(name) > self._longest_name:
            self.reject(f"a test name is longer than {self._longest_name:,} characters")
        if attrs or self._children or self._properties:
            self._add_told_case(name, attrs, suite, duration)
            return
        if not suite.worker:
            suite.unplaced += 1
        position = suite.cases
        suite.cases = position + 1
        # Positional: this is the one line that runs for every passing case.
        self.elements.append(
            Element(
                name, self._classname, "", suite.names, _PASSED, duration, "", "", (),
                "", "", None, suite.worker, suite.process, position, None, suite.pytest,
            )
        )  # fmt: skip

    def _change_class(self, classname: str, file: str, suite: Suite) -> None:
        """Note a file that comes again after another one: tests were interleaved."""
        if len(classname) > self._longest_name:
            limit = f"{self._longest_name:,}"
            self.reject(f"a class name is longer than {limit} characters")
        self._classname = classname
        module = file or module_of(classname)
        if module and module != self._module:
            self._module = module
            if suite.pytest and module in suite.modules:
                suite.parallel = True
            suite.modules.add(module)

    def _add_told_case(
        self, name: str, attrs: dict[str, str], suite: Suite, duration: float | None
    ) -> None:
        """Add a case that says more than its name, class and time."""
        get = attrs.get
        children, properties = self._children, self._properties
        self._children, self._properties = [], {}
        status, result = get("status", ""), get("result", "")
        outcome = judge(children, status=status, result=result)
        message, text = self._within_budget(*describe(outcome, children))
        if outcome in FAILING and not (message or text):
            message = status or result
        file, classname = get("file", ""), self._classname
        pytest = suite.pytest or written_by_pytest(file, classname)
        worker, process, position = self._place(suite, properties)
        self._count(outcome, children, suite)
        self.elements.append(
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
            )
        )

    def _place(self, suite: Suite, properties: dict[str, str]) -> tuple[str, str, int]:
        """Return worker, process and position of the case that ends."""
        position = suite.cases
        suite.cases = position + 1
        named = [value for key, value in properties.items() if key in WORKER_PROPERTIES]
        worker = named[0] if named else suite.worker
        if not worker:
            suite.unplaced += 1
        if not named or worker == suite.worker:
            return worker, suite.process, position
        process = f"{suite.process} {worker}"
        position = self._positions.get(process, 0)
        self._positions[process] = position + 1
        return worker, process, position

    def _count(self, outcome: Outcome, children: list[Child], suite: Suite) -> None:
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

    def _count_output(self, children: list[Child]) -> None:
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

    def _attempts(self, outcome: Outcome, children: list[Child]) -> tuple[Attempt, ...]:
        told: list[Attempt] = []
        for attempt in earlier_attempts(outcome, children):
            message, text = self._within_budget(attempt.message, attempt.text)
            told.append(Attempt(attempt.outcome, attempt.duration, message, text))
        return tuple(told)

    # Suites

    def _open_suite(self, attrs: dict[str, str], *, is_group: bool) -> None:
        parent = self.frames[-1] if self.frames else None
        if len(self.frames) >= self.limits.depth:
            self.reject(f"elements are nested deeper than {self.limits.depth}")
        suite = Suite(attrs, parent, is_group=is_group)
        self.frames.append(suite)
        self.tally.open(attrs, suite)
        self._module = ""

    def _close_suite(self) -> None:
        suite = self.frames.pop()
        self.tally.close(suite, depth=len(self.frames))
        if suite.output is not None and suite.results:
            last = suite.results[-1]
            element = self.elements[last]
            text = f"{element.text}\n\n{suite.output.text().strip()}".strip()
            self.elements[last] = element._replace(text=text)
        self._module = ""
        if not self.frames:
            self.root_closed = True

    def _add_suite_result(self, child: Child) -> None:
        """Add an error, failure or skip of a suite itself: a pseudo case."""
        suite = self.frames[-1]
        outcome = judge([child])
        message, text = self._within_budget(*describe(outcome, [child]))
        if outcome in FAILING:
            suite.results.append(len(self.elements))
        self.tally.suite_results += 1
        self.elements.append(
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

    def _keep_suite_output(self, child: Child) -> None:
        suite = self.frames[-1]
        if suite.output is None:
            suite.output = Clip(self.limits.output)
        if child.text.length:
            suite.output.add(f"[{child.kind}]\n{child.text.text()}\n")

    # The end

    def reading(self) -> Reading:
        """Return what the file says, once all of it is read."""
        notes = self.tally.notes
        if self._long_outputs:
            cases = f"{self._long_outputs:,} case{'s' * (self._long_outputs > 1)}"
            text = (
                f"captured output is kept of failing cases only; of {cases} that did "
                f"not fail, {self._long_output_length:,} characters were left out"
            )
            notes.append(Note("output-left-out", text))
        if self._parts_dropped:
            text = (
                f"of a case at most {self.limits.parts} failures, attempts and outputs "
                f"are kept; {self._parts_dropped:,} more were left out"
            )
            notes.append(Note("parts-left-out", text))
        if self._texts_full:
            text = (
                f"texts beyond {self.limits.kept:,} characters in one file were left "
                "out; the results are complete"
            )
            notes.append(Note("texts-left-out", text))
        return self.tally.reading(self.elements)


_PASSED = Outcome.PASSED
