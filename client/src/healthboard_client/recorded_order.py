"""What ran before a victim in its process: from an order trace or the server's runs.

Guarantees: only tests of the victim's own process, that ended before it began; the
newest run in which it ended as asked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from healthboard_client.exits import Misuse

if TYPE_CHECKING:
    from healthboard_client.server import Server

    Json = Any  # as the read API gives it

FAILED = ("failed", "error")
MOST_RUNS = 10


def from_trace(path: str, victim: str) -> list[str]:
    """Read the tests that a trace has before the victim, in their order."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        mine = next((one for one in lines if one["test"] == victim), None)
        if mine is None:
            raise Misuse(f"--order {path}: the victim is not in it")
        place = _place(mine)
        before = [
            one
            for one in lines
            if (one["worker"], one["pid"]) == (mine["worker"], mine["pid"])
            and _place(one) < place
        ]
        tests = [one["test"] for one in sorted(before, key=_place)]
    except OSError as error:
        raise Misuse(f"--order {path}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError):
        raise Misuse(f"--order {path}: not an order trace") from None
    return list(dict.fromkeys(test for test in tests if test != victim))


def _place(line: Json) -> float:
    return float(line["position"] if "position" in line else line["start"])


def from_server(server: Server, victim: str, kind: str) -> list[str]:
    """Ask for the newest run with an order in which it ended as its kind asks."""
    history = server.of_project("tests", victim) + "/history"
    rows = server.get(history, limit=100)["items"]
    wanted = [row for row in rows if _fits(row["outcome"], kind)]
    for row in wanted[:MOST_RUNS]:
        run = server.get(f"/api/v1/runs/{row['run']}")
        if run["order"] != "unknown":
            before = _before(server, row["run"], victim)
            if before:
                return before
    return []


def _fits(outcome: str, kind: str) -> bool:
    """A victim is bisected where it failed, a brittle one where it passed."""
    return outcome in FAILED if kind == "victim" else outcome == "passed"


def _before(server: Server, run: int, victim: str) -> list[str]:
    rows = list(server.items(f"/api/v1/runs/{run}/results"))
    mine = next((row for row in rows if row["nodeid"] == victim), None)
    if mine is None or mine["position"] is None:
        return []
    before = [
        row
        for row in rows
        if row["worker"] == mine["worker"]
        and row["position"] is not None
        and row["position"] < mine["position"]
    ]
    return [row["nodeid"] for row in sorted(before, key=lambda row: row["position"])]
