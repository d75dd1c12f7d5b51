"""Real processes of the product: started, watched, killed.

Nothing here waits a fixed time (`tests/waiting.py`).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.services import session
from tests.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
REPORT = (
    '<testsuite name="kitchen"><testcase classname="kitchen.tea" name="boils"/>'
    '<testcase classname="kitchen.tea" name="pours"/></testsuite>'
)


def environment(data: Path, **variables: str) -> dict[str, str]:
    """What a person's shell would have: nothing of the test run's own settings."""
    ours = ("HEALTHBOARD_", "DJANGO_", "DATABASE_URL", "REDIS_URL", "PYTEST_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    needed = {"HEALTHBOARD_DATA": str(data), "SECRET_KEY": "for tests only"}
    return {**kept, **needed, **variables}


def manage(data: Path, *arguments: str, **variables: str) -> str:
    answer = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        env=environment(data, **variables),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@dataclass
class Client:
    """Speaks to the API with a project's token; connections are not kept."""

    address: str
    token: str

    def get(self, path: str) -> Any:  # Any: JSON
        return self._open(urllib.request.Request(self.address + path))

    def upload(self, run: str, *, report: str = REPORT, key: str = "") -> int:
        boundary = uuid.uuid4().hex
        parts = {
            'name="context"': json.dumps({"run": run, "branch": "main"}),
            'name="junit"; filename="r.xml"': report,
        }
        body = "".join(
            f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n{text}\r\n"
            for head, text in parts.items()
        )
        request = urllib.request.Request(
            self.address + "/api/v1/uploads",
            data=f"{body}--{boundary}--\r\n".encode(),
            headers={
                "Content-Type": f"multipart/form-data; boundary={boundary}",
                "Idempotency-Key": key or uuid.uuid4().hex,
            },
        )
        return int(self._open(request)["id"])

    def processed(self, upload: int) -> Any:  # Any: JSON
        """Wait until the upload is done, and return it."""

        def done() -> Any:  # Any: JSON
            found = self.get(f"/api/v1/uploads/{upload}")
            return (
                found if found["state"] in ("processed", "rejected", "dead") else None
            )

        return until(done, what=f"upload {upload} is processed")

    def _open(self, request: urllib.request.Request) -> Any:  # Any: JSON
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Connection", "close")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


@dataclass
class Serve:
    """A running `serve`, known by what it logs."""

    data: Path
    process: subprocess.Popen[bytes]
    log: Path
    token: str = field(default="", repr=False)

    @property
    def text(self) -> str:
        return self.log.read_text()

    @property
    def address(self) -> str:
        def shown() -> re.Match[str] | None:
            assert self.process.poll() is None, self.text
            return re.search(r"Healthboard is at (http://\S+)", self.text)

        return until(shown, what="the address is shown")[1]

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def started(self, part: str) -> list[int]:
        """All processes that ever were this part, the newest last."""
        found = re.findall(rf"part={part} started pid=(\d+)", self.text)
        return [int(pid) for pid in found]

    def client(self) -> Client:
        address = self.address
        if not self.token:
            made = manage(self.data, "project", "create", "acme/app", "--json")
            self.token = json.loads(made)["token"]
        return Client(address, self.token)

    def kill(self, part: str) -> None:
        """SIGKILL a part, and wait until another has taken its place."""
        before = self.started(part)
        os.kill(before[-1], signal.SIGKILL)
        until(
            lambda: len(self.started(part)) > len(before), what=f"{part} is restarted"
        )

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)


def prepared(data: Path) -> Path:
    """Make a data directory as a first start leaves it, but of nobody yet: quickly."""
    shutil.copytree(session.started_once("template", _make_template), data)
    return data


def _make_template(home: Path) -> str:
    code = (
        "import django; django.setup();"
        "from django.core.management import call_command; call_command('migrate', '-v0');"
        "from healthboard import collected; collected.collect()"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        env=environment(home, DJANGO_SETTINGS_MODULE="healthboard.settings"),
        cwd=ROOT,
        check=True,
    )
    return str(home)


def start(data: Path, *arguments: str, **variables: str) -> Serve:
    data.mkdir(parents=True, exist_ok=True)
    log = data.parent / f"serve-{uuid.uuid4().hex}.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "serve", *arguments],
            env=environment(data, **variables),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    return Serve(data, process, log)


@contextmanager
def serving(data: Path, *arguments: str, **variables: str) -> Iterator[Serve]:
    """Run `serve` on a free port without the demo, and end it with the block."""
    server = start(data, "--port", "0", "--no-demo", *arguments, **variables)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
        wait_for_end(server)


def wait_for_end(server: Serve) -> None:
    """Wait until no process of the server is left, not even one it lost."""
    server.process.wait(timeout=PATIENCE)
    until(lambda: not processes_of(server.data), what="all parts have ended")


def processes_of(data: Path) -> list[int]:
    """Every living process that was given this data directory."""
    mark = f"HEALTHBOARD_DATA={data}".encode()
    listed = subprocess.run(
        ["ps", "-eww", "-o", "pid=,stat="], capture_output=True, text=True, check=True
    )
    living = [line.split() for line in listed.stdout.splitlines()]
    pids = [int(pid) for pid, state in living if not state.startswith("Z")]
    return [pid for pid in pids if mark in _environment_of(pid)]


def _environment_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def children_of(pid: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-eww", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    pairs = [line.split() for line in listed.stdout.splitlines()]
    return [int(child) for child, parent in pairs if int(parent) == pid]
