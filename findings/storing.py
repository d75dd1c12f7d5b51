"""The stage that stores the reviews and ledgers of an upload.

Guarantees: what an upload says is stored whole or not at all, together with the end of
the work; storing it twice, or being killed in it, leaves the same as storing it once;
two uploads of one pull request, and a person who decides meanwhile, do not overwrite
each other: a telling that is no longer the newest is told again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F

from findings import effect_life, writing
from findings.effect_rows import Place, write_draft
from findings.happened import happened_on, review_id
from findings.models import Course, Ledger, Review, Source
from findings.stored import pack
from findings.telling import Told, tell
from formats.context import read_context
from formats.effects.ledger import read_ledger
from formats.report import Rejected
from formats.reviews.life import Reviewed
from formats.reviews.reading import read_review
from formats.reviews.review import Severity
from ingest import handovers, kinds
from ingest.documents import documents
from ingest.readers import CHECKED_APART
from projects import options
from results.storable import storable

if TYPE_CHECKING:
    from datetime import datetime

    from formats.context import Context
    from formats.reviews.life import Changes
    from formats.reviews.review import Review as Read
    from ingest.models import Handover, Upload
    from projects.models import Project

STAGE = CHECKED_APART
_TRIES = 20
# Any, below: a value of any field.


class Overtaken(RuntimeError):
    """Others kept changing the same pull request; another try later."""


@dataclass(slots=True)
class _Said:
    """What the files of one upload say."""

    upload: Upload
    context: Context
    reviews: dict[int, Read] = field(default_factory=dict)  # by number of the file
    ledgers: list[int] = field(default_factory=list)  # drafts


@dataclass(frozen=True, slots=True)
class _Telling:
    """A course told anew, and the version that it was told from."""

    course: Course
    told: Told
    extra: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: set[str] | None = None


def claim(now: datetime) -> Handover | None:
    """Take the next upload that was handed over."""
    return handovers.claim(STAGE, now)


def give_back(handover: Handover, error: str) -> None:
    handovers.give_back(handover, error)


def waiting(project_id: int | None) -> int:
    """Count the uploads, of one project or of all, that are not stored yet."""
    return handovers.waiting(STAGE, project_id)


def work(handover: Handover) -> None:
    """Read an upload's reviews and ledgers again, and store what they come to."""
    said = _read(handover)
    for _ in range(_TRIES):
        handovers.renew(handover)
        tellings = _tell(said)
        if _store(handover, said, tellings):
            return
    raise Overtaken(f"{handover}: told {_TRIES} times, and others were always first")


def due_days(project: Project) -> dict[Severity, int]:
    """Return in how many days a finding of each severity is due."""
    chosen = options.read(project)
    return {
        Severity.P0: chosen.due_p0_days,
        Severity.P1: chosen.due_p1_days,
        Severity.P2: chosen.due_p2_days,
        Severity.P3: chosen.due_p3_days,
    }


def course_of(project_id: int, source: Source, pr: int | None) -> Course:
    """Return the course, made if need be."""
    found, _ = Course.objects.get_or_create(
        project_id=project_id, source=source, pr=pr or 0
    )
    return found


def hold(course: Course) -> bool:
    """Hold a course until the transaction ends, if it is still as it was read."""
    mine = Course.objects.filter(pk=course.pk, version=course.version)
    return bool(mine.update(version=F("version") + 1))


def _read(handover: Handover) -> _Said:
    upload = handover.upload
    context = read_context(json.dumps(upload.context).encode())
    said = _Said(upload, context)
    # Left by work that was killed; nobody else writes for this upload now.
    Ledger.objects.filter(upload=upload, current=False).delete()
    for document in documents(upload, kinds.HANDED):
        handovers.renew(handover)
        try:
            if document.kind == "review":
                said.reviews[document.n] = read_review(document.stream)
                continue
            export = read_ledger(document.stream, run_ended=context.complete)
        except Rejected:
            continue  # noted when the upload was read
        draft = write_draft(
            Place(upload, document.n, context),
            export,
            renew=lambda: handovers.renew(handover),
        )
        said.ledgers.append(draft.pk)
    return said


def _tell(said: _Said) -> list[_Telling]:
    days = due_days(said.upload.project)
    tellings = [
        _Telling(course, tell(_happened(course, said), pr=course.pr or None, days=days))
        for course in _courses(said)
    ]
    upload_id = said.upload.pk
    keys = effect_life.affected(upload_id, said.ledgers)
    if keys:
        course = course_of(said.upload.project_id, Source.EFFECT, None)
        told, extra = effect_life.tell_effects(
            course, keys, upload_id=upload_id, drafts=said.ledgers, days=days
        )
        tellings.append(_Telling(course, told, extra, keys))
    # Held in one order, so that two workers never wait in a ring.
    return sorted(tellings, key=lambda each: each.course.pk)


def _courses(said: _Said) -> list[Course]:
    """The pull requests that the upload's reviews speak of, now or before."""
    project = said.upload.project_id
    pulls = {_pull(said, review) or 0 for review in said.reviews.values()}
    before = Course.objects.filter(reviews__upload=said.upload).distinct()
    pulls |= set(before.values_list("pr", flat=True))
    return [course_of(project, Source.REVIEW, pr) for pr in sorted(pulls)]


def _pull(said: _Said, review: Read) -> int | None:
    """The context wins over what the review calls its pull request."""
    return said.context.pr if said.context.pr is not None else review.pr


def _happened(course: Course, said: _Said) -> Any:  # Happened
    mine = [
        Reviewed(said.upload.received_at, review_id(said.upload.pk, n), review)
        for n, review in said.reviews.items()
        if (_pull(said, review) or 0) == course.pr
    ]
    return happened_on(course, but=said.upload.pk, more=mine)


def _store(handover: Handover, said: _Said, tellings: list[_Telling]) -> bool:
    """Store what was told; False where it is no longer the newest."""
    with transaction.atomic():
        if not all(hold(telling.course) for telling in tellings):
            transaction.set_rollback(True)
            return False
        handovers.finish(handover)
        _adopt(said)
        _write_reviews(said, tellings)
        for telling in tellings:
            writing.write(
                telling.course, telling.told, extra=telling.extra, keys=telling.keys
            )
    return True


def _adopt(said: _Said) -> None:
    mine = Ledger.objects.filter(upload=said.upload)
    mine.exclude(pk__in=said.ledgers).delete()
    mine.update(current=True)


def _write_reviews(said: _Said, tellings: list[_Telling]) -> None:
    courses = {
        each.course.pr: each.course
        for each in tellings
        if each.course.source == Source.REVIEW
    }
    Review.objects.filter(upload=said.upload).exclude(
        file__in=said.reviews.keys()
    ).delete()
    for n, review in said.reviews.items():
        course = courses[_pull(said, review) or 0]
        Review.objects.update_or_create(
            upload=said.upload, file=n, defaults=_fields(said, review, course)
        )
    for telling in tellings:
        _note_changes(telling)


def _note_changes(telling: _Telling) -> None:
    """Store what each review changed: an earlier one that came late moves the rest."""
    changed = []
    for row in Review.objects.filter(course=telling.course).defer("content"):
        changes = telling.told.changes.get(review_id(row.upload_id, row.file))
        if changes is None:
            continue
        values = _changes(changes)
        if any(getattr(row, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(row, name, value)
            changed.append(row)
    Review.objects.bulk_update(changed, ["counts", "moves", "ambiguous"])


def _changes(changes: Changes) -> dict[str, Any]:
    return {
        "counts": changes.counts,
        "moves": [
            {
                "key": each.now,
                "how": each.how.value,
                "from_path": storable(each.from_path),
                "to_path": storable(each.to_path),
                "from_line": each.from_line,
                "to_line": each.to_line,
            }
            for each in changes.moves
        ],
        "ambiguous": [
            {"keys": sorted({*each.was, *each.now}), "why": storable(each.why)}
            for each in changes.ambiguous
        ],
    }


def _fields(said: _Said, review: Read, course: Course) -> dict[str, Any]:
    confidence, told = review.confidence, review.provenance
    names = {name for each in review.findings for name in each.reviewers}
    return {
        "course": course,
        "at": said.upload.received_at,
        "commit": said.context.commit or review.commit[:64],
        "run_id": said.upload.run_id,
        "score": confidence.score if confidence else None,
        "out_of": confidence.of if confidence else None,
        "provenance": {
            "models": {storable(k): storable(v) for k, v in told.models.items()},
            "cost_usd": told.cost_usd,
            "duration_s": told.duration_s,
            "rounds": told.rounds,
            "files_examined": told.files_examined,
        },
        "unparsed": [
            {"line": each.number, "text": storable(each.text)}
            for each in review.unparsed
        ],
        "notes": [
            {"message": storable(note.message), "line": note.line}
            for note in review.notes
        ],
        "partial": review.partial,
        "complete": review.complete,
        "reviewers": sorted(storable(name) for name in names),
        "raised": len(review.findings),
        "content": pack(review),
    }
