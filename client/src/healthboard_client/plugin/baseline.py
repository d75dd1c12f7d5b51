"""The ratchet: leaks that were there before their gate was.

Guarantees: an entry is a test (or a fixture) and a kind, so a known leaker that leaks
something else is told; a file that cannot be read stops the run before its first test;
what a run saw clean drops out, unless the run was only a part of the suite.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from healthboard_client.plugin.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SCHEMA = "healthboard.baseline/1"
FIXTURE = " (fixture)"

Entry = tuple[str, str]  # who, and the kind


def read_baseline(path: Path) -> frozenset[Entry]:
    """Read the known leaks; a missing file knows none."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["schema"] != SCHEMA:
            raise ValueError(f"schema: must be {SCHEMA}")
        return frozenset((str(one["test"]), str(one["kind"])) for one in told["leaks"])
    except FileNotFoundError:
        return frozenset()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise pytest.UsageError(f"{path} is no baseline of leaks: {error!r}") from None


def write_baseline(path: Path, entries: Iterable[Entry]) -> None:
    """Write the known leaks, sorted, one a line, so that a review can read them."""
    lines = [json.dumps({"test": who, "kind": kind}) for who, kind in sorted(entries)]
    listed = ",\n    ".join(lines)
    body = f"\n    {listed}\n  " if lines else ""
    write_whole(path, f'{{\n  "schema": "{SCHEMA}",\n  "leaks": [{body}]\n}}\n')


def fixed(
    known: Iterable[Entry],
    *,
    leaked: frozenset[Entry],
    passed: frozenset[str],
    gates: Iterable[str],
) -> list[Entry]:
    """Return the entries that this run saw clean."""
    watched = tuple(f"{gate}." for gate in gates)
    return sorted(
        entry
        for entry in known
        if entry not in leaked
        and entry[1].startswith(watched)
        and _has_run(entry[0], passed)
    )


def _has_run(who: str, passed: frozenset[str]) -> bool:
    if not who.endswith(FIXTURE):
        return who in passed
    # A fixture ran if a test did that can see it: in its file, or below its conftest.
    file = who.partition("::")[0]
    place = file[: -len("conftest.py")] if file.endswith("conftest.py") else f"{file}::"
    return any(nodeid.startswith(place) for nodeid in passed)
