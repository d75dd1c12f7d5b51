"""A real web process and real workers on a data directory of their own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
# Works until nothing waits, says so, and looks again as soon as it is told to.
WORKER = """
import sys, django
django.setup()
from healthboard.pipeline import STAGES, drain_all
print("ready", flush=True)
for line in sys.stdin:
    drain_all()
    print("drained", flush=True)
"""


def until(condition: Callable[[], bool], *, seconds: float = 30) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


@dataclass
class Site:
    """One data directory, and the processes that a test starts on it."""

    data: Path
    settings: dict[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[str]] = field(default_factory=list)
    port: int = 0

    @property
    def environment(self) -> dict[str, str]:
        ours = {
            "HEALTHBOARD_DATA": str(self.data),
            "DJANGO_SETTINGS_MODULE": "healthboard.settings",
            "SECRET_KEY": "for tests only",
            "DATABASE_URL": "",
            "REDIS_URL": "",
            "LOG_LEVEL": "WARNING",
        }
        return {**os.environ, **ours, **self.settings}

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def project(self, slug: str) -> dict[str, str]:
        made: dict[str, str] = json.loads(
            self.manage("project", "create", slug, "--json")
        )
        return made

    def serve(self) -> subprocess.Popen[str]:
        """Start gunicorn as it is configured, and wait until it answers."""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(64)
            self.port = listener.getsockname()[1]
            number = listener.fileno()
            web = self._start(
                "-m",
                "gunicorn",
                "healthboard.wsgi",
                "--bind",
                f"fd://{number}",
                pass_fds=(number,),
            )
        until(lambda: web.poll() is not None or self._answers())
        assert web.poll() is None
        return web

    def worker(self) -> subprocess.Popen[str]:
        """Start a worker; each line that it is sent makes it drain all stages."""
        worker = self._start("-c", WORKER)
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        return worker

    def _start(self, *arguments: str, pass_fds: tuple[int, ...] = ()) -> Any:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=pass_fds,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def _answers(self) -> bool:
        with contextlib.suppress(OSError):
            return self.request("GET", "/api/v1/uploads")[0] == 405
        return False

    def request(
        self, method: str, path: str, body: Any = None, **options: Any
    ) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, body, **options)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Read the database from outside."""
        connection = sqlite3.connect(self.data / "healthboard.db", timeout=20)
        with contextlib.closing(connection):
            return connection.execute(query).fetchall()

    def bodies(self) -> list[Path]:
        return [path for path in (self.data / "inbox").rglob("*") if path.is_file()]


def kill(process: subprocess.Popen[str]) -> None:
    """SIGKILL a process with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def drain(worker: subprocess.Popen[str]) -> None:
    """Let a worker run all stages to the end, and wait for it."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()
    assert worker.stdout.readline() == "drained\n"


@contextlib.contextmanager
def site(data: Path, **settings: str) -> Iterator[Site]:
    """A migrated data directory; what a test started on it is killed at the end."""
    (data / "static").mkdir(exist_ok=True)  # as `serve` does; whitenoise minds it
    made = Site(data, settings)
    made.manage("migrate", "--verbosity", "0")
    try:
        yield made
    finally:
        for process in made.processes:
            kill(process)
