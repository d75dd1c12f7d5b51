"""What all processes of one test run share: a directory, and servers started once.

The first process that asks makes the directory and owns it; the workers of
pytest-xdist inherit its name. A server lives exactly as long as the owner, however
the owner ends (see guard.py).
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DIRECTORY = "HEALTHBOARD_TEST_SESSION"
OWNER = "HEALTHBOARD_TEST_OWNER"

# Kept so that a running guard is not reported as a forgotten process.
_guards: list[subprocess.Popen[bytes]] = []


def directory() -> Path:
    if known := os.environ.get(DIRECTORY):
        return Path(known)
    path = Path(tempfile.mkdtemp(prefix="healthboard-tests-"))
    path.chmod(0o711)  # a server that runs as another user passes through
    os.environ[DIRECTORY] = str(path)
    os.environ[OWNER] = str(os.getpid())
    atexit.register(_remove, path, os.getpid())
    return path


def strict() -> bool:
    """Whether a missing server or browser is an error; it is wherever CI is set."""
    return bool(os.environ.get("CI") or os.environ.get("HEALTHBOARD_TEST_STRICT"))


def unavailable(what: str) -> NoReturn:
    """Skip the test, or fail it where everything must be there."""
    if strict():
        pytest.fail(f"{what} is not available here", pytrace=False)
    pytest.skip(f"{what} IS NOT AVAILABLE HERE; this part is untested")


def started_once(name: str, start: Callable[[Path], str]) -> str:
    """Return the address that `start` gave to the first process that asked."""
    with _locked(directory() / f"{name}.lock"):
        address = directory() / f"{name}.address"
        if not address.exists():
            home = directory() / name
            home.mkdir(exist_ok=True)
            address.write_text(start(home))
        return address.read_text()


def guard(command: list[str], *, home: Path, user: str = "", stop: str) -> None:
    """Run a server until the test run ends, then remove its directory."""
    script = Path(__file__).with_name("guard.py")
    arguments = [os.environ[OWNER], str(home), user, stop, *command]
    with (directory() / f"{home.name}.log").open("ab") as log:
        _guards.append(
            subprocess.Popen(
                [sys.executable, str(script), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _remove(path: Path, owner: int) -> None:
    """Remove what no guard looks after; the last guard removes the rest."""
    if os.getpid() != owner:
        return
    for child in path.iterdir():
        if not child.is_dir():
            child.unlink(missing_ok=True)
        elif not (child / "guarded").exists():
            shutil.rmtree(child, ignore_errors=True)
    try:
        path.rmdir()
    except OSError:
        pass
