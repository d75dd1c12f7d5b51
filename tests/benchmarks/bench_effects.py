"""How long reading and judging an effect ledger takes, and whether it stays linear.

    python -m tests.benchmarks.bench_effects [--records 10000 100000 1000000]

CPU time of one pass in one process. Besides an ordinary log there are shapes that
would be quadratic if every claim were held against every observation.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from formats.effects.findings import findings
from formats.effects.judging import judge
from formats.effects.ledger import read_ledger
from tests.effect_ledgers import (
    Fields,
    claim,
    encode,
    file,
    obligation,
    observation,
    outcome,
    ref,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

type Shape = Callable[[random.Random], Iterator[Fields]]


def _effects(pick: Callable[[int], list[Fields]], *, late: bool) -> Iterator[Fields]:
    """Claims, outcomes and looks without end; `late` ones end 1,000 claims later."""
    sequence = 0
    open_ones: list[tuple[str, list[Fields]]] = []
    while True:
        scope = pick(sequence)
        obligations = [obligation(r) for r in scope if r["kind"] != "process"]
        sequence += 3
        effect = claim(sequence, scope, obligations=obligations)
        yield effect
        open_ones.append((effect["record"]["effect_id"], scope))
        if late and len(open_ones) < 1_000:
            continue
        effect_id, seen = open_ones.pop(0)
        yield outcome(effect_id, sequence + 1)
        if seen:
            yield observation(seen[0], sequence + 2)


def ordinary(rng: random.Random) -> Iterator[Fields]:
    def pick(_: int) -> list[Fields]:
        path = f"src/part{rng.randrange(40)}/file{rng.randrange(50)}.py"
        record = ref("owned", "notes", str(rng.randrange(300)))
        return [file(path), record][: rng.randrange(1, 3)]

    return _effects(pick, late=False)


def all_different(_: random.Random) -> Iterator[Fields]:
    return _effects(lambda n: [file(f"d{n % 997}/f{n}")], late=True)


def unknown_scope(_: random.Random) -> Iterator[Fields]:
    return _effects(lambda n: [] if n % 4 else [file(f"f{n}")], late=True)


def one_place(_: random.Random) -> Iterator[Fields]:
    return _effects(lambda n: [file("a")], late=True)


def deep_paths(_: random.Random) -> Iterator[Fields]:
    steps = [f"d{n}" for n in range(200)]
    return _effects(lambda n: [file("/".join(steps[: n % 200 + 1]))], late=True)


def wildcards(_: random.Random) -> Iterator[Fields]:
    def pick(n: int) -> list[Fields]:
        return [ref("owned", "notes", "*" if n % 2 else str(n))]

    return _effects(pick, late=True)


def backwards(rng: random.Random) -> Iterator[Fields]:
    """Looks first in the file, their sequences falling."""
    for number, line in enumerate(ordinary(rng)):
        if line["type"] == "observation":
            line["record"]["sequence"] = 10**9 - number
        yield line


def colliding(rng: random.Random) -> Iterator[Fields]:
    """Sequences that have one hash."""
    for line in ordinary(rng):
        line["record"]["sequence"] *= sys.hash_info.modulus
        yield line


SHAPES: dict[str, Shape] = {
    "ordinary": ordinary,
    "all different, 1,000 open": all_different,
    "unknown scopes": unknown_scope,
    "one place": one_place,
    "deep paths": deep_paths,
    "owned, half `*`": wildcards,
    "sequences fall": backwards,
    "sequences collide": colliding,
}


def ledger(shape: Shape, records: int) -> bytes:
    return encode(*islice(shape(random.Random(3)), records))


def measure(raw: bytes) -> tuple[float, float]:
    """Return the CPU seconds of reading and of judging."""
    start = time.process_time()
    read = read_ledger(io.BytesIO(raw), run_ended=True)
    middle = time.process_time()
    judged = judge(read)
    found = findings(judged)
    end = time.process_time()
    assert len(judged) == len(read.claims) >= len(found)
    return middle - start, end - middle


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--records", type=int, nargs="+", default=[10_000, 100_000, 1_000_000]
    )
    options.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    chosen = options.parse_args()
    _say("| shape | records | MB | read s | judge s | µs a record | peak MB so far |")
    _say("|---|---:|---:|---:|---:|---:|---:|")
    for name in chosen.shapes:
        for records in chosen.records:
            raw = ledger(SHAPES[name], records)
            read, judged = measure(raw)
            each = (read + judged) / records * 1e6
            size = len(raw) / 2**20
            times = f"{read:.2f} | {judged:.2f} | {each:.1f} | {_peak_mb():.0f}"
            _say(f"| {name} | {records:,} | {size:.1f} | {times} |")


if __name__ == "__main__":
    main()
