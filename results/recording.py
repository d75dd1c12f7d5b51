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

from django.utils import timezone

from projects.models import Project
from results import (
    bulk,
    days,
    problems,
    recounts,
    row_fields,
    statements,
    verdicts,
)
from results.details import store_details
from results.leak_rows import FIELDS, rows_of
from results.models import (
    Block,
    Failure,
    Leak,
    Roster,
    Run,
    Shard,
    TestCase,
)
from results.packing import pack
from results.reclassifying import remember
from results.signals import run_summarised
from results.summary import Held, Rules, summarise
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
        **row_fields.place(context),
        "started_at": start[0],
        "started_from": start[1],
        "received_at": received_at,
        "kinds": sorted(set(kinds)),
        "file_digests": sorted(set(file_digests)),
        "damage": [row_fields.clean(asdict(one)) for one in damage],
        "notes": [row_fields.clean(asdict(note)) for note in notes[:MOST_NOTES]],
    }
    facts = _prepare_facts(project, contribution, seen_at=start[0])
    return Prepared(
        project,
        upload_id,
        row_fields.run_key(context, upload_id),
        row_fields.new_run(project, context, *start),
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
    shard = row_fields.contributed(contribution)
    results = contribution.results
    leaking = [leak.case for leak in contribution.leaks if leak.case is not None]
    if not results and not contribution.leaks:
        return _Facts(shard)
    resolved = resolve(project.pk, [*results, *leaking], seen_at=seen_at)
    count = len(results)
    leaks = rows_of(
        contribution.leaks,
        resolved.ids[count:].tolist(),
        resolved.numbers[count:].tolist(),
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
    # Nearly all passed, and have nothing to tell.
    some = [(results[place], int(resolved.ids[place])) for place in packed.telling]
    told = store_details(project.pk, some)
    return _Facts(shard, packed, told, leaks, resolved.made)


def store(prepared: Prepared) -> Stored:
    """Write what was prepared; the caller's transaction must be open."""
    now = timezone.now()
    run = _hold_run(prepared, now)
    others = _others(run, prepared.upload_id)
    shard, same_as = _write_shard(prepared, run, others)
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
    shards = sorted([*others, shard], key=lambda one: one.upload_id)
    place = summarise(
        run,
        shards,
        _rules(prepared.project),
        fresh=fresh,
        leaks=bool(others or prepared.leaks),
        now=now,
    )
    before = [] if run.new else [(run.day, run.branch_class)]
    days.mark(run.project_id, {place, *before})
    recounts.mark(run.project_id)
    run_summarised.send(Run, run_id=run.pk, branch_class=place[1])
    return Stored(run.pk, same_as)


def _hold_run(prepared: Prepared, now: datetime) -> Held:
    """Return the run, made if need be, and hold it until the transaction ends."""
    project = prepared.project
    row = Run(
        project=project,
        created_at=now,
        updated_at=now,
        version=1,
        **prepared.run_key,
        **prepared.run,
    )
    pk, version, day, branch = statements.upsert(
        row,
        key=("project", "name", "environment_key", "own_upload"),
        rise="version",
        returning=("id", "version", "day", "branch_class"),
    )
    return Held(pk, project.pk, version == 1, day, branch)


def _others(run: Held, upload_id: int) -> list[Shard]:
    """Return what other uploads have said of the run."""
    if run.new:
        return []
    return list(Shard.objects.filter(run_id=run.pk).exclude(upload_id=upload_id))


def _rules(project: Project) -> Rules:
    """Return the settings of now: they may have changed since the upload was claimed."""
    mine = Project.objects.filter(pk=project.pk)
    fields = ("zone", "default_branch", "classification__zone")
    zone, branch, known = mine.values_list(*fields).get()
    rules = Rules(zone, branch)
    if not known:
        remember(project.pk, rules)
    return rules


def _write_shard(
    prepared: Prepared, run: Held, others: Sequence[Shard]
) -> tuple[Shard, int | None]:
    """Write this upload's shard; what it said before, and all that hangs on it, goes."""
    shard = Shard(run_id=run.pk, upload_id=prepared.upload_id, **prepared.shard)
    same_as = _already_stored(shard, others)
    if same_as is not None:
        shard.same_as_upload = same_as
        shard.roster = None
        shard.tests = shard.failing = shard.leaks_raised = 0
        shard.duration_s, shard.wall_s = 0.0, None
        shard.reported = {}
        shard.only_in_report = shard.only_in_trace = 0
        note = problems.already_stored(same_as)
        shard.notes = [{"code": "already-stored", "message": note, "line": None}]
    pk = statements.insert(shard, key=("upload_id",))
    if pk is None:
        _replace(shard)
    else:
        shard.pk = pk
    return shard, same_as


def _replace(shard: Shard) -> None:
    old = Shard.objects.get(upload_id=shard.upload_id)
    Failure.objects.filter(run_id=old.run_id, shard=old).delete()
    Block.objects.filter(shard=old).delete()
    Leak.objects.filter(shard=old).delete()
    shard.pk = old.pk
    shard.save(force_update=True)


def _already_stored(shard: Shard, others: Sequence[Shard]) -> int | None:
    """Return the other upload of the same part that has stored all these files."""
    mine = set(shard.file_digests)
    if not mine or not shard.kinds:
        return None
    return min(
        (
            one.upload_id
            for one in others
            if (one.job, one.index, one.attempt)
            == (shard.job, shard.index, shard.attempt)
            and one.same_as_upload is None
            and one.kinds
            and mine <= set(one.file_digests)
        ),
        default=None,
    )


def _write_facts(prepared: Prepared, run: Held, shard: Shard) -> None:
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


def _write_leaks(prepared: Prepared, run: Held, shard: Shard) -> None:
    if not prepared.leaks:
        return
    Leak.objects.bulk_create(
        (
            Leak(
                project_id=run.project_id,
                run_id=run.pk,
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


def _roster(project: Project, packed: Packed) -> int:
    mine = Roster.objects.filter(project=project, digest=packed.roster_digest)
    known = mine.values_list("pk", flat=True).first()
    if known is not None:
        return known
    row = Roster(
        project=project,
        digest=packed.roster_digest,
        tests=len(packed.columns),
        data=packed.roster(),
    )
    Roster.objects.bulk_create([row], ignore_conflicts=True)
    return mine.values_list("pk", flat=True).get()
