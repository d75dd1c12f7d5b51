"""The stage that turns an admitted upload into facts.

Guarantees: what a file says is stored whole or not at all, together with the upload's
new state; a bad file is named with its place and never hides a good one; working on an
upload twice, or being killed in it, leaves the same as working on it once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, BinaryIO, cast

from django.db import transaction

from formats.assembly import assemble
from formats.context import Context, read_context
from formats.gates import read_gate
from formats.own_patterns import OwnPatterns
from formats.report import FileProblem, Note, Reading, Rejected
from ingest import bodies, claims, effects, handovers, kinds, readers
from ingest.claims import claim, give_back, waiting
from ingest.kinds import AUTO
from ingest.models import State, Upload
from projects import options
from results import recording
from results.storable import storable

if TYPE_CHECKING:
    from formats.gates import LeakFact
    from formats.multiparts import Part
    from formats.report import Contribution
    from ingest.bodies import FileEntry

__all__ = ["claim", "give_back", "waiting", "work"]

IN_MEMORY = 16 * 2**20  # a file beyond this is spooled to the disk


@dataclass(slots=True)
class _Read:
    """What the files of one upload say."""

    readings: list[tuple[str, str, Reading]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of the files that were read
    gates: list[LeakFact] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)  # of the good files, read or not
    damage: list[FileProblem] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    handed: bool = False  # a stage above reads some of the files too


def work(upload: Upload) -> None:
    """Read a claimed upload and store what it says."""
    context = read_context(json.dumps(upload.context).encode())
    read = _read_files(upload, context)
    claims.renew(upload)
    contribution = _contribution(upload, read)
    if contribution is not None:
        read.notes += contribution.notes
    # Without any result only what a named run gets to hear is recorded: that a file
    # is bad, or one of a kind that was bad before; and whatever replaces what this
    # upload said before.
    prepared = None
    tells = bool(context.run and (read.damage or read.handed))
    if _stands_alone(upload):
        read.notes += _say_so(read)
    elif contribution is not None or tells or upload.run_id is not None:
        claims.renew(upload)
        prepared = _prepare(upload, context, contribution, read)
    _store(upload, read, prepared)


def _stands_alone(upload: Upload) -> bool:
    """What a webhook delivers without a context is of the project, and of no run."""
    return upload.route_id is not None and not upload.context


def _say_so(read: _Read) -> list[Note]:
    if not read.kinds or set(read.kinds) & set(kinds.HOOKS):
        return []
    message = "it came without a context: attach it to a run or a pull request"
    return [Note("stands-alone", message)]


def _read_files(upload: Upload, context: Context) -> _Read:
    read = _Read()
    for entry, part in bodies.files(upload):
        claims.renew(upload)
        try:
            _read_file(entry, part, read, upload, context)
        except Rejected as verdict:
            read.damage.append(
                FileProblem(
                    file=entry["name"],
                    message=verdict.message,
                    line=verdict.line,
                    column=verdict.column,
                    path=verdict.path,
                    kind=entry["kind"] if entry["kind"] != AUTO else "",
                )
            )
    return read


def _read_file(
    entry: FileEntry, part: Part, read: _Read, upload: Upload, context: Context
) -> None:
    """Read one file; raise `Rejected` for a bad one."""
    name = entry["name"]
    with SpooledTemporaryFile(max_size=IN_MEMORY) as spool:
        for chunk in part.chunks():
            spool.write(chunk)
        spool.seek(0)
        stream = cast(BinaryIO, spool)
        kind = readers.settle(entry["kind"], name, stream)
        if kind in kinds.HOOKS:
            readers.check_hook(stream)
            read.kinds.append(kind)
            note = f"{name}: kept for the pull-request stage"
            read.notes.append(Note("kept", note))
            return
        if kind in kinds.HANDED:
            _check(kind, stream, read, upload, context)
            return
        packed = readers.packed_unsaid(name, stream)
        read.notes += [packed] if packed else []
        if kind == "gate":
            told = read_gate(stream)
            read.gates += told.leaks
            read.notes += told.notes
            read.kinds.append(kind)
            return
        reading = readers.READERS[kind](stream)
    read.readings.append((kind, name, reading))
    read.names.append(name)
    read.kinds.append(kind)
    if reading.incomplete:
        read.damage.append(FileProblem(name, reading.incomplete, kind=kind))


def _check(
    kind: str, stream: BinaryIO, read: _Read, upload: Upload, context: Context
) -> None:
    """Check a file that a stage above stores."""
    if kind == "review":
        read.notes += readers.check_review(stream)
    else:
        checked = effects.check(stream, context, upload.project)
        read.notes += checked.notes
        read.gates += checked.leaks
    read.kinds.append(kind)
    read.handed = True


def _contribution(upload: Upload, read: _Read) -> Contribution | None:
    if not read.readings and not read.gates and "gate" not in read.kinds:
        return None
    chosen = options.read(upload.project)
    rules = options.identity_rules(chosen)
    own = OwnPatterns(chosen.recognisers) if chosen.recognisers else None
    contribution = assemble(
        read.readings,
        rules=rules,
        repeats=chosen.repeats,
        gates=read.gates,
        own_patterns=own,
    )
    read.readings.clear()  # of a large report the elements are a sixth of the memory
    return contribution


def _prepare(
    upload: Upload, context: Context, contribution: Contribution | None, read: _Read
) -> recording.Prepared:
    return recording.prepare(
        upload.project,
        upload_id=upload.pk,
        received_at=upload.received_at,
        context=context,
        contribution=contribution,
        kinds=sorted(set(read.kinds)),
        file_digests=[entry["sha256"] for entry in upload.files],
        damage=read.damage,
        notes=read.notes,
    )


def _store(upload: Upload, read: _Read, prepared: recording.Prepared | None) -> None:
    warnings = [_as_warning(note, read) for note in read.notes]
    with transaction.atomic():
        claims.finish(
            upload,
            state=State.PROCESSED if read.kinds else State.REJECTED,
            errors=[_as_json(problem) for problem in read.damage],
            warnings=warnings,
        )
        if read.handed or handovers.is_handed_over(upload, readers.CHECKED_APART):
            handovers.hand_over(upload, readers.CHECKED_APART)
        if prepared is not None or _tells_of_pulls(upload, read):
            handovers.hand_over(upload, readers.FOR_PULLS)
        if prepared is None:
            return
        stored = recording.store(prepared)
        if stored.same_as is not None:
            text = f"already stored by upload {stored.same_as}"
            warnings.append(_as_warning(Note("already-stored", text), read))
        Upload.objects.filter(pk=upload.pk).update(
            run_id=stored.run_id, warnings=warnings
        )


def _tells_of_pulls(upload: Upload, read: _Read) -> bool:
    hooks = set(read.kinds) & set(kinds.HOOKS)
    return bool(hooks) or (bool(read.kinds) and "pr" in upload.context)


def _as_json(problem: FileProblem) -> dict[str, object]:
    return {
        "file": problem.file,
        "message": storable(problem.message),
        "line": problem.line,
        "column": problem.column,
        "path": storable(problem.path) if problem.path else None,
    }


def _as_warning(note: Note, read: _Read) -> dict[str, object]:
    """A note names its file where there are several; here it does in any case."""
    alone = len(read.names) == 1
    return {
        "code": note.code,
        "file": read.names[0] if alone else "",
        "message": storable(note.message),
        "line": note.line,
        "column": None,
        "path": None,
    }
