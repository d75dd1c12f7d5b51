"""Values out of a payload: of the wanted type, or as if they were not there.

Guarantees: no payload makes these raise; texts are cut to what is stored; a commit is
1 to 64 characters of its alphabet, and all zeros are none.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from formats.hooks.facts import CommitFact
from formats.phrase_tokens import MOST_NUMBER
from formats.prose import MOST_TEXT

type Json = dict[str, Any]  # Any: JSON

MOST_COMMITS = 5_000
_COMMIT = re.compile(r"[0-9A-Za-z._-]{1,64}", re.ASCII)
_HEX = re.compile(r"[0-9a-fA-F]{7,64}", re.ASCII)
_NUL = re.compile("[\x00\ud800-\udfff]")
_LANDS = (
    re.compile(r"\(#(\d{1,10})\)\s*$"),  # a squashed pull request
    re.compile(r"^Merge pull request #(\d{1,10})\b"),
)
_LANDS_BELOW = re.compile(r"^See merge request \S*!(\d{1,10})\s*$", re.MULTILINE)
_MERGES = re.compile(r"^Merge (?:pull request|branch|remote-tracking|commit|tag)\b")
_ZONED = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?) ?(Z|UTC|[+-]\d\d:?\d\d)?"
)


def part(document: Json, *names: str) -> Json:
    """Return a nested object, empty where it is none."""
    found: Any = document
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def text(document: Json, name: str, *, most: int = 255) -> str:
    value = document.get(name)
    return (
        _NUL.sub("\N{REPLACEMENT CHARACTER}", value)[:most]
        if isinstance(value, str)
        else ""
    )


def prose(document: Json, name: str) -> str:
    return text(document, name, most=MOST_TEXT)


def number(document: Json, name: str) -> int | None:
    value = document.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 < value <= MOST_NUMBER else None
    return None


def sha(document: Json, name: str) -> str:
    return as_sha(document.get(name))


def as_sha(value: object) -> str:
    """Return a commit in the spelling that is stored."""
    if not isinstance(value, str) or not _COMMIT.fullmatch(value):
        return ""
    if not value.strip("0"):
        return ""
    return value.lower() if _HEX.fullmatch(value) else value


def moment(document: Json, name: str) -> datetime | None:
    """Return a time with its zone: RFC 3339, or GitLab's older spellings."""
    value = document.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return _from_seconds(value)
    found = _ZONED.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    day, clock, zone = found.groups()
    offset = "+00:00" if zone in (None, "Z", "UTC") else zone
    try:
        return datetime.fromisoformat(f"{day}T{clock}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _from_seconds(value: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def branch_of(ref: str) -> str:
    """Return the branch that a full ref names; nothing for a tag."""
    return ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else ""


def commits(document: Json) -> tuple[CommitFact, ...]:
    """Return the commits of a push, in the payload's order."""
    listed = document.get("commits")
    found = []
    for one in listed[:MOST_COMMITS] if isinstance(listed, list) else ():
        if isinstance(one, dict) and (named := sha(one, "id")):
            message = prose(one, "message")
            found.append(
                CommitFact(
                    named,
                    moment(one, "timestamp"),
                    lands(message),
                    merges=_MERGES.match(message) is not None,
                )
            )
    return tuple(found)


def lands(message: str) -> int | None:
    """Return the pull request that a commit on the default branch lands, as hosts
    write it into the message of a merge or of a squash."""
    first = message.partition("\n")[0].strip()
    found = next((m for p in _LANDS if (m := p.search(first))), None)
    found = found or _LANDS_BELOW.search(message)
    value = int(found[1]) if found else 0
    return value if 0 < value <= MOST_NUMBER else None
