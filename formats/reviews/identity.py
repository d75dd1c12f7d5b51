"""Which finding a finding is.

Guarantees: the key of a finding does not change with its line, its detail, its
severity, its reviewers, nor with case, markup or punctuation of its title; a SARIF
tool's partial fingerprints win over path and title; a finding that was exported by
`sarif_writing` and read again has the key that it had.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from formats.reviews.review import Finding, Place

if TYPE_CHECKING:
    from collections.abc import Iterable

OWN_FINGERPRINT = "healthboardFinding/v1"

_KEY = re.compile(r"[0-9a-f]{32}")
_LINK = re.compile(r"\[([^\[\]]{1,2000})\]\([^()\s]{0,4000}\)")
_MARKUP = re.compile(r"[`*~\"'“”‘’«»]|(?<!\w)_{1,8}|_{1,8}(?!\w)")
_DASHES = re.compile(r"[‐‑‒–—―−]")
_ENDING = " .;:,!…-"


def identity(finding: Finding) -> str:
    """Return the key of the finding in its project: 32 hexadecimal digits."""
    for name, value in finding.fingerprints:
        if name == OWN_FINGERPRINT and _KEY.fullmatch(value):
            return value
    if finding.fingerprints:
        pairs = [part for pair in finding.fingerprints for part in pair]
        return _digest("fingerprints", finding.rule, *pairs)
    title = normalised_title(finding.title)
    return _digest("title", finding.path, title, finding.rule)


def normalised_title(title: str) -> str:
    """The title without what a second reviewer would write differently."""
    found = unicodedata.normalize("NFKC", title)
    found = _DASHES.sub("-", _MARKUP.sub("", _LINK.sub(r"\1", found)))
    found = " ".join(found.casefold().split())
    return found.rstrip(_ENDING) or found


def fold(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Each finding of one review once, by its key, in the order of first mention.

    The same finding from several reviewers or at several places has the highest of
    the severities and all the reviewers, places and details.
    """
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(identity(finding), []).append(finding)
    return {key: _join(group) for key, group in groups.items()}


def _join(group: list[Finding]) -> Finding:
    if len(group) == 1:
        return group[0]
    group = sorted(group, key=_rank)
    first = group[0]
    places = sorted({place for each in group for place in each.places}, key=_place_rank)
    chief = first.places[0] if first.places else next(iter(places), None)
    details = dict.fromkeys(each.detail for each in group if each.detail)
    reviewers = {name for each in group for name in each.reviewers}
    suppressions = dict.fromkeys(s for each in group for s in each.suppressions)
    return replace(
        first,
        line=chief.line if chief else None,
        end_line=chief.end_line if chief else None,
        also_at=tuple(place for place in places if place != chief),
        detail="\n\n".join(details),
        reviewers=tuple(sorted(reviewers)),
        # Silenced at one place is not silenced at all of them.
        suppressions=tuple(suppressions)
        if all(each.suppressed for each in group)
        else (),
    )


def _rank(finding: Finding) -> tuple[object, ...]:
    line = finding.line if finding.line is not None else 0
    return (
        finding.severity,
        finding.line is None,
        line,
        finding.end_line or 0,
        finding.path,
        finding.title,
        finding.detail,
        finding.reviewers,
        finding.also_at,
        finding.source_line or 0,
    )


def _place_rank(place: Place) -> tuple[int, int]:
    return place.line, place.end_line or 0


def _digest(*parts: str) -> str:
    # Lengths before the parts, so that no two lists of parts read the same.
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
