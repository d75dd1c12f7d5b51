"""How much memory the worker takes at its peak.

    python -m tests.benchmarks.bench_memory [--output-mb N]

A real `serve` for each report, so that nothing is left from the one before. The report
with much captured output is written and sent in pieces, gzipped.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from pathlib import Path

from tests.benchmarks import tables
from tests.benchmarks.reports import Shape, pieces
from tests.benchmarks.tables import Figure
from tests.benchmarks.visiting import Visitor
from tests.sending import BOUNDARY
from tests.services.serving import serving

LIMIT_MB = 300


def gzipped_body(path: Path, shape: Shape) -> bytes:
    """Write a multipart body piece by piece; its gzipped bytes are few."""
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        context = json.dumps({"run": "ci-1", "branch": "main"})
        head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; "
        file.write(f'{head}name="context"\r\n\r\n{context}\r\n')
        file.write(f'{head}name="junit"; filename="r.xml"\r\n\r\n')
        file.writelines(pieces(shape))
        file.write(f"\r\n--{BOUNDARY}--\r\n")
    return path.read_bytes()


def peak_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def worker_peak(shape: Shape) -> float:
    """Process one report in a fresh installation; return the worker's peak in MB."""
    with (
        tempfile.TemporaryDirectory(prefix="healthboard-bench-") as folder,
        serving(Path(folder, "data")) as server,
    ):
        visitor = Visitor(server.port, token=server.client().token)
        body = gzipped_body(Path(folder, "body.gz"), shape)
        visitor.run_of(visitor.send(body, encoding="gzip"))
        return peak_mb(server.started("worker")[-1])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--output-mb", type=int, default=500)
    chosen = options.parse_args()
    small, output = Shape(), chosen.output_mb
    usual = worker_peak(small)
    large = worker_peak(Shape(100_000, 400, 600))
    noisy = worker_peak(Shape(output_mb=output))
    limit = usual + 30
    tables.show(
        "Peak memory of the worker",
        [
            Figure("12,141 cases", usual, "MB", most=LIMIT_MB),
            Figure("100,000 cases", large, "MB", most=LIMIT_MB),
            Figure(f"12,141 cases, {output} MB of output", noisy, "MB", most=limit),
        ],
    )


if __name__ == "__main__":
    main()
