"""Reading `healthboard.review/1`: all of it, or the first value that is wrong.

Guarantees: a key, type or value that the format does not have is `Rejected` with its
path; nothing of such a document is returned.
"""

from __future__ import annotations

import re
from typing import Any

from formats.reviews.fields import (
    below,
    check_boolean,
    check_integer,
    check_keys,
    check_line,
    check_list,
    check_number,
    check_object,
    check_text,
    load,
    refuse,
    shown,
)
from formats.reviews.review import (
    MOST_DETAIL,
    MOST_FINDINGS,
    MOST_NAME,
    MOST_PATH,
    MOST_REVIEWERS,
    MOST_RULE,
    MOST_TITLE,
    SCHEMA,
    Confidence,
    Finding,
    Provenance,
    Review,
    Severity,
    tidy_path,
)

_KEYS = ("schema", "pr", "commit", "confidence", "findings", "provenance", "partial")
_FINDING_KEYS = (
    "severity",
    "path",
    "line",
    "end_line",
    "title",
    "detail",
    "reviewer",
    "rule",
)
_PROVENANCE_KEYS = ("models", "cost_usd", "duration_s", "rounds", "files_examined")
_COMMIT = re.compile(r"[0-9A-Za-z._-]{1,64}")
_MOST_AMOUNT = 1e12


def read_json(raw: bytes) -> Review:
    return review_of(load(raw))


def review_of(value: Any) -> Review:  # Any: JSON that is being checked
    document = check_object(value, "")
    schema = document.get("schema")
    if schema != SCHEMA:
        told = shown(schema) if isinstance(schema, str) else "missing or no text"
        refuse("schema", f"{told}; this reads {SCHEMA}")
    check_keys(document, _KEYS, "")
    if "findings" not in document:
        refuse("findings", "missing")
    entries = check_list(document["findings"], "findings", most=MOST_FINDINGS)
    pr, partial = document.get("pr"), document.get("partial", False)
    return Review(
        tuple(_finding(each, f"findings[{n}]") for n, each in enumerate(entries)),
        confidence=_confidence(document.get("confidence")),
        provenance=_provenance(document.get("provenance")),
        pr=None if pr is None else check_integer(pr, "pr", least=1),
        commit=_commit(document.get("commit")),
        partial=check_boolean(partial, "partial"),
    )


def _finding(value: Any, path: str) -> Finding:
    entry = check_object(value, path)
    check_keys(entry, _FINDING_KEYS, path)
    for key in ("severity", "path", "title"):
        if key not in entry:
            refuse(below(path, key), "missing")
    if entry["severity"] not in list(Severity):
        refuse(below(path, "severity"), f"must be one of {', '.join(Severity)}")
    where = tidy_path(
        check_line(entry["path"], below(path, "path"), most=MOST_PATH, filled=True)
    )
    if not where:
        refuse(below(path, "path"), "must not be empty")
    reviewer = _optional_line(entry, "reviewer", path, most=MOST_NAME)
    line, end_line = _lines(entry, path)
    detail = entry.get("detail")
    return Finding(
        severity=Severity(entry["severity"]),
        path=where,
        title=check_line(entry["title"], below(path, "title"), most=MOST_TITLE),
        line=line,
        end_line=end_line,
        detail=""
        if detail is None
        else check_text(detail, below(path, "detail"), most=MOST_DETAIL),
        reviewers=(reviewer,) if reviewer else (),
        rule=_optional_line(entry, "rule", path, most=MOST_RULE),
    )


def _lines(entry: dict[str, Any], path: str) -> tuple[int | None, int | None]:
    line, end_line = entry.get("line"), entry.get("end_line")
    if line is not None:
        line = check_integer(line, below(path, "line"), least=1)
    if end_line is not None:
        end_line = check_integer(end_line, below(path, "end_line"), least=1)
        if line is None:
            refuse(below(path, "end_line"), "needs a line")
        if end_line < line:
            refuse(below(path, "end_line"), "is before the line")
    return line, end_line


def _optional_line(entry: dict[str, Any], key: str, path: str, *, most: int) -> str:
    value = entry.get(key)
    if value is None:
        return ""
    return check_line(value, below(path, key), most=most, filled=False)


def _confidence(value: Any) -> Confidence | None:
    if value is None:
        return None
    entry = check_object(value, "confidence")
    check_keys(entry, ("score", "of"), "confidence")
    for key in ("score", "of"):
        if key not in entry:
            refuse(f"confidence.{key}", "missing")
    of = check_number(entry["of"], "confidence.of", least=0, most=_MOST_AMOUNT)
    if of == 0:
        refuse("confidence.of", "must be more than 0")
    score = check_number(entry["score"], "confidence.score", least=0, most=of)
    return Confidence(score, of)


def _provenance(value: Any) -> Provenance:
    if value is None:
        return Provenance()
    entry = check_object(value, "provenance")
    check_keys(entry, _PROVENANCE_KEYS, "provenance")
    return Provenance(
        models=_models(entry.get("models")),
        cost_usd=_amount(entry, "cost_usd"),
        duration_s=_amount(entry, "duration_s"),
        rounds=_count(entry, "rounds"),
        files_examined=_count(entry, "files_examined"),
    )


def _models(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    entry = check_object(value, "provenance.models")
    if len(entry) > MOST_REVIEWERS:
        refuse("provenance.models", f"more than {MOST_REVIEWERS} entries")
    found = {}
    for key, model in entry.items():
        path = f"provenance.models.{shown(key)}"
        name = check_line(key, path, most=MOST_NAME)
        found[name] = check_line(model, path, most=MOST_NAME, filled=False)
    return found


def _amount(entry: dict[str, Any], key: str) -> float | None:
    value = entry.get(key)
    if value is None:
        return None
    return check_number(value, f"provenance.{key}", least=0, most=_MOST_AMOUNT)


def _count(entry: dict[str, Any], key: str) -> int | None:
    value = entry.get(key)
    if value is None:
        return None
    return check_integer(value, f"provenance.{key}", least=0)


def _commit(value: Any) -> str:
    if value is None:
        return ""
    found = check_line(value, "commit", most=64, filled=False)
    if found and not _COMMIT.fullmatch(found):
        refuse("commit", "must be 1 to 64 characters of 0-9 A-Z a-z . _ -")
    return found
