"""Which kind of file a part holds, told from its content.

Guarantees: the same bytes are the same kind whatever the file is called, but for an
empty or unreadable head, where the name decides; nothing is unpacked beyond a head.
"""

from __future__ import annotations

import json
import re
import zlib
from pathlib import PurePath

import zstandard

KINDS = ("junit", "reportlog", "order", "gate", "effects", "review")
HEAD = 64 * 1024  # bytes of a file that suffice

_MARKUP = re.compile(
    r"<(?:\?xml|!DOCTYPE|(?:[\w.-]+:)?testsuites?[\s/>])", re.IGNORECASE
)
_REVIEW = re.compile(
    r"FleetReview|^\W*Confidence:\s*\d+\s*/\s*\d+"
    r"|^\s*[•*-]\s*[\[*_`]{0,4}P[0-3][\]*_`]{0,4}\s",
    re.MULTILINE,
)
_SUFFIXES = {
    ".xml": "junit",
    ".sarif": "review",
    ".md": "review",
    ".markdown": "review",
}
_EFFECT_TYPES = ("claim", "outcome", "observation")
_KEY = re.compile(r'"((?:[^"\\]|\\.){1,100})"\s*:')


def detect(head: bytes, filename: str) -> str:
    """Return one of `KINDS`, or "" where neither content nor name tells."""
    text = _text(_unpacked(head[:HEAD]))
    start = text.lstrip("\ufeff \t\r\n")
    if start[:1] in ("{", "["):
        found = _from_json(start)
        if found:
            return found
    if _MARKUP.search(text):
        return "junit"
    if _REVIEW.search(text):
        return "review"
    return _from_name(filename)


def _unpacked(head: bytes) -> bytes:
    try:
        if head.startswith(b"\x1f\x8b"):
            return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, HEAD)
        if head.startswith(b"\x28\xb5\x2f\xfd"):
            decompressor = zstandard.ZstdDecompressor(max_window_size=2**27)
            with decompressor.stream_reader(head) as stream:
                return stream.read(HEAD)
    except (zlib.error, zstandard.ZstdError):
        return b""
    return head


def _text(head: bytes) -> str:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return head.decode("utf-16", errors="replace")
    if head[:1] == b"<" and head[1:2] == b"\0":
        return head.decode("utf-16-le", errors="replace")
    if head[:2] == b"\0<":
        return head.decode("utf-16-be", errors="replace")
    return head.decode("utf-8", errors="replace")


def _from_json(text: str) -> str:
    """The kind of a document, or of the first of several lines."""
    line = text.partition("\n")[0]
    for candidate in (line, text):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list):
            return _from_entry(value[0]) if value else "gate"
        return _from_keys(value, value.keys()) if isinstance(value, dict) else ""
    # Longer than the head: its first keys must do.
    keys = _KEY.findall(text)
    schema = re.search(r'"schema"\s*:\s*"healthboard\.(\w+)/', text)
    if schema:
        return schema[1] if schema[1] in ("gate", "review") else ""
    return _from_keys({}, keys) or ("gate" if text[0] == "[" else "")


def _from_entry(entry: object) -> str:
    """A state guard's list has entries with a path and a reason."""
    is_guard = isinstance(entry, dict) and "path" in entry and "reason" in entry
    return "gate" if is_guard else ""


def _from_keys(value: dict[str, object], keys: object) -> str:
    names = set(keys) if not isinstance(keys, str) else set()  # type: ignore[call-overload]
    schema = str(value.get("schema", ""))
    if schema.startswith("healthboard."):
        found = schema.removeprefix("healthboard.").partition("/")[0]
        return found if found in ("gate", "review") else ""
    if "$report_type" in names or "pytest_version" in names:
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


def _from_name(filename: str) -> str:
    path = PurePath(filename.lower().replace("\\", "/"))
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    suffix = PurePath(name).suffix
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if suffix in (".json", ".jsonl"):
        for word in ("reportlog", "order", "gate", "effect", "review"):
            if word in name:
                return "effects" if word == "effect" else word
    return ""
