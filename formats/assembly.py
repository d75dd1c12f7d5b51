"""From the readings of one upload to one contribution.

Guarantees: each test case stands once; the order of the files changes nothing; what
was folded, masked, contradicted or not found on both sides is said in a note. Process
and place come from a trace where there is one, and are never mixed with assumed ones.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from formats.assembly_notes import say_conflicts, say_one_sided, say_repeats
from formats.folding import fold_file
from formats.gate_assembly import Named, spoken_by, tell_leaks
from formats.gated import Recognised, lift
from formats.identity import identifier
from formats.joining import Told, join_reports, join_trace, join_traces
from formats.masked_names import number_masked
from formats.outcomes import Outcome
from formats.recognisers import Recognisers
from formats.repeats import Repeats
from formats.report import (
    Contribution,
    Note,
    OrderQuality,
    Reported,
    TestResult,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from formats.folding import Folding
    from formats.gates import LeakFact
    from formats.identity import Identity
    from formats.own_patterns import OwnPatterns
    from formats.prefixes import IdentityRules
    from formats.report import Reading

    type Tests = dict[str, Told]

_KINDS = ("junit", "reportlog", "order")
_SURENESS = (OrderQuality.TRACED, OrderQuality.ASSUMED, OrderQuality.UNKNOWN)
_new = tuple.__new__


class _File(NamedTuple):
    kind: str
    label: str  # unique in the upload
    reading: Reading
    identities: list[Identity]


def assemble(
    readings: Sequence[tuple[str, str, Reading]],
    *,
    rules: IdentityRules | None = None,
    repeats: str = Repeats.AUTO,
    gates: Sequence[LeakFact] = (),
    own_patterns: OwnPatterns | None = None,
) -> Contribution:
    """Join what the files of one upload say about one part of a run.

    `readings` are (kind, file name, reading); kinds are junit, reportlog and order.
    `gates` are the leaks of its gate files, `own_patterns` the project's recognisers.
    """
    files = _identify(readings, rules)
    told = ((file.reading.elements, file.identities) for file in files if gates)
    named = Named(told, rules)
    files, recognised = _lift(files, gates, own_patterns, named)
    masking = number_masked([file.identities for file in files])
    logs = _fold(files, "reportlog")
    traces = _fold(files, "order")
    seen = _place(_merge(logs, join_reports), _merge(traces, join_traces))
    attempts = {key: 1 + len(told.element.attempts) for key, told in seen.items()}
    reports = _fold(files, "junit", setting=Repeats(repeats), traced=attempts)
    reported = _merge(reports, join_reports)
    tests = _place(reported, seen)
    foldings = [*reports, *logs, *traces]
    only_in_report = _missing(reported, seen) if seen else []
    only_in_trace = _missing(seen, reported)
    results, processes = _results(tests.values())
    notes = [*_own_notes(files), *masking, *say_repeats(foldings)]
    notes += say_conflicts(tests.values())
    if reported and seen:
        notes += say_one_sided(only_in_report, only_in_trace)
    contribution = Contribution(
        results=results,
        processes=processes,
        order=_order(files),
        reported=_reported(files, only_in_trace),
        duration_s=_duration(results),
        repeats=", ".join(sorted({rule for one in foldings for rule in one.rules})),
        only_in_report=len(only_in_report),
        only_in_trace=len(only_in_trace) if reported else 0,
        leaks=tell_leaks(gates, recognised, tests, named),
        notes=[*notes, *(own_patterns.notes() if own_patterns else ())],
    )
    return _with_times(contribution, files)


def _with_times(contribution: Contribution, files: Sequence[_File]) -> Contribution:
    starts = sorted(
        {
            *_known(file.reading.started_at for file in files),
            *(start for file in files for start in file.reading.later_starts),
        }
    )
    zoneless = _known(file.reading.zoneless_start for file in files)
    return replace(
        contribution,
        started_at=starts[0] if starts else None,
        later_starts=tuple(starts[1:]),
        zoneless_start=min(zoneless, default=""),
        wall_s=_wall(files),
    )


def _identify(
    readings: Sequence[tuple[str, str, Reading]], rules: IdentityRules | None
) -> list[_File]:
    """Sort the files by what they are, so that their order says nothing."""
    identify_all = identifier(rules).identify_all
    names = [(kind, name) for kind, name, _ in readings]
    tied = len(set(names)) < len(names)
    ordered = sorted(
        readings,
        key=lambda one: (
            _KINDS.index(one[0]),
            one[1],
            _digest(one[2]) if tied else b"",
        ),
    )
    seen: dict[str, int] = {}
    files = []
    for kind, name, reading in ordered:
        seen[name] = seen.get(name, 0) + 1
        label = name if seen[name] == 1 else f"{name} ({seen[name]})"
        identities = identify_all(reading.elements)
        files.append(_File(kind, label, reading, identities))
    return files


def _lift(
    files: Sequence[_File],
    gates: Sequence[LeakFact],
    own_patterns: OwnPatterns | None,
    named: Named,
) -> tuple[list[_File], list[Recognised]]:
    """Take the failures of gates out of the files that have texts."""
    recognisers = Recognisers(own_patterns)
    spoken = spoken_by(gates, named)
    leaks: list[Recognised] = []
    lifted_files = []
    for file in files:
        told = file
        if file.kind != "order":
            elements = file.reading.elements
            lifted = lift(elements, file.identities, recognisers, spoken)
            leaks += lifted.leaks
            if lifted.elements is not elements:
                reading = replace(file.reading, elements=lifted.elements)
                told = file._replace(reading=reading)
        lifted_files.append(told)
    return lifted_files, leaks


def _digest(reading: Reading) -> bytes:
    return hashlib.blake2b(repr(reading.elements).encode(), digest_size=16).digest()


def _fold(
    files: Sequence[_File],
    kind: str,
    *,
    setting: Repeats = Repeats.AUTO,
    traced: dict[str, int] | None = None,
) -> list[Folding]:
    chosen = [file for file in files if file.kind == kind]
    return [
        fold_file(
            file.reading,
            file.identities,
            label=file.label,
            # Only traces name a process alike in every file: by its pid.
            scope=file.label if kind != "order" and len(chosen) > 1 else "",
            setting=setting,
            traced=traced or {},
        )
        for file in chosen
    ]


def _merge(
    foldings: Sequence[Folding], join: Callable[[Sequence[Told]], Told]
) -> Tests:
    """The tests of all files of one kind."""
    if len(foldings) == 1:
        return foldings[0].tests
    groups: dict[str, list[Told]] = {}
    for folding in foldings:
        for key, told in folding.tests.items():
            groups.setdefault(key, []).append(told)
    return {
        key: join(group) if len(group) > 1 else group[0]
        for key, group in groups.items()
    }


def _place(reports: Tests, traces: Tests) -> Tests:
    """Give reported tests their place; a test that no trace saw has none then."""
    if not traces or not reports:
        return reports or traces
    placed: Tests = {}
    for key, told in reports.items():
        trace = traces.get(key)
        placed[key] = join_trace(told, trace) if trace else told._replace(process="")
    for key, trace in traces.items():
        if key not in placed:
            placed[key] = trace
    return placed


def _missing(tests: Tests, others: Tests) -> list[Told]:
    """The tests, modules that were not collected aside, that the others lack."""
    return [
        told
        for key, told in tests.items()
        if key not in others and not told.element.collection
    ]


def _results(tests: Iterable[Told]) -> tuple[list[TestResult], list[str]]:
    processes: dict[str, int] = {"": -1}
    results = []
    last, place = "", -1
    for identity, element, flaky, process, _ in tests:
        if process != last:
            last = process
            place = processes.setdefault(process, len(processes) - 1)
        position = element[14]
        if position is None or place < 0:
            position = -1
        # By slices and places, key to params and outcome to attempts, start, line,
        # collection and gated: naming each field costs three times as much, and this
        # runs for every result.
        gated = element[20] is not None
        own = (flaky, place, position, element[15], element[11], element[17], gated)
        results.append(_new(TestResult, identity[:7] + element[4:9] + own))
    del processes[""]
    return results, list(processes)


def _order(files: Sequence[_File]) -> OrderQuality:
    """The least sure of what gives the order: the traces, else the reports."""
    told = [file for file in files if file.reading.elements]
    traces = [file for file in told if file.kind != "junit"]
    return max(
        (file.reading.order for file in traces or told),
        key=_SURENESS.index,
        default=OrderQuality.UNKNOWN,
    )


def _reported(files: Sequence[_File], only_traced: Sequence[Told]) -> Reported:
    """The reports' own elements, and the tests that only a trace tells of."""
    total = Reported()
    for file in files:
        if file.kind == "junit":
            total += file.reading.reported
    outcomes = [told.element.gated or told.element.outcome for told in only_traced]
    return total + Reported(
        tests=len(outcomes),
        passed=outcomes.count(Outcome.PASSED) + outcomes.count(Outcome.XPASSED),
        failed=outcomes.count(Outcome.FAILED),
        errors=outcomes.count(Outcome.ERROR),
        skipped=outcomes.count(Outcome.SKIPPED) + outcomes.count(Outcome.XFAILED),
    )


def _duration(results: Sequence[TestResult]) -> float:
    """All attempts count: this is the time that the tests took."""
    durations = [one.duration for one in results if one.duration is not None]
    durations += [
        attempt.duration
        for one in results
        if one.attempts
        for attempt in one.attempts
        if attempt.duration is not None
    ]
    return math.fsum(durations)


def _wall(files: Sequence[_File]) -> float | None:
    """Reports of one job come one after the other, traces of workers side by side."""
    reports = [f.reading.wall_s for f in files if f.kind == "junit"]
    traces = [f.reading.wall_s for f in files if f.kind != "junit"]
    if any(wall is not None for wall in reports):
        return math.fsum(wall for wall in reports if wall is not None)
    return max((wall for wall in traces if wall is not None), default=None)


def _own_notes(files: Sequence[_File]) -> list[Note]:
    """What the readers noted, with the file's name where there are several."""
    if len(files) == 1:
        return list(files[0].reading.notes)
    return [
        Note(note.code, f"{file.label}: {note.message}", note.line)
        for file in files
        for note in file.reading.notes
    ]


def _known[T](values: Iterable[T | None]) -> Iterable[T]:
    return (value for value in values if value)
