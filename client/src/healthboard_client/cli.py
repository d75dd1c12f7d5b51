"""The command `healthboard-ci`: which subcommand is asked for, and its exit code.

Guarantees: only the modules of the subcommand that runs are loaded, so that a start
costs little; every way out is one of `Exit`; no traceback for what a person can mend.
"""

from __future__ import annotations

import sys
from importlib import import_module

from healthboard_client.console import Console
from healthboard_client.exits import Exit, Misuse, Unanswered
from healthboard_client.options import parser


def main(arguments: list[str]) -> int:
    """Run one subcommand and return its exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as done:
        return int(done.code or 0)
    console = Console(sys.stdout, sys.stderr)
    try:
        # Loaded when asked for: help and a wrong option need no HTTP and no TLS.
        command = import_module(f"healthboard_client.{options.command}")
        return int(command.run(options, console))
    except Misuse as error:
        console.warn(str(error))
        return Exit.MISUSED
    except Unanswered as error:
        console.warn(str(error))
        return Exit.UNANSWERED
    except KeyboardInterrupt:
        return 130


def entry() -> None:
    """Run as a program."""
    sys.exit(main(sys.argv[1:]))
