"""How long test files take: from a file, or as the server measured them.

Guarantees: seconds by file, never negative, never NaN; a file of durations that cannot
be read is refused by name, as shards that disagree would drop tests.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from healthboard_client.exits import Misuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from healthboard_client.server import Server


def from_file(path: str) -> dict[str, float]:
    """Read `{file or node id: seconds}`, or an order trace."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return by_file(_pairs(text))
    except OSError as error:
        raise Misuse(f"--durations {path}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Misuse(
            f"--durations {path}: neither JSON of seconds by file or node id, nor an "
            "order trace"
        ) from None


def from_server(server: Server) -> dict[str, float]:
    """Ask for the usual duration of every test of the project."""
    tests = server.items(server.of_project("tests"), state="active")
    return by_file(
        (test["file"] or test["nodeid"], test["stats"]["p50_s"])
        for test in tests
        if test["stats"]["p50_s"] is not None
    )


def by_file(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Add up the tests of each file."""
    total: dict[str, float] = defaultdict(float)
    for name, seconds in pairs:
        if math.isfinite(seconds) and seconds >= 0:
            total[normal(name.partition("::")[0])] += seconds
    return dict(total)


def normal(name: str) -> str:
    """Return one spelling of a file's name."""
    name = name.replace("\\", "/")
    return name[2:] if name.startswith("./") else name


def save(path: str, durations: dict[str, float]) -> None:
    Path(path).write_text(json.dumps(durations, indent=1, sort_keys=True) + "\n")


def _pairs(text: str) -> Iterator[tuple[str, float]]:
    try:
        whole = json.loads(text)
    except ValueError:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        if not lines:  # cut off, where {} says that nothing is known
            raise
        yield from ((line["test"], float(line["duration"])) for line in lines)
        return
    if "test" in whole and "duration" in whole:  # a trace of one line
        yield whole["test"], float(whole["duration"])
        return
    yield from ((name, float(seconds)) for name, seconds in whole.items())
