"""The texts of failures: stored once a project and content, cut and compressed.

Guarantees: of a text longer than `MOST_TEXT` its head and its tail are kept, and the
cut is said in it; equal failures share one row.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from formats.fingerprints import fingerprint
from formats.outcomes import CODE, FAILING, Outcome
from results import bulk
from results.models import Detail
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from formats.report import TestResult
    from results.bulk import Row

MOST_TEXT = 64 * 1024  # characters; half of it from each end
MOST_MESSAGE = 4_000
_AT_ONCE = 500
_FIELDS = (
    "project",
    "digest",
    "message",
    "fingerprint",
    "fingerprint_version",
    "title",
    "text",
    "text_bytes",
)


@dataclass(frozen=True, slots=True)
class Told:
    """A result or attempt that has a text; `attempt` as in `models.Failure`."""

    test_id: int
    attempt: int
    outcome: int
    detail_id: int


@dataclass(frozen=True, slots=True)
class _Text:
    message: str
    text: str

    def digest(self) -> bytes:
        whole = f"{len(self.message)}:{self.message}{self.text}"
        raw = whole.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(raw, digest_size=16).digest()


def store_details(
    project_id: int, results: Iterable[tuple[TestResult, int]]
) -> list[Told]:
    """Store the texts that are new to the project; return who points at which.

    Each result with the id of its test case; those without a text may be left out.
    """
    found = list(_texts(results))
    by_digest = {digest: text for *_, digest, text in found}
    known = _read(project_id, list(by_digest))
    new = sorted(by_digest.keys() - known.keys())
    if new:
        # In the order of the digest, so that two workers never wait for each other.
        rows = [_row(project_id, digest, by_digest[digest]) for digest in new]
        with transaction.atomic():  # else SQLite ends one a row
            bulk.insert(Detail, _FIELDS, rows, ignore=("project", "digest"))
        known |= _read(project_id, new)
    return [
        Told(test_id, attempt, CODE[outcome], known[digest])
        for test_id, attempt, outcome, digest, _ in found
    ]


def unpack_text(data: bytes | memoryview | None) -> str:
    return zlib.decompress(data).decode() if data else ""


def _texts(
    results: Iterable[tuple[TestResult, int]],
) -> Iterator[tuple[int, int, Outcome, bytes, _Text]]:
    for result, test_id in results:
        for number, attempt in enumerate(result.attempts, start=1):
            if _is_told(attempt.outcome, attempt.message, attempt.text):
                text = _Text(attempt.message, attempt.text)
                yield test_id, number, attempt.outcome, text.digest(), text
        if result.gated or _is_told(result.outcome, result.message, result.text):
            text = _Text(result.message, result.text)
            yield test_id, 0, result.outcome, text.digest(), text


def _is_told(outcome: Outcome, message: str, text: str) -> bool:
    """A pass has nothing of its own to tell; a failure without a word is still one."""
    if outcome in FAILING:
        return True
    return outcome is not Outcome.PASSED and bool(message or text)


def _read(project_id: int, digests: Sequence[bytes]) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    mine = Detail.objects.filter(project_id=project_id)
    for start in range(0, len(digests), _AT_ONCE):
        batch = mine.filter(digest__in=digests[start : start + _AT_ONCE])
        found |= {bytes(digest): pk for digest, pk in batch.values_list("digest", "pk")}
    return found


def _row(project_id: int, digest: bytes, told: _Text) -> Row:
    group = fingerprint(told.message, told.text)
    message, text = storable(told.message), storable(told.text)
    if len(message) > MOST_MESSAGE:
        text = f"{message}\n\n{text}" if text else message
        message = message[:MOST_MESSAGE] + "…"
    kept = cut(text)
    return (
        project_id,
        digest,
        message,
        group.digest,
        group.version,
        storable(group.title),
        zlib.compress(kept.encode(), 6) if kept else None,
        len(text.encode()),
    )


def cut(text: str) -> str:
    """Keep the head and the tail of a long text, and say what is left out."""
    if len(text) <= MOST_TEXT:
        return text
    half = MOST_TEXT // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n\n[… {left_out:,} characters left out …]\n\n{text[-half:]}"
