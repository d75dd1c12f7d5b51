"""Reading a review as it was posted: Markdown, tolerantly.

Guarantees: what looks like a finding becomes a finding or an unparsed line, never
nothing; one bad line never spoils the others; a text that is no review at all is
`Rejected`, for it would otherwise read as "all findings are gone".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from textwrap import dedent
from typing import TYPE_CHECKING

from formats.json_lines import clean
from formats.report import Note, Rejected
from formats.reviews.bullets import (
    Looks,
    names_place,
    read_bullet,
    split_bullet,
    starts_with_severity,
)
from formats.reviews.provenance import is_provenance, read_provenance
from formats.reviews.review import (
    MOST_DETAIL,
    MOST_FINDINGS,
    MOST_MARKDOWN,
    MOST_UNPARSED,
    Confidence,
    Finding,
    Provenance,
    Review,
    UnparsedLine,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_TITLE = re.compile(r"\bFleet\s?Review\b", re.IGNORECASE)
_PULL = re.compile(
    r"\b(?:PR|MR|pull request|merge request|of|for|on)\s{0,3}#(\d{1,9})\b",
    re.IGNORECASE,
)
_CONFIDENCE = re.compile(
    r"[\W_]{0,12}confidence(?:\s+score)?[\s*_:=]{1,8}"
    r"(?P<score>\d{1,6}(?:\.\d{1,6})?)\s?(?:/|of|out of)\s?(?P<of>\d{1,6}(?:\.\d{1,6})?)(?![\w/])",
    re.IGNORECASE,
)
_PARTIAL = re.compile(
    r"[\W_]{0,12}partial[\"*_`]{0,4}\s?[:=][*_\s]{0,4}true\b", re.IGNORECASE
)
_TAG = re.compile(
    r"</?(?:sub|sup|small|i|em|b|strong|p|div|details|summary|br)\s?/?>", re.IGNORECASE
)
_HEADING = re.compile(r"#{1,6}\s+")
# Where every bullet is meant to be a finding, but for one that says "none".
_SECTION = re.compile(
    r"\W{0,12}findings\W{0,4}(?:\(?\d{1,6}\)?)?\W{0,8}$", re.IGNORECASE
)
_SECTION_END = re.compile(r"#{1,6}\s|[-*_]{3,}$")
_NONE = re.compile(r"\W{0,8}(?:none|nothing|no\b|n/a)", re.IGNORECASE)
_FENCE = re.compile(r"(`{3,}|~{3,})")


@dataclass(slots=True)
class _Open:
    """A finding whose detail may still go on."""

    finding: Finding
    indent: int
    detail: list[str] = field(default_factory=list)
    fence: str = ""  # the mark of an open code block within the detail

    def takes(self, line: str) -> bool:
        """Whether the line belongs to the detail, as far as its indent says."""
        return not line.strip() or _indent(line) > self.indent

    def add(self, line: str) -> None:
        fence = _FENCE.match(line.strip())
        if fence and not self.fence:
            self.fence = fence[1]
        elif fence and line.strip().startswith(self.fence):
            self.fence = ""
        self.detail.append(line)


def read_markdown(text: str) -> Review:
    """Read one review."""
    if len(text) > MOST_MARKDOWN:
        raise Rejected(f"longer than {MOST_MARKDOWN:,} characters")
    reading = _Reading()
    for number, line in _lines(text):
        reading.take(number, line)
    return reading.review()


def _lines(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines(): a form feed within a title ends no line.
    whole = clean(text.removeprefix("\ufeff")).replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(whole.split("\n"), 1):
        yield number, line.expandtabs(4).rstrip()


class _Reading:
    """What was read so far."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.unparsed: list[UnparsedLine] = []
        self.notes: list[Note] = []
        self.confidence: Confidence | None = None
        self.provenance: Provenance | None = None
        self.pr: int | None = None
        self.titled = False
        self.partial = False
        self._open: _Open | None = None
        self._in_findings = False

    def take(self, number: int, line: str) -> None:
        opened = self._open
        if opened and opened.takes(line):
            if opened.fence or not self._starts(number, line, nested=True):
                opened.add(line)
            return
        if self._is_about_review(number, line):
            self._close()
            self._in_findings = False
            return
        if not self._starts(number, line, nested=False) and line.strip():
            self._close()

    def _starts(self, number: int, line: str, *, nested: bool) -> bool:
        """Whether the line is a finding, or one that cannot be read."""
        text = line.strip()
        bullet = split_bullet(text)
        if bullet is None and nested:
            return False
        inner = bullet
        if inner is None:
            inner = _HEADING.sub("", text, count=1)
        found = read_bullet(inner)
        if isinstance(found, Finding):
            self._close()
            self._count(number)
            self._open = _Open(replace(found, source_line=number), _indent(line))
            return True
        if bullet is None:
            self._note_section(text)
        meant = self._in_findings and not nested and bool(bullet)
        if found is Looks.OTHER and not (meant and not _NONE.match(inner)):
            return False
        if not _is_alarming(inner, bullet, nested=nested):
            return False
        if not nested:
            self._close()
        self._count(number)
        self.unparsed.append(UnparsedLine(number, text[:MOST_UNPARSED]))
        return True

    def _note_section(self, text: str) -> None:
        if _SECTION.match(text):
            self._in_findings = True
        elif _SECTION_END.match(text):
            self._in_findings = False

    def _is_about_review(self, number: int, line: str) -> bool:
        plain = _TAG.sub("", line).strip()
        if is_provenance(plain):
            provenance, notes = read_provenance(plain, number=number)
            self.provenance = self.provenance or provenance
            self.notes += notes
            return True
        confidence = _CONFIDENCE.match(plain)
        if confidence:
            self._take_confidence(confidence, number)
            return True
        if _PARTIAL.match(plain):
            self.partial = True
            return True
        return self._is_title(plain)

    def _is_title(self, plain: str) -> bool:
        text = _HEADING.sub("", plain, count=1).lstrip("*_` ")
        if not _TITLE.search(text) or split_bullet(plain) is not None:
            return False
        if isinstance(read_bullet(text), Finding):
            return False
        self.titled = True
        pull = _PULL.search(text) if _TITLE.match(text) else None
        if pull and self.pr is None and int(pull[1]) > 0:
            self.pr = int(pull[1])
        return True

    def _take_confidence(self, match: re.Match[str], number: int) -> None:
        score, of = _amount(match["score"]), _amount(match["of"])
        if of <= 0 or score > of:
            message = f"a confidence of {score}/{of} means nothing"
            self.notes.append(Note("confidence-unreadable", message, number))
            return
        self.confidence = self.confidence or Confidence(score, of)

    def _count(self, number: int) -> None:
        if len(self.findings) + len(self.unparsed) >= MOST_FINDINGS:
            raise Rejected(f"more than {MOST_FINDINGS:,} findings", line=number)

    def _close(self) -> None:
        opened, self._open = self._open, None
        if opened is None:
            return
        detail = dedent("\n".join(opened.detail)).strip("\n ")
        if len(detail) > MOST_DETAIL:
            detail = detail[:MOST_DETAIL]
            message = f"a finding's detail was cut to {MOST_DETAIL:,} characters"
            self.notes.append(Note("detail-cut", message, opened.finding.source_line))
        self.findings.append(replace(opened.finding, detail=detail))

    def review(self) -> Review:
        self._close()
        says_something = self.findings or self.unparsed or self.confidence
        if not (says_something or self.titled or self.provenance):
            raise Rejected(
                "not a review: no title with FleetReview, no confidence, no finding"
            )
        return Review(
            tuple(self.findings),
            confidence=self.confidence,
            provenance=self.provenance or Provenance(),
            unparsed=tuple(self.unparsed),
            pr=self.pr,
            partial=self.partial,
            notes=tuple(self.notes),
        )


def _is_alarming(text: str, bullet: str | None, *, nested: bool) -> bool:
    """Whether a line that is no readable finding must be shown as unparsed.

    A bullet that looks like a finding always; one within a detail, which is shown
    anyway, and a line of prose only where they leave no doubt.
    """
    if bullet is not None and not nested:
        return True
    if nested:
        return starts_with_severity(text)
    return starts_with_severity(text) and names_place(text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _amount(text: str) -> float:
    return float(text) if "." in text else int(text)
