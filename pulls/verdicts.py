"""The stage that makes verdicts: one a pull request, anew whenever its facts moved.

Guarantees: one process at a time judges a pull request; a fact that comes meanwhile
makes it judge again; a verdict, its computed edges and what it tells others are stored
in one transaction; done twice, or killed in it, leaves the same as once. Five tries that
fail are the end, until a new fact comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from formats.phrases import Kind
from ingest import leases
from ingest.claims import FIRST_PAUSE, GROWTH, MAX_ATTEMPTS
from projects.models import Project
from pulls import causes, marking, repositories, signals
from pulls.evaluating import evaluate
from pulls.finding_items import versions
from pulls.models import Edge, Mark, Pull, Repository, Source, State, Verdict
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from pulls.evaluating import Made

METHOD = 1
LEASE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A pull request as it was claimed."""

    pull: Pull
    lease: str
    marks: int

    def __str__(self) -> str:
        return f"{self.pull} of project {self.pull.project_id}"


def claim(now: datetime) -> Claimed | None:
    """Take the pull request that is due longest."""
    while True:
        due = Pull.objects.filter(due_at__lte=now)
        found = due.order_by("due_at", "pk").first()
        if found is None:
            if look_again():
                now = timezone.now()
                continue
            return None
        mine = Pull.objects.filter(
            pk=found.pk, due_at=found.due_at, lease=found.lease, due_at__lte=now
        )
        if found.lease and found.attempts >= MAX_ATTEMPTS:
            mine.update(due_at=None, lease="", failure="its work was interrupted")
            continue
        lease = leases.new_lease()
        if mine.update(due_at=now + LEASE, lease=lease, attempts=F("attempts") + 1):
            pull = Pull.objects.get(pk=found.pk)
            return Claimed(pull, lease, pull.marks)


def work(claimed: Claimed) -> None:
    """Judge a pull request and store the verdict."""
    project = Project.objects.get(pk=claimed.pull.project_id)
    made = evaluate(project, claimed.pull)
    with transaction.atomic():
        repositories.hold(project)
        held = Pull.objects.filter(pk=claimed.pull.pk, lease=claimed.lease)
        # What was marked meanwhile is judged again, by facts that are stored.
        again = held.exclude(marks=claimed.marks)
        if again.update(due_at=timezone.now(), lease="", attempts=0):
            return
        if held.update(due_at=None, lease="", attempts=0, failure=""):
            _store(claimed.pull, made)


def give_back(claimed: Claimed, error: str) -> None:
    """Note an unknown error: another try later, or none."""
    attempts = claimed.pull.attempts
    last = attempts >= MAX_ATTEMPTS
    pause = FIRST_PAUSE * GROWTH ** max(attempts - 1, 0)
    Pull.objects.filter(pk=claimed.pull.pk, lease=claimed.lease).update(
        due_at=None if last else timezone.now() + pause,
        lease="",
        failure=storable(error)[:2_000],
    )


def waiting(project_id: int | None) -> int:
    """Count the pull requests, of one project or of all, that are to be judged."""
    due = Pull.objects.filter(due_at__isnull=False)
    if project_id is not None:
        due = due.filter(project_id=project_id)
    return due.count()


def look_again() -> bool:
    """Mark what moved below: leakers and classes, and the default branch's name."""
    marked = False
    for repository in Repository.objects.select_related("project"):
        project = repository.project
        if repository.default_branch != project.default_branch:
            with transaction.atomic():
                repositories.rename(repositories.hold(project), project)
                marking.mark_those(marking.open_pulls(project.pk))
            marked = True
        at = causes.changed_at(project.pk)
        if at is not None and at != repository.causes_at:
            marked |= _mark_by_causes(project, at)
        marked |= _mark_by_findings(project)
    return marked


def _mark_by_findings(project: Project) -> bool:
    """Mark those whose findings changed since they were judged."""
    now = versions(project.pk)
    rows = Verdict.objects.filter(pull__project=project, pull__number__in=now)
    then = dict(rows.values_list("pull__number", "reviewed"))
    changed = [n for n, version in then.items() if now[n] != version]
    with transaction.atomic():
        return bool(changed) and bool(marking.mark(project.pk, changed))


def _mark_by_causes(project: Project, at: datetime) -> bool:
    """Mark the open pull requests of whose tests something else is believed now."""
    rows = Verdict.objects.filter(
        pull__project=project, pull__state=State.OPEN, speaks__gt=0
    )
    changed = [
        number
        for number, tests, digest in rows.values_list("pull__number", "tests", "causes")
        if causes.causes(project.pk, tests).digest != digest
    ]
    with transaction.atomic():
        Repository.objects.filter(project=project).update(causes_at=at)
        marking.mark(project.pk, changed)
    return bool(changed)


def _store(pull: Pull, made: Made) -> None:
    """Write the verdict and all that hangs on it; the transaction is open."""
    now = timezone.now()
    told = made.told
    before = Verdict.objects.filter(pull=pull).first()
    changed = before is None or before.word != told.word
    Verdict.objects.update_or_create(
        pull=pull,
        defaults={
            "word": told.word,
            "red": told.red,
            "sentence": storable(told.sentence),
            "head": told.head,
            "base": told.base[:64],
            "quality": told.quality,
            "detail": told.to_json(),
            "waits": made.waits,
            "speaks": len(made.tests),
            "tests": made.tests,
            "causes": made.causes,
            "reviewed": made.reviewed,
            "method": METHOD,
            "at": now,
            "changed_at": now if changed or before is None else before.changed_at,
        },
    )
    _write_marks(pull, made)
    _write_edges(pull, made)
    if changed:
        word = before.word if before else ""
        signals.verdict_changed.send(
            Pull, pull=pull, before=word, after=told.word, told=told, at=now
        )
    if before and before.waits and not made.waits and pull.state == State.OPEN:
        signals.unblocked.send(Pull, pull=pull, by=before.waits, at=now)


def _write_marks(pull: Pull, made: Made) -> None:
    """Store what it inherits and fixes; who is concerned by a change is judged anew."""
    wanted = {("fixed", key) for key in made.fixed}
    wanted |= {("inherited", key) for key in made.inherited}
    stored = {
        (share, bytes(key).hex()): pk
        for pk, share, key in Mark.objects.filter(pull=pull).values_list(
            "pk", "share", "key"
        )
    }
    gone = {place: pk for place, pk in stored.items() if place not in wanted}
    new = wanted - set(stored)
    Mark.objects.filter(pk__in=list(gone.values())).delete()
    Mark.objects.bulk_create(
        Mark(
            project_id=pull.project_id,
            pull=pull,
            share=share,
            key=bytes.fromhex(key),
        )
        for share, key in sorted(new)
    )
    _mark_partners(pull, [*gone, *new])


def _mark_partners(pull: Pull, changed: Iterable[tuple[str, str]]) -> None:
    """What one begins or ceases to fix concerns all that inherit it."""
    fixed = [bytes.fromhex(key) for share, key in changed if share == "fixed"]
    if not fixed:
        return
    others = Mark.objects.filter(
        project_id=pull.project_id, key__in=fixed, share="inherited"
    ).exclude(pull=pull)
    numbers = others.values_list("pull__number", flat=True)
    open_ones = numbers.filter(pull__state=State.OPEN)
    marking.mark(pull.project_id, list(open_ones))


def _write_edges(pull: Pull, made: Made) -> None:
    mine = Edge.objects.filter(
        project_id=pull.project_id, origin=pull.number, source=Source.COMPUTED
    )
    known = dict(mine.values_list("to_number", "pk"))
    gone = [pk for number, pk in known.items() if number not in made.blocked_by]
    Edge.objects.filter(pk__in=gone).delete()
    new = sorted(made.blocked_by - set(known))
    Edge.objects.bulk_create(
        Edge(
            project_id=pull.project_id,
            origin=pull.number,
            from_number=pull.number,
            to_number=number,
            kind=Kind.BLOCKING,
            source=Source.COMPUTED,
            reason="it inherits what this one fixes",
        )
        for number in new
    )
    if gone or new:
        marking.mark_waiting(pull.project_id, pull.number)
