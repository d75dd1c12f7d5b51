"""A review's findings as bytes, so that they can be read without its body.

Guarantees: `unpack(pack(review))` is the review but for its notes; bytes of every
version stay readable.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from formats.reviews.review import (
    Confidence,
    Finding,
    Place,
    Provenance,
    Review,
    Severity,
    Suppression,
    UnparsedLine,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1

# Any, below: JSON values.


class UnknownVersion(ValueError):
    """The bytes are of a version that this code does not know."""


def pack(review: Review) -> bytes:
    """Return the review as compressed JSON."""
    values: dict[str, Any] = asdict(review)
    del values["notes"]
    text = json.dumps([VERSION, values], ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def unpack(data: bytes) -> Review:
    """Return the review that was packed."""
    version, values = json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass"))
    if version != VERSION:
        raise UnknownVersion(f"review of version {version}")
    return Review(
        findings=tuple(_finding(each) for each in values["findings"]),
        confidence=Confidence(**values["confidence"]) if values["confidence"] else None,
        provenance=Provenance(**values["provenance"]),
        unparsed=tuple(UnparsedLine(**each) for each in values["unparsed"]),
        pr=values["pr"],
        commit=values["commit"],
        partial=values["partial"],
    )


def _finding(values: Mapping[str, Any]) -> Finding:
    return Finding(
        **{
            **values,
            "severity": Severity(values["severity"]),
            "reviewers": tuple(values["reviewers"]),
            "also_at": tuple(Place(*place) for place in values["also_at"]),
            "fingerprints": tuple(
                (name, value) for name, value in values["fingerprints"]
            ),
            "suppressions": tuple(
                Suppression(**each) for each in values["suppressions"]
            ),
        }
    )
