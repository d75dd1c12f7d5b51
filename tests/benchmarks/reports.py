"""Seeded reports of any size, shaped as pytest writes them.

The same arguments give the same bytes on every machine. Sizes follow a real suite:
12,141 tests, of which 59 fail with tracebacks of 18-45 frames and 78 are skipped, make
about 3 MB.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = '<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">'
TAIL = "</testsuite></testsuites>"
MEGABYTE = 1 << 20
_NOUNS = [
    "account",
    "basket",
    "cache",
    "client",
    "cursor",
    "order",
    "parcel",
    "queue",
    "report",
    "stock",
]
_VERBS = [
    "accepts",
    "closes",
    "counts",
    "drops",
    "expires",
    "keeps",
    "merges",
    "refuses",
    "sorts",
    "stores",
]
_OUTPUT_LINE = "2026-03-01 10:00:00 INFO worker: another line of captured output here\n"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a generated report holds. `seed` picks the failures and the times."""

    tests: int = 12_141
    failures: int = 59
    skips: int = 78
    seed: int = 1
    output_mb: int = 0  # captured output, spread over the failing tests


def names(tests: int) -> list[tuple[str, str]]:
    """Return class name and test name of each case; the same for every seed."""
    rng = random.Random(0)
    found: list[tuple[str, str]] = []
    while len(found) < tests:
        module = len(found) // 60
        noun, area = rng.choice(_NOUNS), rng.choice(_NOUNS)
        place = f"tests.integration.services.{area}_{rng.choice(_NOUNS)}"
        classname = (
            f"{place}.test_{noun}_{area}_{module}.Test{noun.title()}Of{area.title()}"
        )
        for number in range(rng.randint(20, 60)):
            subject, other = rng.choice(_NOUNS), rng.choice(_NOUNS)
            name = (
                f"test_{rng.choice(_VERBS)}_the_{subject}_when_its_{other}_"
                f"{rng.choice(_VERBS)}_and_{rng.choice(_VERBS)}_number_{number}"
            )
            params = f"[{subject}-{other}-{number}]" if number % 4 == 0 else ""
            found.append((classname, name + params))
    return found[:tests]


def pieces(shape: Shape) -> Iterator[str]:
    """Yield the report piece by piece, so that any size can be written."""
    rng = random.Random(shape.seed)
    special = rng.sample(range(shape.tests), shape.failures + shape.skips)
    failing = set(special[: shape.failures])
    skipped = set(special[shape.failures :])
    times = [rng.lognormvariate(-4.2, 1.0) for _ in range(shape.tests)]
    yield HEAD
    yield (
        f'<testsuite name="pytest" errors="0" failures="{shape.failures}" '
        f'skipped="{shape.skips}" tests="{shape.tests}" time="{sum(times) + 9:.3f}" '
        'timestamp="2026-03-01T10:00:00.000000+00:00" hostname="runner">'
    )
    for index, (classname, name) in enumerate(names(shape.tests)):
        opening = (
            f'<testcase classname="{classname}" name={quoteattr(name)} '
            f'time="{times[index]:.3f}"'
        )
        if index in failing:
            yield f"{opening}>{_failure(rng, classname)}"
            if shape.output_mb:
                yield from _output(shape.output_mb * MEGABYTE // shape.failures)
            yield "</testcase>"
        elif index in skipped:
            yield (
                f'{opening}><skipped type="pytest.skip" message="not on this system">'
                "tests/conftest.py:12: not on this system</skipped></testcase>"
            )
        else:
            yield f"{opening} />"
    yield TAIL


def _failure(rng: random.Random, classname: str) -> str:
    left, right = rng.randint(0, 9999), rng.randint(0, 9999)
    lines = []
    for depth in range(rng.randint(18, 45)):
        module = rng.choice(_NOUNS)
        lines.append(
            f"shop/{module}/{rng.choice(_VERBS)}.py:{rng.randint(10, 900)}: in "
            f"{rng.choice(_VERBS)}_{module}\n"
            f"    {rng.choice(_NOUNS)} = self.{rng.choice(_NOUNS)}_repository\n"
            f"    options = dict(limit={rng.randint(1, 99)}, {rng.choice(_VERBS)}=True)\n"
            f"    return self.{rng.choice(_NOUNS)}.{rng.choice(_VERBS)}(value, {depth})\n"
            f"           {'^' * rng.randint(20, 60)}"
        )
    lines.append(f"E   AssertionError: assert {left} == {right} in <{classname}>")
    message = f"AssertionError: assert {left} == {right}"
    return (
        f"<failure message={quoteattr(message)}>{escape(chr(10).join(lines))}</failure>"
    )


def _output(size: int) -> Iterator[str]:
    block = _OUTPUT_LINE * 1000
    yield "<system-out>"
    for _ in range(size // len(block)):
        yield block
    yield _OUTPUT_LINE * (size % len(block) // len(_OUTPUT_LINE))
    yield "</system-out>"


def report(shape: Shape | None = None) -> bytes:
    """Return a whole report in memory."""
    return "".join(pieces(shape or Shape())).encode()


def write(path: Path, shape: Shape | None = None) -> Path:
    """Write a report of any size to a file and return its path."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(pieces(shape or Shape()))
    return path
