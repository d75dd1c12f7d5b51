"""From XML events to elements: the handlers of a streaming JUnit parse.

Guarantees: memory grows with the number of cases and with what is kept of failures,
never with captured output; a document type or entity declaration ends the parse; a
case counts only when all its ancestors are suites, and only once it is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from formats.clipping import Clip, clip
from formats.junit_cases import CAPTURED, OUTPUTS, PROBLEMS, Child
from formats.junit_elements import Elements, by_name
from formats.junit_suites import WORKER_PROPERTIES, Suite, shows_parallel
from formats.junit_tally import Tally
from formats.report import Rejected

if TYPE_CHECKING:
    from formats.limits import Limits
    from formats.report import Reading

NO_DTD = "DTD/entity declarations are not allowed"
HTML = "not a JUnit report, root element <html>: this is an HTML page"
_OWN_ENCODINGS = frozenset({"utf-8", "utf8", "utf-16"})


class EncodingDeclared(Exception):
    """The document declares an encoding that the strict pass leaves to the second."""


class Collector:
    """Elements and counts of one file, fed by one parser a document."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.tally = Tally()
        self.elements = Elements(limits, self.tally)
        self._begin()

    def _begin(self) -> None:
        """Start a document: nothing is open."""
        self.frames: list[Suite] = []
        self.root_closed = False
        self._inner = 0  # open elements that are not suites around cases
        self._attrs: list[str] | None = None  # of the open case
        self._told = False  # the open case has children
        self._plain: list[list[str]] = []  # ended cases without children
        self._children: list[Child] = []
        self._child: Child | None = None
        self._child_level = 0
        self._properties: dict[str, str] = {}
        self.elements.leave_class()

    def parser(self, encoding: str | None = None) -> expat.XMLParserType:
        """Return a parser for the next document of the file."""
        self._begin()
        parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.buffer_size = 1 << 16
        parser.ordered_attributes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse_document_type
        parser.EntityDeclHandler = self._refuse_dtd
        if encoding is None:
            parser.XmlDeclHandler = self._declaration
        self._parser = parser
        return parser

    def complete_cases(self) -> int:
        self.flush()
        return len(self.elements.list) - self.tally.suite_results

    def reject(self, message: str) -> NoReturn:
        parser = self._parser
        raise Rejected(
            message,
            line=parser.CurrentLineNumber,
            column=parser.CurrentColumnNumber + 1,
        )

    def _refuse_document_type(
        self, name: str, _system: str | None, _public: str | None, own: int
    ) -> None:
        self.reject(HTML if name.lower() == "html" and not own else NO_DTD)

    def _refuse_dtd(self, *_declaration: object) -> None:
        self.reject(NO_DTD)

    def _declaration(self, _version: str, encoding: str | None, _alone: int) -> None:
        if encoding and encoding.lower() not in _OWN_ENCODINGS:
            raise EncodingDeclared(encoding)

    # Elements

    def _start(self, tag: str, attrs: list[str]) -> None:
        if not self._inner:
            if tag == "testcase" and self.frames:
                self._inner = 1
                self._attrs = attrs
            else:
                self._start_in_suite(tag.rpartition(":")[2], attrs)
            return
        if self._inner == 1 and self._attrs is not None:
            self._told = True
            self._open_child(tag.rpartition(":")[2], attrs)
        elif self._child is None:
            self._read_property(tag.rpartition(":")[2], attrs)
        self._inner += 1
        if self._inner > self.limits.depth:
            self.reject(f"elements are nested deeper than {self.limits.depth}")

    def _start_in_suite(self, tag: str, attrs: list[str]) -> None:
        self.flush()
        if tag in ("testsuite", "testsuites"):
            self._open_suite(by_name(attrs), is_group=tag == "testsuites")
        elif not self.frames and tag.lower() == "html":
            self.reject(HTML)
        elif not self.frames:
            self.reject(f"not a JUnit report, root element <{clip(tag, 100)}>")
        else:
            if tag == "testcase":
                self._attrs = attrs
            else:
                self._open_child(tag, attrs)
            self._inner = 1

    def _open_child(self, kind: str, attrs: list[str]) -> None:
        if kind not in CAPTURED:
            return
        children = self._children
        if len(children) >= self.limits.parts and any(
            child.kind == kind for child in children
        ):
            self.elements.parts_left_out += 1
            return
        self._child = Child(kind, by_name(attrs), self.limits)
        self._child_level = self._inner
        self._parser.CharacterDataHandler = self._child.text.add

    def _read_property(self, tag: str, attrs: list[str]) -> None:
        if tag != "property":
            return
        fields = by_name(attrs)
        name, value = fields.get("name", ""), fields.get("value", "")
        if self._attrs is not None:
            self._properties[name.casefold()] = value
        elif name.casefold() in WORKER_PROPERTIES:
            self.frames[-1].worker = value
        elif shows_parallel(name, value):
            self.frames[-1].parallel = True

    def _end(self, _tag: str) -> None:
        if self._inner == 1 and self._attrs is not None:
            self._inner = 0
            if self._told:
                self._told = False
                self.flush()
                self._add_told_case(self._attrs)
            else:
                self._plain.append(self._attrs)
            self._attrs = None
        elif not self._inner:
            self._close_suite()
        else:
            self._inner -= 1
            if self._child is not None and self._inner == self._child_level:
                self._close_child(self._child)

    def _close_child(self, child: Child) -> None:
        self._parser.CharacterDataHandler = None
        self._child = None
        if self._attrs is not None:
            self._children.append(child)
        elif child.kind in PROBLEMS or child.kind == "skipped":
            self.elements.add_suite_result(child, self.frames[-1])
        elif child.kind in OUTPUTS:
            self._keep_suite_output(child)

    def _add_told_case(self, attrs: list[str]) -> None:
        children, properties = self._children, self._properties
        self._children, self._properties = [], {}
        self.elements.add(by_name(attrs), children, properties, self.frames[-1])

    def flush(self) -> None:
        """Add the cases without children that ended since the last call."""
        if self._plain:
            plain, self._plain = self._plain, []
            self.elements.add_plain(plain, self.frames[-1])

    # Suites

    def _open_suite(self, attrs: dict[str, str], *, is_group: bool) -> None:
        parent = self.frames[-1] if self.frames else None
        if len(self.frames) >= self.limits.depth:
            self.reject(f"elements are nested deeper than {self.limits.depth}")
        suite = Suite(attrs, parent, is_group=is_group)
        self.frames.append(suite)
        self.tally.open(attrs, suite)
        self.elements.leave_class()

    def _close_suite(self) -> None:
        self.flush()
        suite = self.frames.pop()
        self.tally.close(suite, depth=len(self.frames))
        self.elements.add_suite_output(suite)
        self.elements.leave_class()
        if not self.frames:
            self.root_closed = True

    def _keep_suite_output(self, child: Child) -> None:
        suite = self.frames[-1]
        if suite.output is None:
            suite.output = Clip(self.limits.output)
        if child.text.length:
            suite.output.add(f"[{child.kind}]\n{child.text.text()}\n")

    def reading(self) -> Reading:
        """Return what the file says, once all of it is read."""
        self.tally.notes += self.elements.notes()
        return self.tally.reading(self.elements.list)
