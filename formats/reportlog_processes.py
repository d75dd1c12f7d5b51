"""Which process a line of a report log came from.

Guarantees: a process is a session, an xdist run and worker, and a life of that
worker; what the log leaves open is said (`interleaved`, `untold_restart`, each the
number of the line that shows it, 0 for none), never guessed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from formats.json_lines import clean

if TYPE_CHECKING:
    from formats.json_lines import Json
    from formats.reportlog_phases import Phase

_CRASH = re.compile(r"worker '([^'\n]{1,100})' crashed while running")


class Processes:
    """Follows the workers of one log."""

    def __init__(self) -> None:
        self.interleaved = 0
        self.untold_restart = 0
        self._session = 0
        self._run = ""  # testrun_uid of the line before
        self._lives: dict[str, int] = {}
        self._last: dict[str, str] = {}  # the test that a process reported last
        self._crashed: set[str] = set()
        self._collected = False  # since the last crash

    def start_session(self) -> None:
        """Another session in the same file is another process."""
        if self._last:
            self._session += 1
            self._crashed.clear()

    def collected(self, record: dict[str, Json]) -> None:
        """A worker collects when it starts: after its tests it is a new one."""
        self._collected = True
        base = self._base(record)
        told = bool(record.get("worker_id"))
        if told and f"{base}{self._life(base)}" in self._last:
            self._lives[base] = self._lives.get(base, 0) + 1
            self._crashed.discard(base)

    def place(
        self, record: dict[str, Json], nodeid: str, phase: Phase, line: int
    ) -> tuple[str, str]:
        """Return the worker and the process of one test line."""
        crash = (
            _CRASH.search(str(record.get("longrepr"))[:1000])
            if (phase.when not in ("setup", "call", "teardown"))
            else None
        )
        if crash:
            return self._crash(crash[1], nodeid)
        base = self._base(record)
        if base in self._crashed:
            self._crashed.discard(base)
            self._lives[base] = self._lives.get(base, 0) + 1
            if not self._collected:
                self.untold_restart = self.untold_restart or line
        process = f"{base}{self._life(base)}"
        before = self._last.get(process)
        if phase.when in ("call", "teardown") and before not in (None, nodeid):
            self.interleaved = self.interleaved or line
        self._last[process] = nodeid
        worker = record.get("worker_id")
        return clean(worker) if isinstance(worker, str) else "", process

    def _crash(self, worker: str, nodeid: str) -> tuple[str, str]:
        base = self._named(self._run, worker)
        process = f"{base}{self._life(base)}"
        self._last[process] = nodeid
        self._crashed.add(base)
        self._collected = False
        return worker, process

    def _base(self, record: dict[str, Json]) -> str:
        worker, run = record.get("worker_id"), record.get("testrun_uid")
        if not isinstance(worker, str) or not worker:
            return self._named("", "main")
        self._run = run if isinstance(run, str) else ""
        return self._named(clean(self._run), clean(worker))

    def _named(self, run: str, worker: str) -> str:
        session = f"session {self._session + 1}" if self._session else ""
        life = " ".join(part for part in (session, run) if part)
        return f"{worker}:{life}" if life else worker

    def _life(self, base: str) -> str:
        life = self._lives.get(base, 0)
        return f" #{life + 1}" if life else ""
