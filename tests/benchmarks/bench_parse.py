"""How long parsing takes beside a bare XML library, and how much memory.

    python -m tests.benchmarks.bench_parse [--rounds N] [--output-mb N]

All candidates of a round run one after the other in turn, in one process; the ratio is
that of the medians of CPU time. Memory is measured in a process of its own.
"""

from __future__ import annotations

import argparse
import io
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.parsers import expat

from lxml import etree

from formats.junit import read_junit
from tests.benchmarks.reports import MEGABYTE, Shape, report, write

if TYPE_CHECKING:
    from collections.abc import Callable

SHAPES = {"12,141 cases": Shape(), "100,000 cases": Shape(100_000, 400, 600)}
ROOT = Path(__file__).parents[2]


def bare_expat(data: bytes) -> None:
    """Parse with empty handlers: the least that a streaming reader can cost."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda tag, attrs: None
    parser.EndElementHandler = lambda tag: None
    parser.Parse(data, True)


CANDIDATES: dict[str, Callable[[bytes], object]] = {
    "read_junit": lambda data: read_junit(io.BytesIO(data)),
    "lxml.etree.parse": lambda data: etree.parse(io.BytesIO(data)),
    "ElementTree.parse": lambda data: ElementTree.parse(io.BytesIO(data)),
    "expat, empty handlers": bare_expat,
}


def measure(data: bytes, rounds: int) -> dict[str, float]:
    """Return the median CPU milliseconds of each candidate."""
    spent: dict[str, list[float]] = {name: [] for name in CANDIDATES}
    for _ in range(rounds):
        for name, parse in CANDIDATES.items():
            start = time.process_time()
            parse(data)
            spent[name].append((time.process_time() - start) * 1000)
    return {name: statistics.median(times) for name, times in spent.items()}


def peak_growth(path: Path) -> float:
    """Return by how many MB reading a file raises a fresh process's peak memory."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.bench_parse", "--peak", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout)


def _peak_mb() -> float:
    """Return this process's own peak; `getrusage` would count its parent's, too."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def _print_peak(path: Path) -> None:
    before = _peak_mb()
    with path.open("rb") as stream:
        reading = read_junit(stream)
    after = _peak_mb()
    assert reading.reported.tests
    _say(f"{after - before:.1f}")


def _print_times(rounds: int) -> None:
    _say("| report | parser | CPU ms | read_junit takes |")
    _say("|---|---|---:|---:|")
    for label, shape in SHAPES.items():
        data = report(shape)
        medians = measure(data, rounds)
        ours = medians["read_junit"]
        for name, median in medians.items():
            ratio = f"{ours / median:.2f} ×" if name != "read_junit" else ""
            size = f"{label}, {len(data) / MEGABYTE:.1f} MB"
            _say(f"| {size} | {name} | {median:.1f} | {ratio} |")


def _print_peaks(output_mb: int) -> None:
    _say("\n| report | peak memory grows by |\n|---|---:|")
    shapes = {**SHAPES, f"{output_mb} MB of output": Shape(output_mb=output_mb)}
    with tempfile.TemporaryDirectory() as folder:
        for label, shape in shapes.items():
            path = write(Path(folder, "report.xml"), shape)
            _say(f"| {label} | {peak_growth(path):.0f} MB |")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--output-mb", type=int, default=500)
    options.add_argument("--peak", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.peak:
        _print_peak(chosen.peak)
        return
    _print_times(chosen.rounds)
    _print_peaks(chosen.output_mb)


if __name__ == "__main__":
    main()
