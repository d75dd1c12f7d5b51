"""What the ini file and the command line ask of the plugin, checked.

Guarantees: a word that is not known is refused by name, before the first test.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from healthboard_client.plugin.gates.cwd import Cwd
from healthboard_client.plugin.gates.env import Env
from healthboard_client.plugin.gates.files import ControlPlane, Files
from healthboard_client.plugin.gates.loggers import Loggers
from healthboard_client.plugin.gates.processes import Processes
from healthboard_client.plugin.gates.sys_modules import SysModules
from healthboard_client.plugin.gates.sys_path import SysPath
from healthboard_client.plugin.gates.threads import Threads
from healthboard_client.plugin.gates.warning_filters import WarningFilters
from healthboard_client.plugin.watched import Watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from healthboard_client.plugin.gates.gate import Gate

SERVER = "server"  # the baseline is the server's list of leakers


class Enforce(str, Enum):
    """What a leak does to its test."""

    ERROR = "error"
    REPORT = "report"
    RATCHET = "ratchet"


@dataclass(frozen=True)
class Options:
    """One session's choices."""

    root: Path
    directory: Path
    gates: tuple[str, ...]
    enforce: Enforce
    baseline: str  # a file, or the word `server`
    accept: bool  # write what leaks into the baseline
    session: int  # the process that began it; its parts are known by it
    alone: bool  # no other worker runs beside this process


def read_options(config: pytest.Config) -> Options:
    """Read the choices; raise `pytest.UsageError` for what is not known."""
    shared: dict[str, object] = getattr(config, "workerinput", {})
    told = config.getoption("healthboard_dir")
    directory = shared.get("healthboard_dir") or config.invocation_params.dir / told
    enforce = config.getini("healthboard_enforce") or Enforce.REPORT.value
    known = [one.value for one in Enforce]
    if enforce not in known:
        raise pytest.UsageError(
            f"healthboard_enforce: {enforce!r} is none of {', '.join(known)}"
        )
    return Options(
        root=config.rootpath,
        directory=Path(str(directory)),
        gates=tuple(_gates(config.getini("healthboard_gates"))),
        enforce=Enforce(enforce),
        baseline=config.getini("healthboard_baseline"),
        accept=_accepts(config),
        session=int(str(shared.get("healthboard_session", os.getpid()))),
        alone=int(str(shared.get("workercount", 1))) < 2,
    )


def _accepts(config: pytest.Config) -> bool:
    accept = bool(config.getoption("healthboard_accept"))
    if accept and config.getini("healthboard_baseline") == SERVER:
        raise pytest.UsageError(
            "--healthboard-accept writes a file, and healthboard_baseline is the "
            "server's list: mute the leaker on its page"
        )
    return accept


def _gates(names: Iterable[str]) -> list[str]:
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in GATES:
            raise pytest.UsageError(
                f"healthboard_gates: {name!r} is none of {', '.join(GATES)}"
            )
    return chosen


def build_gates(config: pytest.Config, options: Options) -> list[Gate]:
    return [GATES[name](config, options) for name in options.gates]


def _sys_modules(config: pytest.Config, options: Options) -> Gate:
    watched = config.getini("healthboard_watch")
    excluded = config.getini("healthboard_exclude")
    return SysModules(Watched(watched, excluded, root=options.root))


def _warnings(config: pytest.Config, _options: Options) -> Gate:
    return WarningFilters(undone_by_pytest=config.pluginmanager.hasplugin("warnings"))


def _files(config: pytest.Config, options: Options) -> Gate:
    patterns = config.getini("healthboard_files")
    return Files(patterns, options.root, alone=options.alone)


def _control_plane(config: pytest.Config, options: Options) -> Gate:
    patterns = config.getini("healthboard_control_planes")
    return ControlPlane(patterns, options.root, alone=options.alone)


GATES: dict[str, Callable[[pytest.Config, Options], Gate]] = {
    "sys_modules": _sys_modules,
    "env": lambda _config, _options: Env(),
    "cwd": lambda _config, _options: Cwd(),
    "sys_path": lambda _config, _options: SysPath(),
    "logging": lambda _config, _options: Loggers(),
    "warnings": _warnings,
    "threads": lambda _config, _options: Threads(),
    "processes": lambda _config, _options: Processes(),
    "files": _files,
    "control_plane": _control_plane,
}
