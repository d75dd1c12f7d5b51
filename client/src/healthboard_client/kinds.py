"""Which kind of report a file is, told from its first bytes.

Guarantees: the content decides, so that `results.xml` and `out.txt` are the same; a
file that is none of the kinds is said to be none.
"""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

KINDS = ("junit", "reportlog", "order", "gate", "effects", "review")
AUTO = "auto"  # the server tells, where this side cannot read
HEAD = 64 * 1024

_MARKUP = re.compile(r"<(?:[\w.-]+:)?testsuites?[\s/>]", re.IGNORECASE)
_REVIEW = re.compile(
    r"FleetReview|^\W*Confidence:\s*\d+\s*/\s*\d+"
    r"|^\s*[•*-]\s*[\[*_`]{0,4}P[0-3][\]*_`]{0,4}\s",
    re.MULTILINE,
)
_KEY = re.compile(r'"((?:[^"\\]|\\.){1,100})"\s*:')
_SCHEMA = re.compile(r'"schema"\s*:\s*"healthboard\.(gate|review)/')
_ZSTD = b"\x28\xb5\x2f\xfd"
_WIDE = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"<\0": "utf-16-le"}


def kind_of(path: Path) -> str:
    """Return the kind of a file; "" where it is none of them."""
    with path.open("rb") as file:
        return kind_of_head(file.read(HEAD))


def kind_of_head(head: bytes) -> str:
    """Return the kind that these first bytes are of."""
    if head.startswith(_ZSTD):
        return AUTO  # the standard library of Python 3.10 cannot unpack it
    text = _text(_unpacked(head))
    start = text.lstrip("\ufeff \t\r\n")
    if start[:1] in ("{", "["):
        return _of_json(start)
    if _MARKUP.search(text):
        return "junit"
    return "review" if _REVIEW.search(text) else ""


def _unpacked(head: bytes) -> bytes:
    if not head.startswith(b"\x1f\x8b"):
        return head
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, HEAD)
    except zlib.error:
        return b""


def _text(head: bytes) -> str:
    return head.decode(_WIDE.get(head[:2], "utf-8"), errors="replace")


def _of_json(text: str) -> str:
    """Tell by a whole document, else by the first of several lines."""
    for candidate in (text.partition("\n")[0], text):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list):
            return _of_entries(value)
        if isinstance(value, dict):
            return _of_keys(set(value), str(value.get("schema", "")))
        return ""
    # Longer than the head: its first keys must do.
    schema = _SCHEMA.search(text)
    if schema:
        return schema[1]
    return _of_keys(set(_KEY.findall(text)), "")


def _of_entries(value: list[object]) -> str:
    """A state guard's list has entries with a path and a reason."""
    first = value[0] if value else None
    guard = isinstance(first, dict) and {"path", "reason"} <= first.keys()
    return "gate" if guard else ""


def _of_keys(names: set[str], schema: str) -> str:
    if schema.startswith("healthboard."):
        found = schema[len("healthboard.") :].partition("/")[0]
        return found if found in ("gate", "review") else ""
    if names & {"$report_type", "pytest_version"}:
        return "reportlog"
    if {"v", "type", "record"} <= names:
        return "effects"
    if {"test", "outcome"} <= names and names & {"worker", "pid", "position"}:
        return "order"
    if "runs" in names and names & {"$schema", "version"}:
        return "review"  # SARIF
    if "leaks" in names:
        return "gate"
    return "review" if "findings" in names else ""
