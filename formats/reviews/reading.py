"""Reading a review in whichever of its three formats it comes.

Guarantees: any bytes are a `Review` or `Rejected`, in time and memory proportional to
their number; the content decides, not a name.
"""

from __future__ import annotations

from typing import Any, BinaryIO

from formats.report import Rejected
from formats.reviews.fields import load, refuse
from formats.reviews.json_review import review_of
from formats.reviews.markdown import read_markdown
from formats.reviews.review import MOST_BYTES, Review
from formats.reviews.sarif_reading import log_of
from formats.whole import read_whole

_BLANK = b"\xef\xbb\xbf \t\r\n"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_review(stream: BinaryIO) -> Review:
    """Read Markdown, `healthboard.review/1` or SARIF 2.1.0, plain or compressed."""
    raw = read_whole(stream, most=MOST_BYTES)
    text = _text(raw) if raw[:2] in _UTF_16 else None
    start = text.lstrip("\ufeff \t\r\n")[:1] if text is not None else ""
    if start == "{" or raw.lstrip(_BLANK)[:1] == b"{":
        return _from_json(load(text.encode() if text is not None else raw))
    return read_markdown(text if text is not None else _text(raw))


def _from_json(value: Any) -> Review:  # Any: JSON that is being checked
    if isinstance(value, dict) and "schema" not in value:
        if "runs" in value or "version" in value:
            return log_of(value)
        refuse("schema", "missing, and this is no SARIF log either")
    return review_of(value)


def _text(raw: bytes) -> str:
    encoding = "utf-16" if raw[:2] in _UTF_16 else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"not {encoding.removesuffix('-sig').upper()} at byte {error.start}"
        raise Rejected(message, line=line) from error
