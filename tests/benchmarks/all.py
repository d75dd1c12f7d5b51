"""Every benchmark, one after the other, each in a process of its own.

    python -m tests.benchmarks.all

Half an hour on a quiet machine of two cores. Peers that need an installation of their
own (bench_peers) are left out.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUNS = (
    ("bench_parse",),
    ("bench_effects",),
    ("bench_worker",),
    ("bench_worker", "--database", "postgresql"),
    ("bench_storing",),
    ("bench_storing", "--database", "postgresql"),
    ("bench_storing", "--database", "postgresql", "--tests", "100000"),
    ("bench_inbox",),
    ("bench_memory",),
    ("bench_disk",),
    ("bench_disk", "--database", "postgresql"),
    ("bench_pages",),
    ("bench_pulls",),
    ("bench_notify",),
    ("bench_plugin",),
)


def main() -> int:
    failed = 0
    for name, *arguments in RUNS:
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", *arguments]
        failed += subprocess.run(command, cwd=ROOT, check=False).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
