"""`healthboard-ci shards`: print the test files of one shard."""

from __future__ import annotations

import glob
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from healthboard_client import durations
from healthboard_client.exits import Exit, Misuse, Unanswered
from healthboard_client.packing import pack
from healthboard_client.server import Server
from healthboard_client.settings import read_settings, token_of

if TYPE_CHECKING:
    import argparse

    from healthboard_client.console import Console
    from healthboard_client.packing import Plan

USUAL = ("test_*.py", "*_test.py")
SKIPPED = {"node_modules", "site-packages", "build", "dist", "venv", "__pycache__"}


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the shard's files on stdout, what to expect of it on stderr."""
    console.hide(token_of(os.environ))
    if options.index > options.count:
        raise Misuse(f"--index is 1 to --count, which is {options.count}")
    files = _files(options.files)
    if not files:
        raise Misuse("no test file was found")
    seconds = _durations(options, console)
    if options.save_durations:
        durations.save(options.save_durations, seconds)
    plan = pack(files, seconds, count=options.count)
    mine = plan.shards[options.index - 1]
    for name in mine:
        console.answer(name)
    console.note(_described(plan, options.index))
    if not mine:
        console.warn("this shard is empty; without a file pytest would run them all")
    return Exit.DONE


def _described(plan: Plan, index: int) -> str:
    place = max(range(len(plan.seconds)), key=lambda n: plan.seconds[n])
    files = sum(map(len, plan.shards))
    words = (
        f"shard {index} of {len(plan.shards)}: {len(plan.shards[index - 1])} of {files} "
        f"files, {plan.seconds[index - 1]:.1f} s expected; longest is shard "
        f"{place + 1} with {plan.longest:.1f} s, ideal {plan.ideal:.1f} s"
    )
    if plan.unknown:
        words += f"; {plan.unknown} files were never measured and count as the median"
    return words


def _files(given: list[str]) -> list[str]:
    """Return the test files that are meant, in one spelling."""
    if given == ["-"]:
        lines = sys.stdin.read().splitlines()
        return sorted(
            {durations.normal(line.strip()) for line in lines if line.strip()}
        )
    found: set[str] = set()
    for name in given or ["."]:
        path = Path(name)
        if path.is_dir():
            found |= _below(path)
        elif path.is_file():
            found.add(durations.normal(path.as_posix()))
        else:
            # Path.glob takes no absolute pattern.
            matches = glob.glob(name, recursive=True)  # noqa: PTH207
            if not matches:
                raise Misuse(f"no file matches {name}")
            found |= {durations.normal(match) for match in matches}
    return sorted(found)


def _below(folder: Path) -> set[str]:
    return {
        path.as_posix()
        for pattern in USUAL
        for path in folder.rglob(pattern)
        if path.is_file() and not _skipped(path.relative_to(folder))
    }


def _skipped(path: Path) -> bool:
    folders = path.parts[:-1]
    return any(part in SKIPPED or part.startswith(".") for part in folders)


def _durations(options: argparse.Namespace, console: Console) -> dict[str, float]:
    """Return the durations of the file, else of the server, else none."""
    if options.durations:
        return durations.from_file(options.durations)
    try:
        settings = read_settings(options, os.environ)
    except Misuse as error:
        console.note(f"no durations: {error}")
        return {}
    try:
        return durations.from_server(Server(settings, tell=console.note))
    except Unanswered as error:
        # One shard that cannot ask would deal otherwise than the rest.
        raise Unanswered(f"no durations from the server: {error}") from None
