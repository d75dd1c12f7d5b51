"""A real web process and real workers on a data directory of their own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
# One process for all, as starting one is what takes time.
SET_UP = """
import json, django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from projects.creation import create_project
made = create_project("acme/app", actor="test")
print(json.dumps({"token": made.token, "webhook_secret": made.webhook_secret}))
"""
# For each line that it is sent it forks a child that runs all stages to the end. The
# parent has everything loaded, so that a child can be killed within milliseconds.
WORKER = """
import os, sys, django
django.setup()
from healthboard.pipeline import drain_all
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        drain_all()
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass(frozen=True)
class Worker:
    """A worker process, and what it is told and says."""

    stdin: IO[str]
    stdout: IO[str]

    def says(self) -> str:
        return self.stdout.readline().strip()

    def go(self) -> int:
        """Begin to drain; return the process that does it."""
        self.stdin.write("go\n")
        self.stdin.flush()
        return int(self.says())

    def ends(self) -> int:
        """Wait for it to end; return how."""
        return int(self.says())


@dataclass
class Site:
    """One data directory, and the processes that a test starts on it."""

    data: Path
    settings: dict[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[str]] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
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

    def set_up(self) -> None:
        """Make the database, and the project acme/app."""
        (self.data / "static").mkdir()  # as `serve` does; whitenoise minds it
        setting_up = self._start("-c", SET_UP)
        self.keys = json.loads(setting_up.communicate()[0])

    def copy(self, data: Path) -> Site:
        """Copy a site of which nothing runs."""
        shutil.copytree(self.data, data)
        return Site(data, self.settings, keys=self.keys)

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
        until(lambda: web.poll() is not None or self._answers(), what="gunicorn")
        assert web.poll() is None
        return web

    def worker(self) -> Worker:
        """Start a worker; each `go` makes it drain all stages."""
        process = self._start("-c", WORKER)
        assert process.stdin is not None
        assert process.stdout is not None
        worker = Worker(process.stdin, process.stdout)
        assert worker.says() == "ready"
        return worker

    def _start(
        self, *arguments: str, pass_fds: tuple[int, ...] = ()
    ) -> subprocess.Popen[str]:
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

    def number(self, what: str, *, of: str = "ingest_upload") -> int:
        [(number,)] = self.rows(f"SELECT coalesce({what}, 0) FROM {of}")
        return int(number)

    def reaches(self, what: str, number: int) -> None:
        """Wait until this number of all uploads is at least so much."""
        until(lambda: self.number(what) >= number, what=what, every=0.005)

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


@contextlib.contextmanager
def site(data: Path, **settings: str) -> Iterator[Site]:
    """A data directory that is set up; its processes are killed at the end."""
    made = Site(data, settings)
    made.set_up()
    with ending(made):
        yield made


@contextlib.contextmanager
def ending(made: Site) -> Iterator[Site]:
    try:
        yield made
    finally:
        for process in made.processes:
            kill(process)
