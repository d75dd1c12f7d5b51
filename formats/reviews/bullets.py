"""One bullet of a review's Markdown as a finding.

Guarantees: a bullet is a finding, or looks like one and is not readable, or is
neither; which of them is told by its one line alone, in time linear in its length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from formats.reviews.review import (
    MOST_PATH,
    MOST_TITLE,
    Finding,
    Severity,
    tidy_path,
)

_MOST_LINE = 2**31 - 1
_MOST_DASHES = 8  # of a bullet that are tried as the end of its path

# A bullet of a list, of a numbered list or of a list of tasks.
_BULLET = re.compile(r"(?:[•‣▪●◦]\s*|[-*+]\s+|\d{1,4}[.)]\s+)(?:\[[ xX]\]\s+)?")
_SEVERITY = re.compile(
    r"(?:\*{1,3}|_{1,3}|`)?[\[(]?(?:\*{1,2}|`)?"
    r"[Pp](?P<step>[0-3])(?![A-Za-z0-9])"
    r"(?:\*{1,2}|`)?[\])]?:?(?:\*{1,3}|_{1,3}|`)?:?(?=[\s`\[])\s*"
)
_SEVERITY_LIKE = re.compile(r"[\W_]{0,12}(?:[Pp]\d{1,3}(?![A-Za-z])|P\?|P[XN](?!\w))")
_SEVERITY_INSIDE = re.compile(r"\bP[0-3]\b")
_ADDRESS = re.compile(r"\b[a-z]{1,10}://\S*")
_PLACE_LIKE = re.compile(r"\w\.[A-Za-z]\w{0,11}[`*\])]{0,4}(?::|#)L?\d")
_FILE_LIKE = re.compile(r"\w/\w|\w\.[A-Za-z]\w{0,11}\b|[—–]")

_DASH = re.compile(r"\s*—+\s*|\s+–+\s*|(?<!\d)–+\s*|–+(?!\d)\s*|\s+-{1,3}\s+")
_LINES = r"L?(?P<line>\d{1,10})(?::\d{1,10})?(?:[-–]L?(?P<end>\d{1,10})(?::\d{1,10})?)?"
_PATH_AND_LINES = re.compile(rf"(?P<path>.+?)[:#]{_LINES}")
_LINES_NEXT = re.compile(
    rf"\s{{0,3}}\(?(?:[:#]\s?|,?\s?lines?\s|(?=L\d)){_LINES}\)?(?!\w)"
)
_LINES_LAST = re.compile(rf",?\s\(?(?:lines?\s|(?=L\d)){_LINES}\)?$")
_LINK = re.compile(
    r"\[(?P<text>[^\[\]]{1,1200})\]\((?P<url><[^<>]{0,4000}>|[^()\s]{0,4000})\)"
)
_LINK_LINES = re.compile(r"#L(?P<line>\d{1,10})(?:-L?(?P<end>\d{1,10}))?>?$")
_TICKED = re.compile(r"(?P<ticks>`{1,3})(?P<text>[^`]{1,1200})(?P=ticks)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_NAMED = re.compile(
    r".*[\\/].*|.*\.\w{1,12}|\w*[Ff]ile|README|LICENSE|NOTICE|CHANGELOG|CODEOWNERS"
    r"|AUTHORS|COPYING|VERSION|MANIFEST|BUILD|WORKSPACE"
)


class Looks(Enum):
    """What a line is that is no finding."""

    UNREADABLE = "looks like a finding"
    OTHER = "something else"


@dataclass(frozen=True, slots=True)
class _Location:
    path: str
    line: int | None
    end_line: int | None
    rest: str  # of the bullet, behind the place


def split_bullet(text: str) -> str | None:
    """What follows the bullet's mark; None where the line is no bullet."""
    match = _BULLET.match(text)
    return text[match.end() :].strip() if match else None


def read_bullet(text: str) -> Finding | Looks:
    """Read what follows the mark."""
    match = _SEVERITY.match(text)
    if match is None:
        return Looks.UNREADABLE if _looks_like_finding(text) else Looks.OTHER
    place = _locate(text[match.end() :])
    if place is None:
        return Looks.UNREADABLE
    dash = _DASH.match(place.rest)
    title = _tidy_title(place.rest[dash.end() :]) if dash else ""
    if not 0 < len(title) <= MOST_TITLE or not 0 < len(place.path) <= MOST_PATH:
        return Looks.UNREADABLE
    severity = Severity(f"P{match['step']}")
    return Finding(severity, place.path, title, place.line, place.end_line)


def starts_with_severity(text: str) -> bool:
    return bool(_SEVERITY_LIKE.match(text))


def names_place(text: str) -> bool:
    """Whether a file's name with a line stands in the text."""
    return bool(_PLACE_LIKE.search(_ADDRESS.sub("", text)))


def _looks_like_finding(text: str) -> bool:
    if starts_with_severity(text) or names_place(text):
        return True
    return bool(_SEVERITY_INSIDE.search(text, 0, 60) and _FILE_LIKE.search(text))


def _locate(text: str) -> _Location | None:
    """Read the path and its lines: in back-ticks, as a link, or bare."""
    head = text.lstrip("*")
    link = _LINK.match(head)
    if link:
        inner, rest = link["text"].strip("`* "), head[link.end() :]
        return _from_quoted(inner, rest, url=link["url"])
    ticked = _TICKED.match(head)
    if ticked:
        return _from_quoted(ticked["text"].strip(), head[ticked.end() :])
    return _from_bare(head)


def _from_quoted(inner: str, rest: str, *, url: str = "") -> _Location | None:
    rest = rest.lstrip("*`")
    whole = _PATH_AND_LINES.fullmatch(inner)
    if whole:
        return _place(whole["path"], whole, rest)
    following = _LINES_NEXT.match(rest)
    if following:
        return _place(inner, following, rest[following.end() :])
    return _place(inner, _LINK_LINES.search(url), rest)


def _from_bare(text: str) -> _Location | None:
    for dash in islice(_DASH.finditer(text, 0, MOST_PATH + 50), _MOST_DASHES):
        inner, rest = text[: dash.start()].rstrip("* "), text[dash.start() :]
        lines = _PATH_AND_LINES.fullmatch(inner)
        if lines and _is_path(lines["path"], has_line=True):
            return _place(lines["path"], lines, rest)
        lines = _LINES_LAST.search(inner)
        if lines and _is_path(inner[: lines.start()], has_line=True):
            return _place(inner[: lines.start()], lines, rest)
        if " " not in inner and _is_path(inner, has_line=False):
            return _place(inner, None, rest)
    return None


def _is_path(text: str, *, has_line: bool) -> bool:
    """Whether bare text is a path: prose before a dash is none."""
    if not text or text[0] in "-–" or "—" in text:
        return False
    if ":" in _DRIVE.sub("", text.replace("::", ""), count=1):
        return False
    if has_line and not any(c.isspace() for c in text):
        return True
    return bool(_NAMED.fullmatch(text))


def _place(path: str, lines: re.Match[str] | None, rest: str) -> _Location | None:
    first = int(lines["line"]) if lines else None
    last = int(lines["end"]) if lines and lines["end"] else None
    if first is not None and not 0 < first <= _MOST_LINE:
        return None
    if first is not None and last is not None and not first <= last <= _MOST_LINE:
        return None
    return _Location(tidy_path(path), first, last, rest.lstrip("*`"))


def _tidy_title(text: str) -> str:
    found = " ".join(text.split())
    if found.count("**") % 2:  # the bold began before the title
        found = found.removesuffix("**")
    if found.startswith("**") and found.endswith("**") and found.count("**") == 2:
        found = found[2:-2]
    return found.strip()
