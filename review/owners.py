"""Who owns a test: a person's word first, else the project's CODEOWNERS.

Guarantees: the file is kept as it was given; one query for any number of tests; a file
that is read again and again is parsed once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from django.db import transaction

from formats.codeowners import MOST_BYTES, Owners, read_codeowners
from projects import audit
from results.storable import storable
from review.models import Codeowners

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from projects.models import Project
    from review.standings import Held


__all__ = [
    "MOST_BYTES",
    "TooLong",
    "by_file",
    "owner_of",
    "owners_of",
    "save",
    "stored",
]


class TooLong(ValueError):
    """The file is longer than the format allows."""


def save(project: Project, text: str, *, by: str, now: datetime) -> Owners:
    """Keep a CODEOWNERS file; return how it is read."""
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise TooLong("a CODEOWNERS file has at most 3 MB")
    text = storable(text)
    read = _read(text)
    with transaction.atomic():
        Codeowners.objects.update_or_create(
            project=project,
            defaults={"text": text, "updated_at": now, "updated_by": by[:200]},
        )
        audit.record(
            project,
            actor=by,
            action="codeowners.changed",
            detail={"rules": len(read.rules), "odd": len(read.odd)},
        )
    return read


def stored(project_id: int) -> Codeowners | None:
    """Return the project's file, if one was given."""
    return Codeowners.objects.filter(project_id=project_id).first()


def owners_of(project_id: int) -> Owners:
    """Return the project's rules; none where no file was given."""
    rows = Codeowners.objects.filter(project_id=project_id)
    text = rows.values_list("text", flat=True).first()
    return _read(text) if text else Owners()


def by_file(project_id: int, files: Iterable[str]) -> dict[str, str]:
    """Return the owners of some files as one text; files of nobody are left out."""
    rules = owners_of(project_id)
    found = {file: ", ".join(rules.of(file)) for file in set(files) if file}
    return {file: named for file, named in found.items() if named}


def owner_of(
    test: int, file: str, held: Mapping[int, Held], files: Mapping[str, str]
) -> str:
    """Return a test's owner: as decided, else as its file has it; "": nobody."""
    own = held.get(test)
    return (own.owner if own else "") or files.get(file, "")


@lru_cache(maxsize=32)
def _read(text: str) -> Owners:
    return read_codeowners(text)
