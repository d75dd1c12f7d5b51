"""One result of a SARIF log as a finding.

Guarantees: severity, place, message, rule, fingerprints and suppressions are read as
the standard says, the rule's defaults included; each wrong value has its path.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from formats.json_lines import clean
from formats.reviews.fields import (
    below,
    check_integer,
    check_line,
    check_list,
    check_object,
    check_text,
    refuse,
)
from formats.reviews.identity import OWN_FINGERPRINT
from formats.reviews.review import (
    MOST_DETAIL,
    MOST_FINDINGS,
    MOST_NAME,
    MOST_PATH,
    MOST_REVIEWERS,
    MOST_RULE,
    MOST_TITLE,
    Finding,
    Place,
    Severity,
    Suppression,
    tidy_path,
)

_LEVELS = {
    "error": Severity.P1,
    "warning": Severity.P2,
    "note": Severity.P3,
    "none": Severity.P3,
}
_LONG_TITLE = 300
# A text said once for all results, and what placeholders add to one result: a small
# log must not become a large review.
_MOST_SHARED = 4_000
_MOST_FILLED = 4_000
_MOST_FINGERPRINTS = 50
_MOST_URI = 4_000
_EMBEDDED_LINK = re.compile(r"(?<!\\)\[([^\[\]]{1,1000})\]\([^()\s]{1,2000}\)")
_ARGUMENT = re.compile(r"\{(\d{1,3})\}")
_STATUSES = ("accepted", "underReview", "rejected")


class Rules:
    """What a run says once for all its results."""

    def __init__(
        self, run: dict[str, Any], rules: list[dict[str, Any]], tool: str
    ) -> None:
        self.tool = tool
        self.artifacts = run.get("artifacts")
        self.bases = run.get("originalUriBaseIds")
        self._rules = rules
        self._by_id: dict[str, dict[str, Any]] = {}
        for rule in rules:
            if isinstance(rule.get("id"), str):
                self._by_id.setdefault(rule["id"], rule)

    def find(self, result: dict[str, Any], path: str) -> tuple[str, dict[str, Any]]:
        """Return a result's rule id and its rule, empty where it names none."""
        reference = result.get("rule")
        if reference is not None:
            reference = check_object(reference, below(path, "rule"))
        else:
            reference = {}
        # A rule of an extension is numbered in that extension's own list.
        index = result.get("ruleIndex", reference.get("index"))
        rule: dict[str, Any] = {}
        if index is not None and "toolComponent" not in reference:
            here = below(path, "ruleIndex" if "ruleIndex" in result else "rule.index")
            index = check_integer(index, here, least=-1)
            if self._rules and index >= len(self._rules):
                refuse(here, f"there are only {len(self._rules)} rules")
            if 0 <= index < len(self._rules):
                rule = self._rules[index]
        name = result.get("ruleId", reference.get("id", rule.get("id")))
        if name is None:
            return "", rule
        name = check_line(name, below(path, "ruleId"), most=MOST_RULE)
        return name, rule or self._by_id.get(name, {})


def read_result(result: dict[str, Any], path: str, rules: Rules) -> Finding:
    name, rule = rules.find(result, path)
    fingerprints = _fingerprints(result, path)
    # What this project exported has titles, not whole messages in one line.
    is_own = any(name == OWN_FINGERPRINT for name, _ in fingerprints)
    most = MOST_TITLE if is_own else _LONG_TITLE
    title, detail = _message(result, path, rule, most=most)
    where, places, elsewhere = _places(result, path, rules)
    if elsewhere:
        also = "\n".join(f"Also at {each}" for each in elsewhere)
        detail = f"{detail}\n\n{also}".strip()[:MOST_DETAIL]
    first = places[0] if places else None
    return Finding(
        severity=_severity(result, path, rule),
        path=where,
        title=title,
        line=first.line if first else None,
        end_line=first.end_line if first else None,
        detail=detail,
        reviewers=_reviewers(result, path, rules.tool),
        rule=name,
        also_at=tuple(places[1:]),
        fingerprints=fingerprints,
        suppressions=_suppressions(result, path),
    )


def _severity(result: dict[str, Any], path: str, rule: dict[str, Any]) -> Severity:
    level, here = result.get("level"), below(path, "level")
    if level is None:
        defaults = rule.get("defaultConfiguration") or {}
        default = check_object(defaults, f"{path}.rule.defaultConfiguration")
        level, here = default.get("level"), f"{path}.rule.defaultConfiguration.level"
    if level is None:
        level = "warning"
    if not isinstance(level, str) or level not in _LEVELS:
        refuse(here, f"must be one of {', '.join(_LEVELS)}")
    return min(_LEVELS[level], _by_score(result, path, rule))


def _by_score(result: dict[str, Any], path: str, rule: dict[str, Any]) -> Severity:
    for owner, prefix in ((result, path), (rule, f"{path}.rule")):
        here = f"{prefix}.properties"
        properties = check_object(owner.get("properties") or {}, here)
        value = properties.get("security-severity")
        if value is None:
            continue
        score = _score(value, f"{here}.security-severity")
        return Severity.P0 if score >= 9 else Severity.P1 if score >= 7 else Severity.P3
    return Severity.P3


def _score(value: Any, path: str) -> float:
    """A text, as code scanning wants it, or a number."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,2}(?:\.\d{1,6})?", value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(path, "must be a number from 0 to 10")
    if not 0 <= value <= 10:
        refuse(path, "must be a number from 0 to 10")
    return value


def _message(
    result: dict[str, Any], path: str, rule: dict[str, Any], *, most: int
) -> tuple[str, str]:
    """Title and detail: the first line of the message, and all of it if longer."""
    here = below(path, "message")
    message = check_object(result.get("message"), here)
    text = message.get("text")
    if text is None and message.get("id") is not None:
        text = _looked_up(message, here, rule)
    if text is None:
        text = message.get("markdown")
    if text is None:
        refuse(f"{here}.text", "missing")
    whole = check_text(text, f"{here}.text", most=MOST_DETAIL, filled=True)
    whole = _EMBEDDED_LINK.sub(r"\1", _filled(whole, message, here))
    whole = whole.replace("\\[", "[").strip()
    first, _, more = whole.partition("\n")
    title = " ".join(first.split()) or "(no text)"
    if len(title) > most:
        return title[: most - 1] + "…", whole[:MOST_DETAIL]
    return title, more.strip()[:MOST_DETAIL]


def _looked_up(message: dict[str, Any], path: str, rule: dict[str, Any]) -> Any:
    name = check_line(message["id"], f"{path}.id", most=MOST_RULE)
    texts = check_object(rule.get("messageStrings") or {}, f"{path}.id")
    found = check_object(texts.get(name) or {}, f"{path}.id")
    if found.get("text") is None:
        refuse(f"{path}.id", "no such text in the rule")
    return check_text(found["text"], f"{path}.id", most=_MOST_SHARED)


def _filled(text: str, message: dict[str, Any], path: str) -> str:
    if message.get("arguments") is None:
        return text
    here = f"{path}.arguments"
    given = check_list(message["arguments"], here, most=1_000)
    texts = [
        check_text(each, f"{here}[{n}]", most=MOST_NAME * 10)
        for n, each in enumerate(given)
    ]
    room = _MOST_FILLED

    def fill(match: re.Match[str]) -> str:
        nonlocal room
        number = int(match[1])
        if number >= len(texts) or room < len(texts[number]):
            return match[0]
        room -= len(texts[number])
        return texts[number]

    return _ARGUMENT.sub(fill, text)


def _places(
    result: dict[str, Any], path: str, rules: Rules
) -> tuple[str, list[Place], list[str]]:
    """Return the file of the first place, the lines in it, and places elsewhere."""
    if result.get("locations") is None:
        return "", [], []
    here = f"{path}.locations"
    where = ""
    places: dict[Place, None] = {}
    elsewhere: dict[str, None] = {}
    for n, entry in enumerate(
        check_list(result["locations"], here, most=MOST_FINDINGS)
    ):
        location = check_object(entry, f"{here}[{n}]")
        if location.get("physicalLocation") is None:
            continue
        physical = f"{here}[{n}].physicalLocation"
        found = check_object(location["physicalLocation"], physical)
        file = _file(found, physical, rules)
        place = _region(found, physical)
        if n == 0 or not where:
            where = file
        if file != where:
            elsewhere[f"{file}:{place.line}" if place else file] = None
        elif place:
            places[place] = None
    return where, list(places), list(elsewhere)


def _file(physical: dict[str, Any], path: str, rules: Rules) -> str:
    artifact = physical.get("artifactLocation")
    if artifact is None:
        return ""
    here = f"{path}.artifactLocation"
    artifact = check_object(artifact, here)
    uri, index = artifact.get("uri"), artifact.get("index")
    if uri is None and index is not None:
        index = check_integer(index, f"{here}.index", least=-1)
        listed = check_list(rules.artifacts or [], f"{here}.index", most=10**6)
        if index >= len(listed):
            refuse(f"{here}.index", f"there are only {len(listed)} artifacts")
        if index >= 0:
            entry = check_object(listed[index], f"{here}.index")
            place = check_object(entry.get("location") or {}, f"{here}.index")
            uri = place.get("uri")
    if uri is None:
        return ""
    return _relative(check_line(uri, f"{here}.uri", most=_MOST_URI), rules)[:MOST_PATH]


def _relative(uri: str, rules: Rules) -> str:
    """The path within the repository, where the log says what its root is."""
    if isinstance(rules.bases, dict):
        for base in rules.bases.values():
            root = base.get("uri") if isinstance(base, dict) else None
            if isinstance(root, str) and root and uri.startswith(root):
                return tidy_path(clean(unquote(uri.removeprefix(root))).lstrip("/"))
    if uri.startswith("file://"):
        uri = "/" + uri.removeprefix("file://").partition("/")[2]
    return tidy_path(clean(unquote(uri)))


def _region(physical: dict[str, Any], path: str) -> Place | None:
    if physical.get("region") is None:
        return None
    here = f"{path}.region"
    region = check_object(physical["region"], here)
    if region.get("startLine") is None:
        return None
    line = check_integer(region["startLine"], f"{here}.startLine", least=1)
    if region.get("endLine") is None:
        return Place(line)
    end = check_integer(region["endLine"], f"{here}.endLine", least=1)
    if end < line:
        refuse(f"{here}.endLine", "is before startLine")
    return Place(line, end if end > line else None)


def _reviewers(result: dict[str, Any], path: str, tool: str) -> tuple[str, ...]:
    """The tool, but for an export of reviews that names those who raised it."""
    properties = check_object(result.get("properties") or {}, f"{path}.properties")
    named = properties.get("reviewers")
    if not isinstance(named, list):
        return (tool,)
    here = f"{path}.properties.reviewers"
    check_list(named, here, most=MOST_REVIEWERS)
    return tuple(
        check_line(each, f"{here}[{n}]", most=MOST_NAME) for n, each in enumerate(named)
    )


def _fingerprints(result: dict[str, Any], path: str) -> tuple[tuple[str, str], ...]:
    if result.get("partialFingerprints") is None:
        return ()
    here = f"{path}.partialFingerprints"
    given = check_object(result["partialFingerprints"], here)
    if len(given) > _MOST_FINGERPRINTS:
        refuse(here, f"more than {_MOST_FINGERPRINTS} entries")
    return tuple(
        sorted(
            (
                check_line(name, here, most=MOST_RULE),
                check_line(value, below(here, name[:100]), most=MOST_RULE),
            )
            for name, value in given.items()
        )
    )


def _suppressions(result: dict[str, Any], path: str) -> tuple[Suppression, ...]:
    if result.get("suppressions") is None:
        return ()
    here = f"{path}.suppressions"
    found = []
    for n, each in enumerate(
        check_list(result["suppressions"], here, most=MOST_FINDINGS)
    ):
        entry = check_object(each, f"{here}[{n}]")
        kind = check_line(entry.get("kind"), f"{here}[{n}].kind", most=MOST_NAME)
        if kind not in ("inSource", "external"):
            refuse(f"{here}[{n}].kind", "must be inSource or external")
        status = entry.get("status", "accepted")
        if status not in _STATUSES:
            refuse(f"{here}[{n}].status", f"must be one of {', '.join(_STATUSES)}")
        reason = entry.get("justification") or ""
        reason = check_line(
            reason, f"{here}[{n}].justification", most=MOST_DETAIL, filled=False
        )
        found.append(Suppression(kind, status, reason))
    return tuple(found)
