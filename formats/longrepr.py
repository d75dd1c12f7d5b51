"""What a pytest report line says about its failure, as message and text.

Guarantees: each form of `longrepr` that pytest writes (a text, a crash with its
traceback and chain, a skip's place and reason, nothing) is read, any other is shown
as it is; nothing grows beyond the limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.clipping import clip
from formats.json_lines import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats.json_lines import Json
    from formats.limits import Limits

_DEPTH = 100  # chained exceptions, entries of one traceback: a hundred tell enough


def message_of(longrepr: Json, *, limits: Limits) -> str:
    """One line or a few: the exception, or the reason of a skip."""
    if isinstance(longrepr, dict):
        crash = longrepr.get("reprcrash")
        found = crash.get("message") if isinstance(crash, dict) else ""
    elif isinstance(longrepr, list) and len(longrepr) == 3:
        found = longrepr[2]
    else:
        found = _last_error(longrepr) if isinstance(longrepr, str) else ""
    message = clean(found) if isinstance(found, str) else ""
    return clip(message.removeprefix("Skipped: "), limits.message)


def text_of(longrepr: Json, sections: Json, *, limits: Limits) -> str:
    """The traceback as pytest prints it, then what was captured."""
    if isinstance(longrepr, dict):
        text = "\n".join(_rendered(longrepr))
    elif isinstance(longrepr, list) and len(longrepr) == 3:
        path, line, reason = (str(part) for part in longrepr)
        text = f"{path}:{line}: {reason.removeprefix('Skipped: ')}"
    else:
        text = longrepr if isinstance(longrepr, str) else ""
    parts = [clip(clean(text), limits.text)]
    for title, content in _sections(sections):
        parts.append(f"--- {title} ---\n{clip(content, limits.output)}")
    return "\n".join(part for part in parts if part)


def _last_error(longrepr: str) -> str:
    """Of a text: pytest's first `E` line, else its first line."""
    first = ""
    for line in longrepr[:100_000].splitlines():
        if line.startswith("E  "):
            return line[1:].strip()
        first = first or line.strip()
    return first


def _rendered(longrepr: dict[str, Json]) -> Iterator[str]:
    chain = longrepr.get("chain")
    if not isinstance(chain, list) or not chain:
        chain = [[longrepr.get("reprtraceback"), longrepr.get("reprcrash"), None]]
    for link in chain[-_DEPTH:]:
        if not isinstance(link, list) or not link:
            continue
        yield from _traceback(link[0])
        if len(link) > 2 and isinstance(link[2], str):
            yield f"\n{link[2]}\n"


def _traceback(traceback: Json) -> Iterator[str]:
    entries = traceback.get("reprentries") if isinstance(traceback, dict) else None
    if not isinstance(entries, list):
        return
    if len(entries) > _DEPTH:
        entries = [*entries[: _DEPTH // 2], *entries[-_DEPTH // 2 :]]
    for entry in entries:
        data = entry.get("data") if isinstance(entry, dict) else None
        if isinstance(data, dict):
            yield from _entry(data)


def _entry(data: dict[str, Json]) -> Iterator[str]:
    lines = data.get("lines")
    if isinstance(lines, list):
        yield from (line for line in lines if isinstance(line, str))
    place = data.get("reprfileloc")
    if isinstance(place, dict):
        yield f"\n{place.get('path')}:{place.get('lineno')}: {place.get('message')}"


def _sections(sections: Json) -> Iterator[tuple[str, str]]:
    if not isinstance(sections, list):
        return
    for section in sections[:_DEPTH]:
        if isinstance(section, list) and len(section) == 2:
            title, content = section
            if isinstance(title, str) and isinstance(content, str) and content:
                yield clean(title[:200]), clean(content)
