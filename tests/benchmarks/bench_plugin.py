"""What the client's pytest plugin adds to a suite of tests that take a millisecond.

    python -m tests.benchmarks.bench_plugin [--rounds N] [--tests N]

12,000 tests, each of one millisecond of CPU time, 2,000 modules loaded, the gates
sys_modules, env and cwd. The suite runs with the plugin off and on in turn, each time
in a process of its own; the figure is the median of the rounds' ratios. CPU time is the
process's own, so neighbours on the machine weigh less in it than in wall time.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.tables import Figure, median, show

ROOT = Path(__file__).parents[2]
FILES = 40
PARTS, EACH = 20, 99  # packages of modules: with their parents 2,000
LIMIT = 3.0  # percent

CONFTEST = f"""
import sys, types

for part in range({PARTS}):
    package = types.ModuleType(f"made{{part}}")
    sys.modules[package.__name__] = package
    for number in range({EACH}):
        module = types.ModuleType(f"made{{part}}.m{{number}}")
        sys.modules[module.__name__] = module
        setattr(package, f"m{{number}}", module)
"""
SPIN = """
from time import process_time

def spin():
    end = process_time() + 0.001
    while process_time() < end:
        pass
"""
WATCHED = {
    "300 of them watched": "made0 made1 made2",
    "all 2,000 watched": " ".join(f"made{part}" for part in range(PARTS)),
}


def write_suite(where: Path, tests: int) -> None:
    (where / "conftest.py").write_text(CONFTEST)
    (where / "spinning.py").write_text(SPIN)
    (where / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    for number in range(FILES):
        lines = ["from spinning import spin", ""]
        lines += [f"def test_{at}(): spin()" for at in range(tests // FILES)]
        (where / f"test_{number}.py").write_text("\n".join(lines) + "\n")


def run(where: Path, watched: str | None) -> tuple[float, float]:
    """Run the suite; return its seconds of CPU time and of wall time."""
    arguments = [sys.executable, "-m", "pytest", "-q", "-pno:cacheprovider"]
    if watched is not None:
        arguments += ["-phealthboard_client.plugin", "--healthboard"]
        arguments += ["-ohealthboard_gates=sys_modules env cwd"]
        arguments += [f"-ohealthboard_watch={watched}"]
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "client" / "src"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    start = time.perf_counter()
    with (where / "out").open("wb") as out:
        pid = os.posix_spawn(
            "/usr/bin/env",
            ["env", "-C", str(where), *arguments],
            environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)],
        )
        _, status, used = os.wait4(pid, 0)
    if status:
        raise SystemExit((where / "out").read_text()[-2000:])
    return used.ru_utime + used.ru_stime, time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tests", type=int, default=12_000)
    options = parser.parse_args()
    more: dict[str, list[tuple[float, float]]] = {name: [] for name in WATCHED}
    off: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        where = Path(directory)
        write_suite(where, options.tests)
        for _ in range(options.rounds):
            cpu, wall = run(where, None)
            off.append(cpu)
            for name, watched in WATCHED.items():
                one_cpu, one_wall = run(where, watched)
                more[name].append(
                    (100 * (one_cpu / cpu - 1), 100 * (one_wall / wall - 1))
                )
    figures = [Figure("the suite, plugin off, CPU time", median(off), "s")]
    for name, ratios in more.items():
        cpus, walls = zip(*ratios, strict=True)
        figures += [
            Figure(f"{name}: more CPU time", median(cpus), "%", most=LIMIT),
            Figure(f"{name}: more wall time", median(walls), "%"),
        ]
    show(f"plugin, {options.tests:,} tests", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
