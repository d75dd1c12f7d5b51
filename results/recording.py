"""Recording what one upload says: the only way that facts come in.

Guarantees: recording is keyed by the upload, so doing it again replaces exactly what
it said before; the same content from another upload of the same part adds nothing;
the run's summary and the mark on its days are made in the same transaction.

`prepare` does all slow work and leaves only rows that nothing depends on (test cases,
texts, rosters); `store` runs inside the caller's short transaction.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import F
from django.utils import timezone

from projects.models import Project
from results import bulk, days, problems, recounts, verdicts
from results.details import store_details
from results.leak_rows import FIELDS, rows_of
from results.models import (
    Block,
    Failure,
    Leak,
    Roster,
    Run,
    RunOutcome,
    Shard,
    TestCase,
)
from results.packing import pack
from results.reclassifying import remember
from results.storable import storable
from results.summary import branch_class, day_of, summarise
from results.testcases import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from formats.context import Context
    from formats.report import Contribution, FileProblem, Note
    from results.details import Told
    from results.leak_rows import LeakRow
    from results.packing import Packed

MOST_NOTES = 200
_LEAKS_AT_ONCE = 500


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Everything `store` writes. `packed` is None where no result came."""

    project: Project
    upload_id: int
    run_key: dict[str, Any]  # the fields that identify it
    run: dict[str, Any]  # fields of a new Run; Any: a value of any field
    shard: dict[str, Any]  # fields of the Shard
    packed: Packed | None
    told: list[Told]
    leaks: list[LeakRow]
    made: range  # numbers of the test cases that it is the first to know


class Stored(NamedTuple):
    """`same_as` is the other upload that had stored this content before."""

    run_id: int
    same_as: int | None = None


def prepare(
    project: Project,
    *,
    upload_id: int,
    received_at: datetime,
    context: Context,
    contribution: Contribution | None,
    kinds: Sequence[str],
    file_digests: Sequence[str],
    damage: Sequence[FileProblem] = (),
    notes: Sequence[Note] = (),
) -> Prepared:
    """Do everything that is slow, outside any transaction.

    `kinds` are those of the good files, `damage` speaks of the bad ones.
    """
    start = verdicts.start_of(
        context=context.started_at,
        reports=_starts(contribution),
        received_at=received_at,
    )
    shard = {
        **_place(context),
        "started_at": start[0],
        "started_from": start[1],
        "received_at": received_at,
        "kinds": sorted(set(kinds)),
        "file_digests": sorted(set(file_digests)),
        "damage": [_clean(asdict(one)) for one in damage],
        "notes": [_clean(asdict(note)) for note in notes[:MOST_NOTES]],
    }
    facts = _prepare_facts(project, contribution, seen_at=start[0])
    return Prepared(
        project,
        upload_id,
        _run_key(context, upload_id),
        _new_run(project, context, *start),
        shard | facts.shard,
        facts.packed,
        facts.told,
        facts.leaks,
        facts.made,
    )


def _starts(contribution: Contribution | None) -> list[datetime]:
    if contribution is None or contribution.started_at is None:
        return []
    return [contribution.started_at, *contribution.later_starts]


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
    shard: dict[str, Any]  # as above
    packed: Packed | None = None
    told: list[Told] = field(default_factory=list)
    leaks: list[LeakRow] = field(default_factory=list)
    made: range = range(0)


def _prepare_facts(
    project: Project, contribution: Contribution | None, *, seen_at: datetime
) -> _Facts:
    """Resolve, pack and store what nothing depends on yet."""
    if contribution is None:
        return _Facts({})
    shard = _contributed(contribution)
    results = contribution.results
    leaking = [leak.case for leak in contribution.leaks if leak.case is not None]
    if not results and not contribution.leaks:
        return _Facts(shard)
    resolved = resolve(project.pk, [*results, *leaking], seen_at=seen_at)
    count = len(results)
    leaks = rows_of(
        contribution.leaks, resolved.ids[count:], resolved.numbers[count:].tolist()
    )
    shard["leaks_raised"] = sum(leak.raised for leak in leaks)
    if not results:
        return _Facts(shard, leaks=leaks, made=resolved.made)
    marked = {leak.number for leak in leaks if leak.number is not None}
    packed = pack(results, resolved.numbers[:count], leaking=marked)
    shard |= {
        "tests": len(packed.columns),
        "failing": packed.failing,
        "roster_id": _roster(project, packed),
    }
    told = store_details(project.pk, results, resolved.ids[:count])
    return _Facts(shard, packed, told, leaks, resolved.made)


def store(prepared: Prepared) -> Stored:
    """Write what was prepared; the caller's transaction must be open."""
    now = timezone.now()
    run = _hold_run(prepared, now)
    before = (run.day, run.branch_class) if run.version > 1 else None
    shard, same_as = _write_shard(prepared, run)
    fresh = {}
    if prepared.packed is not None and same_as is None:
        fresh[shard.pk] = prepared.packed.columns
        _write_facts(prepared, run, shard)
    if same_as is None:
        _write_leaks(prepared, run, shard)
    if prepared.made:
        TestCase.objects.filter(
            project=prepared.project,
            number__gte=prepared.made.start,
            number__lt=prepared.made.stop,
        ).update(first_run_id=run.pk)
    # Its settings may have changed since the upload was claimed.
    project = Project.objects.get(pk=prepared.project.pk)
    summarise(run, project, fresh=fresh, now=now)
    days.mark(
        run.project_id, {(run.day, run.branch_class), *([before] if before else [])}
    )
    recounts.mark(run.project_id)
    return Stored(run.pk, same_as)


def _hold_run(prepared: Prepared, now: datetime) -> Run:
    """Return the run, made if need be, and hold it until the transaction ends."""
    mine = Run.objects.filter(project=prepared.project, **prepared.run_key)
    if not mine.update(version=F("version") + 1):
        row = Run(
            project=prepared.project,
            created_at=now,
            updated_at=now,
            **prepared.run_key,
            **prepared.run,
        )
        Run.objects.bulk_create([row], ignore_conflicts=True)
        mine.update(version=F("version") + 1)
        remember(prepared.project)
    return mine.get()


def _write_shard(prepared: Prepared, run: Run) -> tuple[Shard, int | None]:
    """Replace this upload's shard and all that hangs on it."""
    old = Shard.objects.filter(upload_id=prepared.upload_id).first()
    shard = Shard(
        run=run,
        upload_id=prepared.upload_id,
        pk=old.pk if old else None,
        **prepared.shard,
    )
    same_as = _already_stored(shard)
    if same_as is not None:
        shard.same_as_upload = same_as
        shard.roster = None
        shard.tests = shard.failing = shard.leaks_raised = 0
        shard.duration_s, shard.wall_s = 0.0, None
        shard.reported = {}
        shard.only_in_report = shard.only_in_trace = 0
        note = problems.already_stored(same_as)
        shard.notes = [{"code": "already-stored", "message": note, "line": None}]
    if old is not None:
        Failure.objects.filter(run_id=old.run_id, shard=old).delete()
        Block.objects.filter(shard=old).delete()
        Leak.objects.filter(shard=old).delete()
    shard.save(force_insert=old is None, force_update=old is not None)
    return shard, same_as


def _already_stored(shard: Shard) -> int | None:
    """Return the other upload of the same part that has stored all these files."""
    mine = set(shard.file_digests)
    if not mine or not shard.kinds:
        return None
    others = Shard.objects.filter(
        run=shard.run,
        job=shard.job,
        index=shard.index,
        attempt=shard.attempt,
        same_as_upload=None,
    ).exclude(upload_id=shard.upload_id)
    for upload, kinds, digests in others.order_by("upload_id").values_list(
        "upload_id", "kinds", "file_digests"
    ):
        if kinds and mine <= set(digests):
            return int(upload)
    return None


def _write_facts(prepared: Prepared, run: Run, shard: Shard) -> None:
    packed = prepared.packed
    if packed is None:
        return
    bulk.insert(
        Block,
        ("project_id", "shard", "chunk", "data"),
        [(run.project_id, shard.pk, chunk, data) for chunk, data in packed.blocks],
    )
    bulk.insert(
        Failure,
        ("run", "shard", "test", "attempt", "outcome", "detail"),
        [
            (run.pk, shard.pk, one.test_id, one.attempt, one.outcome, one.detail_id)
            for one in prepared.told
        ],
    )


def _write_leaks(prepared: Prepared, run: Run, shard: Shard) -> None:
    Leak.objects.bulk_create(
        (
            Leak(
                project_id=run.project_id,
                run=run,
                shard=shard,
                **_named(leak),
            )
            for leak in prepared.leaks
        ),
        batch_size=_LEAKS_AT_ONCE,
    )


def _named(leak: LeakRow) -> dict[str, Any]:  # Any: a value of any field of Leak
    names = ("test_id", *FIELDS[1:])
    return dict(zip(names, leak.values, strict=True))


def _run_key(context: Context, upload_id: int) -> dict[str, Any]:
    """A run without a name is the upload's own: no name can be given to meet it."""
    named = bool(context.run)
    return {
        "name": context.run or f"upload-{upload_id}",
        "environment_key": context.environment_key,
        "own_upload": 0 if named else upload_id,
    }


def _new_run(
    project: Project, context: Context, started_at: datetime, started_from: str
) -> dict[str, Any]:  # Any: a value of any field of Run
    return {
        "environment": dict(context.environment),
        "started_at": started_at,
        "started_from": started_from,
        "day": day_of(started_at, project.zone),
        "branch_class": branch_class(context.branch, context.pr, project),
        "outcome": RunOutcome.NO_RESULTS,
    }


def _place(context: Context) -> dict[str, Any]:  # Any: a value of any field of Shard
    said = {
        "branch": context.branch,
        "commit": context.commit,
        "head_sha": context.head_sha,
        "base_sha": context.base_sha,
        "base_branch": context.base_branch,
        "merge_base": context.merge_base,
        "pr": context.pr,
        "ci_url": context.ci_url,
        "committed_at": context.committed_at and context.committed_at.isoformat(),
    }
    return {
        "context": {name: value for name, value in said.items() if value},
        "job": context.job,
        "index": context.shard.index,
        "count": context.shard.count,
        "attempt": context.attempt,
        "complete": context.complete,
        "exit_code": context.exit_code,
    }


def _contributed(contribution: Contribution) -> dict[str, Any]:  # Any: as above
    return {
        "duration_s": contribution.duration_s,
        "wall_s": contribution.wall_s,
        "order": contribution.order.value,
        "reported": asdict(contribution.reported),
        "processes": [storable(name) for name in contribution.processes],
        "repeats": contribution.repeats,
        "only_in_report": contribution.only_in_report,
        "only_in_trace": contribution.only_in_trace,
        "zoneless_start": storable(contribution.zoneless_start)[:40],
    }


def _clean(value: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
    return {
        key: storable(one) if isinstance(one, str) else one
        for key, one in value.items()
    }


def _roster(project: Project, packed: Packed) -> int:
    mine = Roster.objects.filter(project=project, digest=packed.roster_digest)
    known = mine.values_list("pk", flat=True).first()
    if known is not None:
        return known
    row = Roster(
        project=project,
        digest=packed.roster_digest,
        tests=len(packed.columns),
        data=packed.roster,
    )
    Roster.objects.bulk_create([row], ignore_conflicts=True)
    return mine.values_list("pk", flat=True).get()
