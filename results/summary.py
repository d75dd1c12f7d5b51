"""A run's summary: made anew from all its shards whenever one of them changes.

Guarantees: the same shards give the same summary, in whatever order they came. The
caller holds the run (`recording`), so that two workers never write one at once.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from formats.outcomes import BY_CODE, CODE, FAILING, Outcome
from results import problems, statements, verdicts
from results.blocks import Flag
from results.leaking import Leaking, settle_leaks
from results.loading import load_columns, parts_of
from results.merging import Merged, merge
from results.models import Run, TestCase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from results.blocks import Columns
    from results.models import Shard
    from results.verdicts import Place

MOST_DUPLICATES = 100  # node ids that are kept
_NAMES = {"error": "errors"}  # the others are named as the outcome
_REPORTED = ("tests", "passed", "failed", "errors", "skipped")
_WORDS = ("branch", "commit", "head_sha", "base_sha", "base_branch", "merge_base")


@dataclass(frozen=True, slots=True)
class Counts:
    tests: int
    passed: int
    failed: int
    errors: int
    skipped: int
    xfailed: int
    xpassed: int
    flaky: int
    conflicts: int

    @property
    def failing(self) -> int:
        return self.failed + self.errors

    @property
    def executed(self) -> int:
        return self.passed + self.xpassed + self.failing


def count(columns: Columns) -> Counts:
    """Count merged results."""
    found = np.bincount(columns.outcome, minlength=len(BY_CODE)).tolist()
    named = {_NAMES.get(o, o.value): found[code] for code, o in enumerate(BY_CODE)}
    return Counts(
        tests=len(columns),
        flaky=int(np.count_nonzero(columns.flags & Flag.FLAKY)),
        conflicts=int(np.count_nonzero(columns.flags & Flag.CONFLICT)),
        **named,
    )


class Held(NamedTuple):
    """A run that the caller holds; day and class are those of its last summary."""

    pk: int
    project_id: int
    new: bool
    day: date
    branch_class: str


class Rules(NamedTuple):
    """The settings of a project by which its runs are sorted."""

    zone: str
    default_branch: str


class Sorting(Protocol):
    """A project, or its rules."""

    @property
    def default_branch(self) -> str: ...


def summarise(
    run: Held,
    shards: Sequence[Shard],
    rules: Rules,
    *,
    fresh: Mapping[int, Columns],
    leaks: bool,
    now: datetime,
) -> tuple[date, str]:
    """Write the run's summary from its shards, by upload; return its day and class.

    `fresh` are columns that need not be read again; `leaks`: it may have some.
    """
    stored = [s for s in shards if s.pk not in fresh and s.roster_id]
    columns = {**fresh, **(load_columns(stored) if stored else {})}
    merged = merge(parts_of(shards, columns))
    leaking = settle_leaks(run.pk, shards, columns) if leaks else Leaking()
    told = _told(run.project_id, shards, columns, merged, leaking)
    words, against = verdicts.first_words(shards)
    told["problems"] += problems.of_context(against)
    told |= {name: words.get(name, "") for name in (*_WORDS, "ci_url")}
    told["pr"] = words.get("pr")
    told["instead"] = verdicts.brought_instead(shards)
    stamp = words.get("committed_at")
    told["committed_at"] = datetime.fromisoformat(stamp) if stamp else None
    started_at, told["started_from"] = verdicts.earliest(shards)
    told["started_at"] = started_at
    told["zoneless_start"] = min(
        (s.zoneless_start for s in shards if s.zoneless_start), default=""
    )
    told["day"] = day = day_of(started_at, rules.zone)
    told["branch_class"] = name = branch_class(told["branch"], told["pr"], rules)
    statements.change(Run, run.pk, told | {"updated_at": now})
    return day, name


def branch_class(branch: str, pr: int | None, project: Sorting) -> str:
    return "default" if branch == project.default_branch and pr is None else "other"


def day_of(moment: datetime, zone: str) -> date:
    """Return the day in a project's zone."""
    try:
        return moment.astimezone(ZoneInfo(zone)).date()
    except (ZoneInfoNotFoundError, ValueError, OverflowError):
        return moment.astimezone(UTC).date()


def _told(
    project_id: int,
    shards: Sequence[Shard],
    columns: Mapping[int, Columns],
    merged: Merged,
    leaking: Leaking,
) -> dict[str, Any]:  # Any: a value of any field of Run
    """Return what the results, their damage and their completeness amount to."""
    places = verdicts.by_place(shards)
    expected = verdicts.with_results(places)
    parts = verdicts.count_parts(shards)
    counts = count(merged.columns)
    damaged, told_damage = problems.of_damage(places)
    unfinished = any(verdicts.is_unfinished(s) for s in places.values())
    outside = any(verdicts.failed_outside(s) for s in places.values())
    duplicated = _duplicated(project_id, merged)
    attempts = sorted({shard.attempt for shard in shards})
    return {
        **asdict(counts),
        "outcome": verdicts.outcome_of(
            damaged=damaged,
            incomplete=bool(parts.missing) or unfinished,
            tests=counts.tests,
            failing=counts.failing,
            raised=leaking.raised,
            outside=outside,
        ),
        "leaks": leaking.leaks,
        "leaks_raised": leaking.raised,
        "failed_outside": outside,
        "bad": verdicts.is_bad(executed=counts.executed, failing=counts.failing),
        "order": verdicts.order_of(places.values()),
        "reported": _reported(shards, columns, leaking),
        "duration_s": _duration(shards, columns, merged),
        "wall_s": max((s.wall_s for s in shards if s.wall_s is not None), default=None),
        "attempts": attempts[-1],
        "parts": _parts(expected, columns, parts),
        "by_attempt": _by_attempt(shards, columns, attempts, counts),
        "completeness": _completeness(parts, duplicated),
        "problems": [
            *told_damage,
            *problems.of_parts(parts),
            *problems.of_leaks(leaking.leaks, leaking.raised),
            *problems.of_places(places),
            *problems.of_counts(counts.conflicts, duplicated[1]),
            *problems.of_repeats(shards),
        ],
    }


def _completeness(
    parts: verdicts.Parts, duplicated: tuple[list[str], int]
) -> dict[str, Any]:  # Any: JSON
    return {
        "expected_shards": parts.expected,
        "received": parts.received,
        "missing": sorted({index for _, index, _ in parts.missing}),
        "missing_parts": [
            {"job": job, "index": index, "count": of}
            for job, index, of in parts.missing
        ],
        "duplicated_tests": duplicated[0],
        "duplicated_total": duplicated[1],
    }


def _duplicated(project_id: int, merged: Merged) -> tuple[list[str], int]:
    """Return node ids of tests in several shards or jobs (the first), and how many."""
    numbers = merged.columns.tests[merged.marked(Flag.DUPLICATE)]
    if not len(numbers):
        return [], 0
    cases = TestCase.objects.filter(
        project_id=project_id, number__in=numbers[:MOST_DUPLICATES].tolist()
    )
    return list(cases.order_by("number").values_list("nodeid", flat=True)), len(numbers)


def _reported(
    shards: Sequence[Shard], columns: Mapping[int, Columns], leaking: Leaking
) -> dict[str, int]:
    """Add up the elements of all reports, and the tests that only a trace tells of.

    A trace of what a report of the same part tells is the same elements once more.
    """
    total = dict.fromkeys(_REPORTED, 0)
    seen: dict[tuple[str, int, int], NDArray[np.int32]] = {}
    for shard in sorted(shards, key=lambda one: "junit" not in one.kinds):
        place = (shard.job, shard.index, shard.attempt)
        told = columns.get(shard.pk)
        again = dict.fromkeys(_REPORTED, 0)
        if told is not None:
            known = seen.get(place)
            if known is not None and "junit" not in shard.kinds:
                outcome = _as_reported(told, leaking.reported.get(shard.pk, {}))
                again = _elements(outcome[np.isin(told.tests, known)])
            # What came first is rising already.
            both = told.tests if known is None else np.union1d(known, told.tests)
            seen[place] = both
        for name in _REPORTED:
            # A module that was not collected is a result, but no element of a trace.
            total[name] += max(shard.reported.get(name, 0) - again[name], 0)
    return total


def _as_reported(columns: Columns, codes: Mapping[int, int]) -> NDArray[np.uint8]:
    """Return the outcomes as they were before gates' failures were taken away."""
    outcome = columns.outcome
    if codes:
        outcome = outcome.copy()
        for number, code in codes.items():
            outcome[columns.tests == number] = code
    return outcome


def _elements(outcomes: NDArray[np.uint8]) -> dict[str, int]:
    """Count outcomes in the words of a report."""
    found = {o: int(np.count_nonzero(outcomes == CODE[o])) for o in Outcome}
    return {
        "tests": len(outcomes),
        "passed": found[Outcome.PASSED] + found[Outcome.XPASSED],
        "failed": found[Outcome.FAILED],
        "errors": found[Outcome.ERROR],
        "skipped": found[Outcome.SKIPPED] + found[Outcome.XFAILED],
    }


def _duration(
    shards: Sequence[Shard], columns: Mapping[int, Columns], merged: Merged
) -> float:
    """Return the time all attempts took, what two uploads of one part say told once.

    Columns hold each test's last attempt; the earlier ones inside an upload are the
    rest of what the upload itself adds up to.
    """
    earlier: dict[tuple[str, int, int], float] = {}
    for shard in shards:
        if shard.pk in columns:
            last = float(np.nansum(columns[shard.pk].duration))
            rest = max(shard.duration_s - last, 0.0)
            place = (shard.job, shard.index, shard.attempt)
            earlier[place] = max(earlier.get(place, 0.0), rest)
    return merged.duration_s + sum(earlier.values())


def _by_attempt(
    shards: Sequence[Shard],
    columns: Mapping[int, Columns],
    attempts: Sequence[int],
    counts: Counts,
) -> list[dict[str, Any]]:  # Any: JSON
    rows = []
    for attempt in attempts:
        mine = [shard for shard in shards if shard.attempt == attempt]
        if len(attempts) > 1:
            counts = count(merge(parts_of(mine, dict(columns))).columns)
        places = {(shard.job, shard.index) for shard in mine}
        rows.append(
            {"attempt": attempt, "parts": len(places), "counts": asdict(counts)}
        )
    return rows


def _parts(
    places: Mapping[Place, list[Shard]],
    columns: Mapping[int, Columns],
    parts: verdicts.Parts,
) -> list[dict[str, Any]]:  # Any: JSON
    """Return one entry a place that came or is missing, by job and index."""
    counts = {shard.job: 0 for some in places.values() for shard in some}
    for some in places.values():
        for shard in some:
            counts[shard.job] = max(counts[shard.job], shard.count)
    rows = [
        _part(siblings, columns, counts[job]) for (job, _), siblings in places.items()
    ]
    rows += [
        _missing(job, index, of)
        for job, index, of in parts.missing
        if (job, index) not in places
    ]
    return sorted(rows, key=lambda row: (row["job"], row["index"]))


def _part(
    siblings: list[Shard], columns: Mapping[int, Columns], of: int
) -> dict[str, Any]:  # Any: JSON
    last = verdicts.latest(siblings)
    merged = merge(parts_of(siblings, dict(columns))).columns
    walls = [s.wall_s for s in last if s.wall_s is not None]
    codes = [s.exit_code for s in last if s.exit_code is not None]
    return {
        "job": last[0].job,
        "index": last[0].index,
        "count": of,
        "attempt": last[0].attempt,
        "tests": len(merged),
        "failing": sum(
            int(np.count_nonzero(merged.outcome == code))
            for code, outcome in enumerate(BY_CODE)
            if outcome in FAILING
        ),
        "duration_s": float(np.nansum(merged.duration)),
        "wall_s": max(walls, default=None),
        "order": verdicts.order_of([siblings]),
        "exit_code": max(codes, key=abs, default=None),
        "state": _state(siblings),
        "uploads": [shard.upload_id for shard in siblings],
    }


def _state(siblings: list[Shard]) -> str:
    if any(
        not verdicts.is_mended(shard, damage, siblings)
        for shard in siblings
        for damage in shard.damage
    ):
        return "damaged"
    if not any(map(verdicts.has_results, siblings)):
        return "missing"
    if verdicts.is_unfinished(siblings):
        return "incomplete"
    return "failed_outside" if verdicts.failed_outside(siblings) else "complete"


def _missing(job: str, index: int, of: int) -> dict[str, Any]:  # Any: JSON
    return {
        "job": job,
        "index": index,
        "count": of,
        "attempt": 0,
        "tests": 0,
        "failing": 0,
        "duration_s": 0.0,
        "wall_s": None,
        "order": "unknown",
        "exit_code": None,
        "state": "missing",
        "uploads": [],
    }
