"""Markdown as people write it under a pull request, down to the words that are said.

Guarantees: code (fenced, indented, inline), quoted lines, HTML comments and what is
struck out are gone; a link is the address or the text that names a pull request; the
order of what is left is that of the text; time grows with its length alone. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MOST_TEXT = 128 * 1024  # GitHub's own limit is 64 KiB

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_QUOTED = re.compile(r" {0,3}>")
_INDENTED = re.compile(r"(?: {4}|\t)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r" {0,3}([-*_=])(?:\s*\1){2,}\s*$")
_COMMENT = re.compile(r"<!--(?:(?!-->).)*+(?:-->|\Z)", re.DOTALL)
_TICKS = re.compile(r"`+")
_STRUCK = re.compile(r"~~(?=\S)[^~]{0,4000}~~")
_DELETED = re.compile(r"<(del|s|strike)>[^<]{0,4000}</\1>", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]{0,1000})\]\(\s*<?([^\s()<>]{0,2000})>?[^()]{0,200}\)")
_ANGLED = re.compile(r"<(https?://[^\s<>]{1,2000})>")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,1000}>")
_NAMED = re.compile(r"[#!]\d")
_CODE_WORD = " \ufffc "  # stands where code was: a word of no meaning


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together, joined by spaces. `bullet`: an entry of a list."""

    lines: list[str] = field(default_factory=list)
    bullet: bool = False

    @property
    def text(self) -> str:
        return " ".join(self.lines)


def paragraphs(markdown: str) -> list[Paragraph]:
    """Return what a text says, by paragraphs and entries of lists."""
    text = markdown[:MOST_TEXT].replace("\r\n", "\n").replace("\r", "\n")
    found: list[Paragraph] = []
    current: Paragraph | None = None
    for line in _said(_COMMENT.sub(" ", text)):
        bullet = _BULLET.match(line) if line else None
        if not line.strip() or _RULE.match(line):
            current = None
            continue
        if current is None or bullet or _HEADING.match(line):
            current = Paragraph(bullet=bullet is not None)
            found.append(current)
        current.lines.append(line[bullet.end() :] if bullet else line.strip())
        if _HEADING.match(line):
            current = None
    for paragraph in found:
        paragraph.lines = [_plain(paragraph.text)]
    return found


def _said(text: str) -> list[str]:
    """Return the lines without code blocks and quotes; a blank stands for each."""
    lines: list[str] = []
    fence = ""
    in_list = False
    for line in text.split("\n"):
        marker = _FENCE.match(line.lstrip() if in_list else line)
        if fence:
            closes = marker and marker[1].startswith(fence) and not marker[2].strip()
            fence = "" if closes else fence
            lines.append("")
        elif marker and not (marker[1][0] == "`" and "`" in marker[2]):
            fence = marker[1]
            lines.append("")
        elif _QUOTED.match(line):
            lines.append("")
        else:
            blank_before = not lines or not lines[-1].strip()
            code = _INDENTED.match(line) and blank_before and not in_list
            # A code block goes on as long as its lines are indented.
            lines.append("" if code else line)
            if line.strip():
                bullet = _BULLET.match(line) is not None
                in_list = bullet or (in_list and line[:1].isspace())
    return lines


def _plain(text: str) -> str:
    text = _without_code(text)
    text = _DELETED.sub(" ", _STRUCK.sub(" ", text))
    text = _LINK.sub(_link, text)
    text = _ANGLED.sub(r" \1 ", text)
    text = _TAG.sub(" ", text)
    return text.replace("\\#", "#").replace("&#35;", "#").replace("*", "")


def _without_code(text: str) -> str:
    """Take out what stands between two runs of as many backticks."""
    runs = list(_TICKS.finditer(text))
    places: dict[int, list[int]] = {}
    for n, run in enumerate(runs):
        places.setdefault(len(run[0]), []).append(n)
    kept, at, n = [], 0, 0
    following = {size: iter(some) for size, some in places.items()}
    while n < len(runs):
        size = len(runs[n][0])
        closing = next((m for m in following[size] if m > n), None)
        if closing is None:
            n += 1
            continue
        kept += [text[at : runs[n].start()], _CODE_WORD]
        at, n = runs[closing].end(), closing + 1
    return "".join([*kept, text[at:]])


def _link(found: re.Match[str]) -> str:
    text, address = found.groups()
    return f" {text} " if _NAMED.search(text) else f" {address} "
