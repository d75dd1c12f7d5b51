"""Runs one server for as long as the process that owns the test run lives.

Started as a script: guard.py OWNER HOME USER STOP COMMAND…  The directory HOME goes
with the server. It imports nothing of ours, so it needs no environment.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path


def main(owner: int, home: Path, user: str, stop: str, command: list[str]) -> int:
    (home / "guarded").touch()
    server = subprocess.Popen(
        command,
        user=user or None,
        group=pwd.getpwnam(user).pw_gid if user else None,
        extra_groups=[] if user else None,
    )
    while server.poll() is None and _alive(owner):
        time.sleep(0.2)
    if server.poll() is None:
        server.send_signal(signal.Signals[stop])
        try:
            server.wait(timeout=5)
        except subprocess.TimeoutExpired:
            server.kill()
    if not _alive(owner):
        shutil.rmtree(home, ignore_errors=True)
        try:
            home.parent.rmdir()
        except OSError:
            pass
    return 0


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    sys.exit(
        main(
            int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:]
        )
    )
