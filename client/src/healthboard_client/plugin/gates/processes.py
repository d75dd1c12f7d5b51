"""Child processes that are left alive, and their children.

Guarantees: a process is known by its number *and* the time it was started at, so that
a later one with the same number is another one; nothing is ever sent a signal; one
that is about to end has a moment to do so, and one that only waits to be reaped is not
alive.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from healthboard_client.plugin.gates.gate import Gate, Words
from healthboard_client.plugin.states import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from healthboard_client.plugin.states import Change, State

_PROC = Path("/proc")
_PS = ["ps", "-A", "-o", "pid=,ppid=,stat=,lstart=,comm="]
_PS_WORDS = 8  # lstart alone is five


class _Process(NamedTuple):
    pid: int
    parent: int
    state: str
    started: str
    name: str


class Processes(Gate):
    name = family = "processes"
    grace = 0.2
    words = {
        "alive": Words(
            "left {count} child process(es) alive",
            "It holds ports, files and memory while later tests run, and outlives the "
            "suite.\nEnd it and wait for it in a fixture's teardown; subprocess.Popen "
            "is a context manager.",
        )
    }

    def take(self) -> State:
        own = _bookkeepers()
        return {
            f"{one.name} (pid {one.pid})": one.started
            for one in _descendants(os.getpid(), list(_all()))
            if one.state[:1] != "Z" and one.pid not in own
        }

    def kind(self, change: Change) -> str:
        return "" if change.after is MISSING else "alive"


def _descendants(root: int, every: Iterable[_Process]) -> Iterator[_Process]:
    children: dict[int, list[_Process]] = {}
    for one in every:
        children.setdefault(one.parent, []).append(one)
    waiting = children.pop(root, [])
    while waiting:
        one = waiting.pop()
        yield one
        waiting += children.pop(one.pid, [])


def _all() -> Iterator[_Process]:
    if (_PROC / "self" / "stat").exists():
        return _from_proc()
    return _from_ps()


def _from_proc() -> Iterator[_Process]:
    for name in os.listdir(_PROC):  # noqa: PTH208  # a thousand Paths cost too much
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                told = file.read().decode("utf-8", "replace")
        except OSError:  # ended meanwhile
            continue
        # The name may hold blanks and brackets; the last bracket is ours.
        head, _, tail = told.rpartition(")")
        fields = tail.split()
        yield _Process(
            int(name), int(fields[1]), fields[0], fields[19], head.partition("(")[2]
        )


def _from_ps() -> Iterator[_Process]:
    """Without /proc, as on macOS; nothing where there is no `ps` either."""
    try:
        listed = subprocess.run(_PS, capture_output=True, text=True, check=False)
    except OSError:
        return
    for line in listed.stdout.splitlines():
        words = line.split(None, _PS_WORDS)
        if len(words) <= _PS_WORDS or words[_PS_WORDS] == "ps":
            continue
        started = " ".join(words[3:_PS_WORDS])
        name = words[_PS_WORDS].rpartition("/")[2]
        yield _Process(int(words[0]), int(words[1]), words[2], started, name)


def _bookkeepers() -> set[int]:
    """Processes that multiprocessing keeps on purpose as long as this one lives."""
    found = set()
    for module, name, number in (
        ("multiprocessing.resource_tracker", "_resource_tracker", "_pid"),
        ("multiprocessing.forkserver", "_forkserver", "_forkserver_pid"),
    ):
        keeper = getattr(sys.modules.get(module), name, None)
        pid = getattr(keeper, number, None)
        if isinstance(pid, int):
            found.add(pid)
    return found
