"""What the readers of this package return: one review, as plain values.

Guarantees: a `Review` says of each of its lines whether it was understood; it is
complete only where nothing of it was left unread and it does not call itself partial.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from formats.report import Note

SCHEMA = "healthboard.review/1"

MOST_BYTES = 32 << 20  # of one document, unpacked
MOST_MARKDOWN = 8 << 20  # characters
MOST_FINDINGS = 25_000  # in one review
MOST_PATH = 1_000  # characters
MOST_TITLE = 2_000
MOST_DETAIL = 64 << 10
MOST_RULE = 300
MOST_NAME = 200  # of a reviewer or a model
MOST_REVIEWERS = 100
MOST_UNPARSED = 2_000  # characters of one unread line


class Severity(StrEnum):
    """P0 is the worst."""

    P0 = "P0"
    P1 = "P1"
    P2 = "P2"
    P3 = "P3"

    @property
    def step(self) -> int:
        return int(self.value[1])


class Place(NamedTuple):
    """Lines of a finding's file, counted from 1."""

    line: int
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class Suppression:
    """That a SARIF tool was told to be silent about a result."""

    kind: str  # "inSource" or "external"
    status: str = "accepted"  # or "underReview", "rejected"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a review says is wrong, at one or more places of one file.

    `line` is None where the review gives none. `path` is empty only for a SARIF
    result without a place. No reviewer stated: `reviewers` is empty.
    """

    severity: Severity
    path: str
    title: str
    line: int | None = None
    end_line: int | None = None
    detail: str = ""
    reviewers: tuple[str, ...] = ()
    rule: str = ""
    also_at: tuple[Place, ...] = ()  # further places of the same finding
    fingerprints: tuple[tuple[str, str], ...] = ()  # SARIF partialFingerprints
    suppressions: tuple[Suppression, ...] = ()
    source_line: int | None = None  # of the Markdown in which it stands

    @property
    def places(self) -> tuple[Place, ...]:
        if self.line is None:
            return self.also_at
        return (Place(self.line, self.end_line), *self.also_at)

    @property
    def suppressed(self) -> bool:
        return any(each.status == "accepted" for each in self.suppressions)


@dataclass(frozen=True, slots=True)
class Confidence:
    score: float
    of: float

    @property
    def share(self) -> float:
        return self.score / self.of


@dataclass(frozen=True, slots=True)
class Provenance:
    """How the review came to be; what it does not say is None."""

    models: dict[str, str] = field(default_factory=dict)  # by reviewer
    cost_usd: float | None = None
    duration_s: float | None = None
    rounds: int | None = None
    files_examined: int | None = None


@dataclass(frozen=True, slots=True)
class UnparsedLine:
    """A line that looks like a finding and could not be read."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Review:
    findings: tuple[Finding, ...]
    confidence: Confidence | None = None
    provenance: Provenance = Provenance()
    unparsed: tuple[UnparsedLine, ...] = ()
    pr: int | None = None
    commit: str = ""
    partial: bool = False  # it says so itself
    notes: tuple[Note, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether what this review does not raise is gone."""
        return not self.unparsed and not self.partial


def tidy_path(path: str) -> str:
    """The path as it is compared: forward slashes, no `./` before it."""
    found = path.strip().replace("\\", "/")
    while found.startswith("./"):
        found = found[2:].lstrip("/")
    return found
