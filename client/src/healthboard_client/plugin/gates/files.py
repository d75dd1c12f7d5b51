"""Files and entries of control planes that are left behind.

Guarantees: only what was not there before is told, by its path; a directory that is
missing is an empty one; nothing is opened, followed or deleted. Several workers see one
another's entries, so beside others nothing is enforced, unless the pattern names the
worker ($PYTEST_XDIST_WORKER).
"""

from __future__ import annotations

import glob
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from healthboard_client.plugin.gates.gate import Gate, Words
from healthboard_client.plugin.states import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from healthboard_client.plugin.states import Change, State

# struct sockaddr_un holds 108 bytes on Linux, one of them the closing zero.
MOST_SOCKET = 107
NEAR = 12  # bytes below it: the width of a worker's or a process's number
_NOISE = frozenset({"__pycache__", ".pytest_cache", ".healthboard"})
_MINE = "PYTEST_XDIST_WORKER"


class Files(Gate):
    """New entries of globs and directories."""

    name = family = "files"
    change = "created"
    words = {
        "created": Words(
            "left {count} file(s) behind",
            "A later test, or a run on the same machine, finds it.\n"
            "Write below tmp_path, or delete it in a fixture's teardown.",
        ),
        "socket_path": Words(
            "has {count} socket(s) whose path is near the limit of 107 bytes",
            "A longer directory (another user, another worker) makes bind() fail.\n"
            "Bind in a short directory of its own, tempfile.mkdtemp(dir='/tmp').",
        ),
    }

    def __init__(self, patterns: Sequence[str], root: Path, *, alone: bool) -> None:
        self._patterns = [_absolute(pattern, root) for pattern in patterns]
        self._root = root
        self.enforceable = alone or all(_MINE in pattern for pattern in patterns)

    def take(self) -> State:
        state: dict[str, object] = {}
        for pattern in self._patterns:
            for path, mode in _found(pattern):
                state[path] = stat.S_ISSOCK(mode)
        return state

    def kind(self, change: Change) -> str:
        return "" if change.after is MISSING else self.change

    def warned(self, made: Sequence[Change]) -> Iterator[tuple[str, Change]]:
        """Sockets whose path has hardly any room left: elsewhere bind() would fail."""
        for change in made:
            room = MOST_SOCKET - len(os.fsencode(change.key))
            if change.after is True and room <= NEAR:
                yield "socket_path", change

    def item(self, change: Change) -> str:
        path = Path(change.key)
        if path.is_relative_to(self._root):
            return path.relative_to(self._root).as_posix()
        return str(path)


class ControlPlane(Files):
    """New entries of directories in which a program keeps what it works on."""

    name = family = "control_plane"
    change = "entry"
    one_by_one = True
    words = {
        "entry": Words(
            "made {count} entries in a real control plane",
            "Work was registered where real work is; it is left in place, check and "
            "remove it by hand.\nPoint the program at a directory below tmp_path.",
        ),
        "socket_path": Files.words["socket_path"],
    }


def _absolute(pattern: str, root: Path) -> str:
    return str(root / Path(os.path.expandvars(pattern)).expanduser())


def _found(pattern: str) -> Iterator[tuple[str, int]]:
    """The paths of a glob, and below a directory everything."""
    if glob.has_magic(pattern):
        matches = glob.glob(pattern, recursive=True)  # noqa: PTH207  # absolute
    else:
        matches = []
        yield from _below(pattern)
    for path in matches:
        mode = _mode(path)
        if mode is not None:
            yield path, mode


def _below(directory: str) -> Iterator[tuple[str, int]]:
    try:
        entries = list(os.scandir(directory))
    except NotADirectoryError:  # one file that is watched
        mode = _mode(directory)
        if mode is not None:
            yield directory, mode
        return
    except OSError:  # missing, or not ours to read
        return
    for entry in entries:
        if entry.name in _NOISE:
            continue
        mode = _mode(entry.path)
        if mode is None:
            continue
        yield entry.path, mode
        if stat.S_ISDIR(mode):
            yield from _below(entry.path)


def _mode(path: str) -> int | None:
    try:
        return os.lstat(path).st_mode
    except OSError:  # deleted meanwhile
        return None
