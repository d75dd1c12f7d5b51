"""One order trace and one file of leaks out of those of all processes.

Guarantees: a session merges its own parts, though another one writes into the same
directory; nothing is deleted that is not the plugin's own, and no part before the
whole is written; a line that a killed process tore off is left out; a test during
which a worker died is in the trace, in that worker's process, as an error. Attempts
are in order of start.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from healthboard_client.plugin.leaks import SCHEMA
from healthboard_client.plugin.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Json = dict[str, Any]  # decoded JSON of our own files

_PROC = Path("/proc")
MOST_LEAKS = 10_000  # of one file, as the format allows
_PART = re.compile(r"(order|gate)-(\d+)-(.+)-(\d+)\.jsonl?")
_WHOLE = re.compile(r"order\.jsonl|gate(-\d+)?\.json")
_IGNORE = "# Made by pytest --healthboard.\n*\n"


@dataclass
class Told:
    """What all processes of a session wrote."""

    attempts: list[Json] = field(default_factory=list)
    leaks: list[Json] = field(default_factory=list)


def clear(directory: Path) -> None:
    """Take away what an earlier session of the plugin left in its directory."""
    if not directory.is_dir():
        return
    for path in directory.iterdir():
        part = _PART.fullmatch(path.name)
        if _WHOLE.fullmatch(path.name) or (part and _has_ended(part[2])):
            path.unlink(missing_ok=True)


def _has_ended(session: str) -> bool:
    """Tell, where that can be told, that the process is gone."""
    return _PROC.is_dir() and not (_PROC / session).exists()


def merge(
    directory: Path,
    session: int,
    crashes: Sequence[tuple[str, str, str]],
    *,
    gates: Sequence[str],
) -> Told:
    """Write the wholes and delete the parts; crashes are worker, test and outcome."""
    told = Told()
    parts = _parts(directory, session)
    last: dict[str, Json] = {}
    for path, kind, worker, pid in parts:
        if kind == "gate":
            told.leaks += _read_leaks(path)
            continue
        attempts = list(_read_attempts(path))
        told.attempts += attempts
        last[worker] = {
            "pid": pid,
            "position": max((one["position"] for one in attempts), default=-1),
            "start": max((_end(one) for one in attempts), default=path.stat().st_ctime),
        }
    told.attempts += [_crashed(*crash, last) for crash in crashes if crash[0] in last]
    told.attempts.sort(key=lambda one: (one["start"], one["worker"], one["position"]))
    told.leaks.sort(key=lambda one: (one["worker"], one["position"] or 0))
    _write(directory, told, gates)
    for path, *_ in parts:
        path.unlink()
    return told


def _parts(directory: Path, session: int) -> list[tuple[Path, str, str, int]]:
    if not directory.is_dir():
        return []
    found = []
    for path in sorted(directory.iterdir()):
        match = _PART.fullmatch(path.name)
        if match and match[2] == str(session):
            found.append((path, match[1], match[3], int(match[4])))
    return found


def _read_attempts(path: Path) -> Iterator[Json]:
    """Read whole lines: a process that was killed may have torn off its last one."""
    for line in path.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):
            yield json.loads(line)


def _read_leaks(path: Path) -> list[Json]:
    try:
        leaks: list[Json] = json.loads(path.read_bytes())["leaks"]
    except (ValueError, KeyError):  # killed between two writes
        return []
    return leaks


def _end(attempt: Json) -> float:
    return float(attempt["start"] + attempt["duration"])


def _crashed(worker: str, nodeid: str, outcome: str, last: dict[str, Json]) -> Json:
    """The test that ran when its worker died: the next one behind the last line."""
    known = last[worker]
    return {
        "v": 1,
        "test": nodeid,
        "worker": worker,
        "pid": known["pid"],
        "position": known["position"] + 1,
        "start": known["start"],
        "duration": 0.0,
        "outcome": "rerun" if outcome == "rerun" else "error",
        "phase": "call",
    }


def _write(directory: Path, told: Told, gates: Sequence[str]) -> None:
    write_whole(directory / ".gitignore", _IGNORE)
    if told.attempts:
        lines = "".join(f"{json.dumps(one)}\n" for one in told.attempts)
        write_whole(directory / "order.jsonl", lines)
    if not gates and not told.leaks:
        return
    gate = gates[0] if len(gates) == 1 else "healthboard"
    for number, at in enumerate(range(0, max(len(told.leaks), 1), MOST_LEAKS)):
        name = f"gate-{number + 1}.json" if number else "gate.json"
        leaks = told.leaks[at : at + MOST_LEAKS]
        document = {"schema": SCHEMA, "gate": gate, "leaks": leaks}
        write_whole(directory / name, json.dumps(document, indent=1) + "\n")
