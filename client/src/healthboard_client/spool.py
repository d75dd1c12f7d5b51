"""Uploads on disk from before they are sent until the server has them.

Guarantees: what could not be sent lies in the spool as it would have been sent, with
its id, and goes out with a later command; the token is never written; an entry goes
only to the server and project that it was made for; two commands at once do not send
the same entry, and where one is killed the entry is sent by the next.

An entry is one file: a line of JSON, then the gzipped body. `.waiting` is free to be
sent, `.sending` belongs to a command.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from healthboard_client.multipart import new_boundary, write_body
from healthboard_client.server import FileBody

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from healthboard_client.files import Report

STUCK_S = 3600.0  # a command that takes longer was killed
KEPT_S = 30 * 86_400.0
MOST_LINE = 4096


@dataclass(frozen=True)
class Label:
    """What is known of an entry without its body."""

    url: str
    project: str
    key: str
    boundary: str
    made: float


@dataclass(frozen=True)
class Entry:
    """One upload in the spool."""

    label: Label
    path: Path
    body: FileBody


def directory(option: str | None, environ: Mapping[str, str]) -> Path:
    """Return where the spool is."""
    given = option or environ.get("HEALTHBOARD_SPOOL", "")
    if given:
        return Path(given)
    cache = environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if cache else Path.home() / ".cache") / "healthboard" / "spool"


def write(
    folder: Path,
    context: dict[str, Any],  # Any: JSON
    reports: list[Report],
    *,
    url: str,
    project: str,
) -> Entry:
    """Write a new entry that belongs to this command."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    label = Label(url, project, uuid.uuid4().hex, new_boundary(), time.time())
    draft = folder / f"{label.key}.draft"
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(asdict(label)).encode() + b"\n")
            write_body(file, context, reports, boundary=label.boundary)
        path = draft.with_suffix(".sending")
        draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)
    return _read(path)


def keep(entry: Entry) -> Path:
    """Leave an entry for a later command."""
    path = entry.path.with_suffix(".waiting")
    entry.path.rename(path)
    return path


def drop(entry: Entry) -> None:
    entry.path.unlink(missing_ok=True)


def claim(folder: Path, *, url: str, project: str) -> Iterator[Entry]:
    """Yield each entry for this server that nobody else sends; it is then ours."""
    for path in sorted(folder.glob("*.*")):
        entry = None
        # Taken by another command meanwhile, or no entry of ours at all.
        with suppress(OSError, ValueError, TypeError):
            entry = _claimed(path, (url, project), now=time.time())
        if entry is not None:
            yield entry


def _claimed(path: Path, wanted: tuple[str, str], *, now: float) -> Entry | None:
    untouched = now - path.stat().st_mtime
    if path.suffix == ".draft" and untouched > STUCK_S:
        path.unlink()
    waits = path.suffix == ".waiting"
    stuck = path.suffix == ".sending" and untouched > STUCK_S
    if not waits and not stuck:
        return None
    label = _read(path).label
    if (label.url, label.project) != wanted:
        return None
    if now - label.made > KEPT_S:
        path.unlink()
        return None
    return _take(path)


def _take(path: Path) -> Entry:
    """Make it ours; of two that try, one finds the file gone."""
    os.utime(path)  # it is not stuck
    free, ours = path.with_suffix(".waiting"), path.with_suffix(".sending")
    if path != free:
        path.rename(free)
    free.rename(ours)
    return _read(ours)


def _read(path: Path) -> Entry:
    with path.open("rb") as file:
        line = file.readline(MOST_LINE)
        label = Label(**json.loads(line))
    length = path.stat().st_size - len(line)
    return Entry(label, path, FileBody(path, len(line), length))
