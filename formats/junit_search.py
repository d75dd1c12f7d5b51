"""Finding JUnit documents inside a text that holds other things, too.

Guarantees: text around documents is passed over in flat memory and told in one note;
a document type declaration there is refused all the same; places stay those of the
original file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from formats.junit_document import NO_DTD
from formats.report import Note, Rejected

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = re.compile(
    r"<!DOCTYPE\s+(?!html\b)|<!ENTITY\s"
    r"|(?P<root><(?:[\w.-]{1,100}:)?testsuites?(?=[\s/>]))"
)
_MARK = re.compile(rf"<!--|<\?|{_ROOT.pattern}")
_ASIDES = {"<!--": "-->", "<?": "?>"}
_MOST_ASIDES = 1000  # after so many they are taken for ordinary text, too
_LONGEST_MARK = 256
# A comment or instruction longer than this is taken for program output.
_LONGEST_ASIDE = 1 << 16
_EXCERPT = 80


class Source:
    """The text of a file, of which the start can be taken or passed over."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self.buffer = ""
        self.at = 0  # what lies before is passed over
        self.line = 1
        self.column = 1

    def more(self) -> bool:
        """Append the next piece to the buffer; false at the end of the file."""
        piece = next(self._pieces, "")
        self.buffer = self.buffer[self.at :] + piece
        self.at = 0
        return bool(piece)

    def take(self, size: int) -> str:
        """Return what comes next and pass over it; empty at the end of the file."""
        if self.at == len(self.buffer):
            self.more()
        text = self.buffer[self.at : self.at + size]
        self.at += len(text)
        return text

    def give_back(self, text: str, *, line: int, column: int) -> None:
        """Put back the end of what was taken; it stands at this place of the file."""
        if self.buffer.endswith(text, 0, self.at):
            self.at -= len(text)
        else:
            self.buffer = text + self.buffer[self.at :]
            self.at = 0
        self.line, self.column = line, column

    def drop(self, size: int) -> str:
        dropped = self.buffer[self.at : self.at + size]
        self.at += len(dropped)
        lines = dropped.count("\n")
        self.line += lines
        before = 0 if lines else self.column - 1
        self.column = len(dropped) - dropped.rfind("\n") + before
        return dropped


class Search:
    """Looks for the next document, and remembers what it passed over."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._asides_left = _MOST_ASIDES
        self._passed_over = 0
        self._excerpt = ""
        self._line: int | None = None

    def find(self) -> bool:
        """Bring the source to the next document's root; false when none is left."""
        source = self._source
        while True:
            pattern = _MARK if self._asides_left else _ROOT
            match = pattern.search(source.buffer, source.at)
            if match is None:
                rest = len(source.buffer) - source.at
                self._pass_over(max(0, rest - _LONGEST_MARK))
                if not source.more():
                    self._pass_over(len(source.buffer))
                    return False
                continue
            self._pass_over(match.start() - source.at)
            if match["root"]:
                return True
            if match[0] in _ASIDES:
                self._skip_aside(_ASIDES[match[0]])
            else:
                raise Rejected(NO_DTD, line=source.line, column=source.column)

    def _skip_aside(self, end: str) -> None:
        """Drop a comment or instruction; without an end it is ordinary text."""
        source = self._source
        self._asides_left -= 1
        while (place := self._end_of_aside(end)) < 0:
            if len(source.buffer) - source.at > _LONGEST_ASIDE or not source.more():
                self._pass_over(2)
                return
        source.drop(place + len(end) - source.at)

    def _end_of_aside(self, end: str) -> int:
        source = self._source
        return source.buffer.find(end, source.at, source.at + _LONGEST_ASIDE + len(end))

    def _pass_over(self, size: int) -> None:
        line = self._source.line
        text = self._source.drop(size)
        stripped = text.strip(" \t\r\n\x00\ufeff")
        if not stripped:
            return
        self._passed_over += len(stripped)
        if self._line is None:
            self._line = line + text[: text.index(stripped[0])].count("\n")
        if len(self._excerpt) < _EXCERPT:
            self._excerpt = (self._excerpt + " ".join(stripped.split()))[:_EXCERPT]

    def notes(self) -> list[Note]:
        if not self._passed_over:
            return []
        shown = "".join(c if c.isprintable() else "\ufffd" for c in self._excerpt)
        text = (
            f"{self._passed_over:,} characters outside of the report were ignored, "
            f"beginning with “{shown}”"
        )
        return [Note("text-around-document", text, line=self._line)]
