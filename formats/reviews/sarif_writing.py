"""Findings as a SARIF 2.1.0 log, for code-scanning pages.

Guarantees: the log is valid by the standard's schema; read again it gives findings of
the same severity, path, places, title, reviewers and identity; the same findings give
the same log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from formats.reviews.identity import OWN_FINGERPRINT, identity
from formats.reviews.review import Finding, Place, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA_ADDRESS = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)
_LEVELS = {
    Severity.P0: "error",
    Severity.P1: "error",
    Severity.P2: "warning",
    Severity.P3: "note",
}
# What tells P0 from P1: a level has only three steps.
_P0_SCORE = "9.0"

# Any, below: JSON values.


def write_sarif(findings: Iterable[Finding], *, version: str = "") -> dict[str, Any]:
    """Return the log; `version` is Healthboard's own."""
    listed = list(findings)
    rules = list(dict.fromkeys(each.rule for each in listed if each.rule))
    driver: dict[str, Any] = {
        "name": "Healthboard",
        "rules": [{"id": rule} for rule in rules],
    }
    if version:
        driver["version"] = version
    numbers = {rule: n for n, rule in enumerate(rules)}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, numbers) for each in listed],
    }
    return {"$schema": SCHEMA_ADDRESS, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, rules: dict[str, int]) -> dict[str, Any]:
    text = finding.title
    if finding.detail:
        text = f"{finding.title}\n\n{finding.detail}"
    properties: dict[str, Any] = {
        "severity": finding.severity.value,
        "reviewers": list(finding.reviewers),
    }
    if finding.severity is Severity.P0:
        properties["security-severity"] = _P0_SCORE
    result: dict[str, Any] = {
        "level": _LEVELS[finding.severity],
        "message": {"text": _escaped(text)},
        "partialFingerprints": {OWN_FINGERPRINT: identity(finding)},
        "properties": properties,
    }
    if finding.rule:
        result["ruleId"] = finding.rule
        result["ruleIndex"] = rules[finding.rule]
    if finding.path:
        places: list[Place | None] = [*finding.places] or [None]
        result["locations"] = [_location(finding.path, place) for place in places]
    if finding.suppressions:
        result["suppressions"] = [
            _suppression(each.kind, each.status, each.reason)
            for each in dict.fromkeys(finding.suppressions)
        ]
    return result


def _escaped(text: str) -> str:
    """A message in which a bracket begins no link."""
    if "](" in text or "\\[" in text:
        return text.replace("[", "\\[")
    return text


def _location(path: str, place: Place | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
    if place is not None:
        region = {"startLine": place.line}
        if place.end_line is not None:
            region["endLine"] = place.end_line
        physical["region"] = region
    return {"physicalLocation": physical}


def _uri(path: str) -> str:
    """A relative reference: a colon before the first slash would be a scheme."""
    return quote(path, safe="/@!$&'()*+,;=~", encoding="utf-8", errors="replace")


def _suppression(kind: str, status: str, reason: str) -> dict[str, str]:
    found = {"kind": kind, "status": status}
    if reason:
        found["justification"] = reason
    return found
