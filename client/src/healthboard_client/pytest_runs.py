"""Experiments as pytest processes of their own.

Guarantees: each is a fresh process with a temporary directory and a cache of its own,
which are all that is removed again; a process that takes too long is ended with what it
started, and nothing else is.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from healthboard_client.probing import Ending
from healthboard_client.replaying_names import PLUGIN, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

# A command line may be longer, but a list of files is enough then.
LONGEST_ARGUMENTS = 32_000
_QUIET = ("-q", "--no-header", "--tb=no", "-p", "no:randomly", "-p", "no:random_order")


@dataclass(frozen=True)
class PytestRuns:
    """Runs tests by one command in the working directory."""

    command: tuple[str, ...] = (sys.executable, "-m", "pytest")
    timeout: float = 900.0
    output: list[str] = field(default_factory=list)  # of the last process, its end

    def __call__(self, tests: Sequence[str]) -> Ending:
        """Run these tests in one process; return how the last of them ended."""
        with tempfile.TemporaryDirectory(prefix="healthboard-") as folder:
            here = Path(folder)
            told = here / "told.jsonl"
            listed = {"tests": list(tests), "told": str(told)}
            (here / "replay.json").write_text(json.dumps(listed))
            self.output[:] = [self._run(here, tests)]
            return ending_of(told, tests[-1])

    def _run(self, here: Path, tests: Sequence[str]) -> str:
        command = [
            *self.command,
            *("-p", PLUGIN, *_QUIET),
            *("-o", f"cache_dir={here / 'cache'}", f"--basetemp={here / 'base'}"),
            *_named(tests),
        ]
        with (here / "output").open("w+b") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=_environment(here / "replay.json"),
                start_new_session=True,
            )
            try:
                process.wait(self.timeout)
            except BaseException as error:
                _end(process)
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
            output.seek(max(0, output.tell() - 4000))
            return output.read().decode(errors="replace")


def command_of(text: str | None) -> tuple[str, ...]:
    """Read the command that runs pytest."""
    return tuple(shlex.split(text)) if text else PytestRuns.command


def shown(tests: Sequence[str]) -> str:
    """Return the command that a person would type for it."""
    return shlex.join(["pytest", "-p", "no:randomly", *tests])


def ending_of(told: Path, test: str) -> Ending:
    """Read how a test ended; one that the process died in failed."""
    try:
        lines = [json.loads(line) for line in told.read_text("utf-8").splitlines()]
    except (OSError, ValueError):
        return Ending.UNKNOWN
    mine = [(phase, outcome) for nodeid, phase, outcome in lines if nodeid == test]
    outcomes = {outcome for _, outcome in mine}
    if not mine:
        return Ending.UNKNOWN
    if "failed" in outcomes or ("finish", "") not in mine:
        return Ending.FAILED
    passed = ("call", "passed") in mine
    return Ending.PASSED if passed else Ending.UNKNOWN


def _named(tests: Sequence[str]) -> list[str]:
    if sum(map(len, tests)) < LONGEST_ARGUMENTS:
        return list(tests)
    return list(dict.fromkeys(test.partition("::")[0] for test in tests))


def _environment(replay: Path) -> dict[str, str]:
    """Let pytest find this package, also where it is not installed beside pytest."""
    package = str(Path(__file__).resolve().parent.parent)
    found = os.environ.get("PYTHONPATH", "")
    paths = os.pathsep.join(filter(None, (found, package)))
    # Options from outside would apply to every experiment; the token is not needed.
    hidden = ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "HEALTHBOARD_TOKEN")
    kept = {name: text for name, text in os.environ.items() if name not in hidden}
    return {**kept, "PYTHONPATH": paths, VARIABLE: str(replay)}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process of ours with its session, which it leads."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
