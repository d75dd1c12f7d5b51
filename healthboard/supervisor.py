"""Keeps the parts of `serve` alive, and takes all of them with it when it ends.

Guarantees: a part that dies is started again, at once the first time, later and later
when it keeps dying; nothing of the old part is left when the new one starts; a part
ends within seconds of its supervisor, even of a killed one (see lifeline.py).
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.conf import settings

from healthboard import lifeline

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

log = logging.getLogger(__name__)

TICK_SECONDS = 0.1
STEADY_SECONDS = 10.0  # a part that lived this long died for a new reason
LONGEST_PAUSE = 15.0
STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A process to keep running; `once` is for one that ends when it is done."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    descriptors: tuple[int, ...] = ()
    once: bool = False
    done: Callable[[int], None] | None = None


@dataclass(slots=True)
class _Running:
    part: Part
    process: subprocess.Popen[bytes]
    started: float
    deaths: int


class Supervisor:
    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        self._running: dict[str, _Running] = {}
        self._due: list[tuple[float, Part, int]] = []
        self._wanted: queue.SimpleQueue[Part] = queue.SimpleQueue()
        self._stopping = ""

    def add(self, part: Part) -> None:
        """Start a part soon; may be called from any thread."""
        self._wanted.put(part)

    def run(self) -> None:
        """Keep the parts running until a signal says stop."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        while not self._stopping:
            while not self._wanted.empty():
                self._start(self._wanted.get(), deaths=0)
            self._bury()
            self._restart()
            time.sleep(TICK_SECONDS)
        log.info("serve=stopping signal=%s", self._stopping)
        self._end_all()
        log.info("serve=stopped")

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        if self._stopping:  # asked twice: at once
            for running in self._running.values():
                _kill_all(running.process.pid)
        self._stopping = signal.Signals(number).name

    def _start(self, part: Part, *, deaths: int) -> None:
        process = subprocess.Popen(  # noqa: S603 - our own command
            part.command,
            env={
                **os.environ,
                **part.environment,
                lifeline.VARIABLE: str(self._reading),
            },
            cwd=settings.BASE_DIR,
            stdin=subprocess.DEVNULL,
            pass_fds=(*part.descriptors, self._reading),
            start_new_session=True,  # Ctrl-C is for the supervisor alone
        )
        self._running[part.name] = _Running(part, process, time.monotonic(), deaths)
        log.info("part=%s started pid=%d", part.name, process.pid)

    def _bury(self) -> None:
        for running in list(self._running.values()):
            code = running.process.poll()
            if code is None:
                continue
            part = running.part
            del self._running[part.name]
            _kill_all(running.process.pid)
            if part.once:
                log.info("part=%s ended code=%d", part.name, code)
            else:
                self._plan(running, code)
            if part.done is not None:
                part.done(code)

    def _plan(self, running: _Running, code: int) -> None:
        steady = time.monotonic() - running.started > STEADY_SECONDS
        deaths = 1 if steady else running.deaths + 1
        pause = 0.0 if deaths == 1 else min(2.0 ** (deaths - 2), LONGEST_PAUSE)
        log.warning(
            "part=%s died code=%d restart_in=%.0f", running.part.name, code, pause
        )
        self._due.append((time.monotonic() + pause, running.part, deaths))

    def _restart(self) -> None:
        now = time.monotonic()
        ready = [due for due in self._due if due[0] <= now]
        self._due = [due for due in self._due if due[0] > now]
        for _, part, deaths in ready:
            self._start(part, deaths=deaths)

    def _end_all(self) -> None:
        processes = [running.process for running in self._running.values()]
        for process in processes:
            process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in processes:
            try:
                process.wait(timeout=max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.warning("serve=killing pid=%d", process.pid)
            _kill_all(process.pid)
            process.wait()


def _kill_all(group: int) -> None:
    """End what is left of a part: a web part has processes of its own."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS: nothing but zombies left
        pass
