"""How much a reader takes before it refuses or cuts.

Guarantees: every bound on depth, length and number that protects a reader's memory
and time has its name here. Lengths are in characters unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one file. Beyond the first group it is refused, the rest is cut."""

    depth: int = 512  # nested elements
    name: int = 1 << 20  # a test's name and class together
    token: int = 16 << 20  # bytes of one tag, comment or declaration
    cases: int = 2_000_000
    documents: int = 10_000  # one after the other in one file
    repairs: int = 1_000_000  # of references and unescaped markup in one document
    unpacked: int = 1 << 30  # bytes of a compressed file

    message: int = 10_000
    text: int = 64 << 10  # one failure's own text
    output: int = 64 << 10  # each captured stream of a failing case
    parts: int = 100  # failures, attempts and streams kept of one case
    kept: int = 64 << 20  # all texts of the file together; then only messages stay


DEFAULT_LIMITS = Limits()
