"""Taking the result of a reproduction from outside.

Guarantees: the same proof told twice is stored once; the project is marked to be
recounted in the transaction that stores it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from leaks.models import PairKind, Proof, ProofResult
from projects import audit
from results import recounts
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from projects.models import Project

LONGEST_KEY = 255


class ProofConflict(ValueError):
    """The id was used before, for a proof that says something else."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a proof says; `leaker` and `victim` are ids of tests of the project."""

    leaker: int
    victim: int
    result: ProofResult
    kind: PairKind
    how: str = ""
    command: str = ""
    runs: int | None = None
    failed: int | None = None
    commit: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


def record(project: Project, told: Told, *, key: str, by: str) -> tuple[Proof, bool]:
    """Store a proof, if it is new; an empty key makes what it says its identity."""
    digest = _digest(told)
    key = key[:LONGEST_KEY] or digest
    mine = Proof.objects.filter(project=project, key=key)
    with transaction.atomic():
        row = Proof(
            project=project,
            key=key,
            digest=digest,
            leaker_id=told.leaker,
            victim_id=told.victim,
            result=told.result,
            kind=told.kind,
            how=storable(told.how),
            command=storable(told.command),
            runs=told.runs,
            failed=told.failed,
            commit=told.commit[:64],
            environment={
                storable(name): storable(value)
                for name, value in told.environment.items()
            },
            told_by=by[:200],
            created_at=timezone.now(),
        )
        made = not mine.exists()
        if made:
            Proof.objects.bulk_create([row], ignore_conflicts=True)
        stored = mine.get()
        made = made and stored.created_at == row.created_at
        if made:
            recounts.mark(project.pk)
            audit.record(
                project,
                actor=by,
                action=f"proof.{told.result}",
                subject=f"test {told.leaker} before {told.victim}",
            )
    if stored.digest != digest:
        raise ProofConflict(key)
    return stored, made


def _digest(told: Told) -> str:
    raw = json.dumps(asdict(told), sort_keys=True).encode()
    return hashlib.sha256(raw).hexdigest()
