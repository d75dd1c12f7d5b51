#!/usr/bin/env python3
"""Runs Healthboard and its tests from a fresh clone, with nothing but Python.

    python3 dev.py serve [--port N] [--host H] [--data DIR] [--no-demo]
    python3 dev.py manage [--data DIR] COMMAND ...
    python3 dev.py test [pytest arguments]
    python3 dev.py check

The first use makes .venv from requirements/, whose hashes are pinned; later uses need no
network. This file also parses on Pythons that are too old, so that it can say so.
"""

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

OLDEST = (3, 12)
TOO_OLD = (
    "Healthboard needs Python 3.12 or newer, and this is {}.{}: install one from your "
    "system's packages or from python.org, then run the same command again."
)
NOT_POSIX = "Healthboard runs on Linux and macOS; on Windows, run this command in WSL."
NO_VENV = (
    "Python could not make a virtual environment: install your system's python3-venv "
    "package (or uv), then run the same command again."
)
NO_PACKAGES = (
    "The packages could not be installed (the reason is above); the first use needs the "
    "network. Run the same command again when it is there."
)
ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "healthboard.json"  # what is installed; written last
LOCK = ROOT / ".venv.lock"  # not empty: a set-up began, and did not end
PACKAGES = [
    "healthboard",
    "dashboard",
    "api",
    "ingest",
    "results",
    "projects",
    "analysis",
    "formats",
]


def main(arguments: List[str]) -> int:
    if os.name != "posix":
        return fail(NOT_POSIX)
    if sys.version_info < OLDEST:
        return start_again(arguments)
    commands = {"serve": serve, "manage": manage, "test": test, "check": check}
    if not arguments or arguments[0] not in commands:
        print((__doc__ or "").strip())
        return 0 if arguments in (["-h"], ["--help"]) else 2
    return commands[arguments[0]](arguments[1:])


def fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


# ---- Python ------------------------------------------------------------------


def start_again(arguments: List[str]) -> int:
    """Run this command with a newer Python, if one is to be found."""
    found = newer_python()
    if found is None:
        return fail(TOO_OLD.format(*sys.version_info[:2]))
    os.execv(found, [found, str(ROOT / "dev.py"), *arguments])


def newer_python() -> Optional[str]:
    for name in ("python3.14", "python3.13", "python3.12", "python3"):
        path = shutil.which(name)
        if path and runs(path):
            return path
    uv = shutil.which("uv")
    if uv is None:
        return None
    answer = subprocess.run(
        [uv, "python", "find", ">=3.12"],
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    path = answer.stdout.decode().strip()
    return path if path and runs(path) else None


def runs(python: str) -> bool:
    """Whether it starts and is new enough; a version manager's stub may not."""
    question = "import sys; sys.exit(sys.version_info < (3, 12))"
    try:
        answer = subprocess.run(
            [python, "-c", question],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return False
    return answer.returncode == 0


# ---- the environment -----------------------------------------------------------


def prepare(kind: str) -> bool:
    """Make .venv hold requirements/`kind`.txt; do nothing if it does."""
    if is_ready(kind):
        return True
    with only_one() as interrupted:
        if is_ready(kind):
            return True
        print(f"Setting up {VENV} (once; a minute or two) ...", flush=True)
        LOCK.write_text("setting up")
        if (interrupted or not runs(str(PYTHON))) and not make_venv():
            fail(NO_VENV)
            return False
        installed = install(kind)
        LOCK.write_text("")
        if not installed:
            fail(NO_PACKAGES)
            return False
        both = {"base": digest("base")}
        if kind == "dev":
            both["dev"] = digest("dev")
        STAMP.write_text(json.dumps(both))
    return True


@contextlib.contextmanager
def only_one() -> Iterator[bool]:
    """Wait for another set-up; say whether the last one was interrupted."""
    import fcntl  # not on Windows, and this file must say so itself

    with LOCK.open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield bool(LOCK.read_text())


def is_ready(kind: str) -> bool:
    try:
        installed: Dict[str, str] = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return False
    return installed.get(kind) == digest(kind) and PYTHON.exists()


def digest(kind: str) -> str:
    return hashlib.sha256(requirements(kind).read_bytes()).hexdigest()


def requirements(kind: str) -> Path:
    return ROOT / "requirements" / f"{kind}.txt"


def make_venv() -> bool:
    uv = shutil.which("uv")
    if uv:
        command = [uv, "venv", "-q", "--clear", "--python", sys.executable, str(VENV)]
    else:
        command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    return subprocess.run(command, env=clean_environment()).returncode == 0


def install(kind: str) -> bool:
    uv = shutil.which("uv")
    listed = ["--require-hashes", "-r", str(requirements(kind))]
    if uv:
        command = [uv, "pip", "install", "-q", "--python", str(PYTHON), *listed]
    else:
        pip = [str(PYTHON), "-m", "pip"]
        if subprocess.run([*pip, "-V"], stdout=subprocess.DEVNULL).returncode:
            subprocess.run([str(PYTHON), "-m", "ensurepip"], stdout=subprocess.DEVNULL)
        command = [*pip, "install", "-qq", "--no-input", *listed]
    return subprocess.run(command, env=clean_environment()).returncode == 0


def clean_environment() -> Dict[str, str]:
    """The environment without what would mix another Python into ours."""
    mixed = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
    kept = {name: value for name, value in os.environ.items() if name not in mixed}
    # A Python that is found is used; none is fetched behind anybody's back.
    return {**kept, "UV_PYTHON_DOWNLOADS": "never"}


# ---- serve and manage ------------------------------------------------------------


def serve(arguments: List[str]) -> int:
    return manage(["serve", *arguments])


def manage(arguments: List[str]) -> int:
    data, rest = data_directory(arguments)
    if not prepare("base"):
        return 1
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not os.environ.get("SECRET_KEY"):
        make_secret_key(data / "secret-key")
    environment = {**clean_environment(), "HEALTHBOARD_DATA": str(data)}
    command = [str(PYTHON), str(ROOT / "manage.py"), *rest]
    # Not a child: a signal to this process reaches the server.
    os.execve(command[0], command, environment)


def data_directory(arguments: List[str]) -> Tuple[Path, List[str]]:
    """Take `--data DIR` out of the arguments, wherever it stands."""
    given = os.environ.get("HEALTHBOARD_DATA") or str(ROOT / ".data")
    rest: List[str] = []
    left = iter(arguments)
    for argument in left:
        if argument == "--data":
            given = next(left, given)
        elif argument.startswith("--data="):
            given = argument[len("--data=") :]
        else:
            rest.append(argument)
    return Path(given).expanduser().resolve(), rest


def make_secret_key(path: Path) -> None:
    """Make the key if there is none; of two that try at once, one wins whole."""
    if path.exists():
        return
    handle, written = tempfile.mkstemp(dir=str(path.parent))  # mode 0600
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_urlsafe(50) + "\n")
    with contextlib.suppress(FileExistsError):
        os.link(written, str(path))
    os.unlink(written)


# ---- test and check ----------------------------------------------------------------


def test(arguments: List[str]) -> int:
    """Run the suite on SQLite, then its integration tests on PostgreSQL."""
    if not prepare("dev"):
        return 1
    paths = [a for a in arguments if "tests" in Path(a.split("::")[0]).parts]
    whole = not paths or any(Path(path) == Path("tests") for path in paths)
    if (whole or any("browser" in path for path in paths)) and run_module(
        "tests.services.chromium"
    ):
        return fail("Chromium could not be installed, and here it must be there.")
    databases = ["sqlite"]
    if whole or any("integration" in path for path in paths):
        if run_module("tests.services.postgres") == 0:
            databases.append("postgresql")
        else:
            print("PostgreSQL IS NOT AVAILABLE: only SQLite is tested.", flush=True)
    return run_tests(
        databases, arguments or ["-n", "2", "--dist", "worksteal", "--durations", "10"]
    )


def run_tests(databases: List[str], arguments: List[str]) -> int:
    worst = 0
    with tempfile.TemporaryDirectory() as directory:
        for database in databases:
            code = run_module(
                "pytest",
                *arguments,
                HEALTHBOARD_TEST_DATABASE=database,
                HEALTHBOARD_TEST_TALLY=str(Path(directory) / "tally"),
            )
            if code == 5 and database == "postgresql":
                continue  # the named tests are for SQLite alone
            worst = worst or code
            if code not in (0, 1, 5):  # interrupted, or misused
                break
    return worst


def check(_: List[str]) -> int:
    """Run all static checks, and name those that failed."""
    if not prepare("dev"):
        return 1
    checked = [*PACKAGES, "tests", "manage.py", "dev.py"]
    lint_imports = "from importlinter.cli import lint_imports_command as c; c()"
    checks = {
        "ruff check": ["-m", "ruff", "check", "."],
        "ruff format": ["-m", "ruff", "format", "--check", "."],
        "mypy": ["-m", "mypy", *checked],
        "mypy of the client": [
            *("-m", "mypy", "--config-file", "client/pyproject.toml", "client/src")
        ],
        "lint-imports": ["-c", lint_imports],
        "migrations": ["manage.py", "makemigrations", "--check", "--dry-run"],
    }
    with tempfile.TemporaryDirectory() as data:
        failed = [
            name
            for name, command in checks.items()
            if run(*command, HEALTHBOARD_DATA=data, SECRET_KEY="for checks only")
        ]
    return fail("Failed: " + ", ".join(failed)) if failed else 0


def run_module(module: str, *arguments: str, **variables: str) -> int:
    return run("-m", module, *arguments, **variables)


def run(*arguments: str, **variables: str) -> int:
    environment = {**clean_environment(), **variables}
    command = [str(PYTHON), *arguments]
    return subprocess.run(command, env=environment, cwd=str(ROOT)).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
