"""The problems of a run, in words: why it is not simply green.

Guarantees: each is {"kind", "message", "upload"}; lists are capped, with the rest said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from results import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from results.models import Shard
    from results.verdicts import Damage, Parts, Place

    type Problem = dict[str, Any]  # Any: JSON

MOST = 100
NAMED = 20  # missing parts


def problem(kind: str, message: str, upload: int | None = None) -> Problem:
    return {"kind": kind, "message": message, "upload": upload}


def of_damage(places: Mapping[Place, Sequence[Shard]]) -> tuple[bool, list[Problem]]:
    """Tell whether a bad file is not mended, and say every bad file."""
    damaged, told = False, []
    for siblings in places.values():
        for shard in siblings:
            for damage in shard.damage:
                mended = verdicts.is_mended(shard, damage, siblings)
                damaged |= not mended
                text = _bad_file(damage)
                kind = "mended" if mended else "damage"
                text += " (mended since)" if mended else ""
                told.append(problem(kind, text, shard.upload_id))
    # What still counts is said first, whatever is cut.
    told.sort(key=lambda one: (one["kind"] == "mended", one["upload"]))
    return damaged, _capped(told, "mended")


def of_parts(parts: Parts) -> list[Problem]:
    told = [
        problem(
            "count",
            f"the parts{_of(job)} disagree on how many they are "
            f"({', '.join(map(str, counts))}): the largest number is used",
        )
        for job, counts in parts.disagree
    ]
    if parts.missing:
        told.append(problem("part", _not_received(parts.missing)))
    return told


def of_places(places: Mapping[Place, Sequence[Shard]]) -> list[Problem]:
    told = []
    for (job, index), siblings in places.items():
        last = verdicts.latest(siblings)
        name = f"part {_part(job, index, last[0].count)}"
        if verdicts.is_unfinished(siblings):
            text = f"{name} says itself that it is not complete"
            told.append(problem("part", text, last[-1].upload_id))
        if verdicts.failed_outside(siblings):
            codes = {shard.exit_code for shard in last if shard.exit_code}
            text = (
                f"failed outside the report: the command of {name} ended with "
                f"{', '.join(map(str, sorted(codes)))}, yet no case of it failed"
            )
            told.append(problem("outside", text, last[-1].upload_id))
    return _capped(told, "part")


def of_leaks(leaks: int, raised: int) -> list[Problem]:
    """Say what gates told: a leak that is enforced fails the run."""
    told = []
    if raised:
        word = "leak fails" if raised == 1 else "leaks fail"
        text = f"{raised:,} {word} it: state was left behind and a gate is enforced"
        told.append(problem("leak", text))
    if leaks > raised:
        more = leaks - raised
        word = "leak was" if more == 1 else "leaks were"
        told.append(problem("leak", f"{more:,} {word} reported only, not enforced"))
    return told


def _of(job: str) -> str:
    return f" of job {job!r}" if job else ""


def of_counts(conflicts: int, duplicates: int) -> list[Problem]:
    told = []
    if conflicts:
        text = (
            f"told differently by uploads of one part: {_tests(conflicts)}; "
            "the worse outcome counts"
        )
        told.append(problem("conflict", text))
    if duplicates:
        text = f"reported by several shards or jobs: {_tests(duplicates)}; the worse counts"
        told.append(problem("duplicate", text))
    return told


def of_repeats(shards: Iterable[Shard]) -> list[Problem]:
    told = [
        problem("duplicate", already_stored(shard.same_as_upload), shard.upload_id)
        for shard in shards
        if shard.same_as_upload
    ]
    return _capped(told, "duplicate")


def of_context(against: Sequence[Any]) -> list[Problem]:  # Any: as `first_words`
    told = [
        problem(
            "context",
            f"uploads disagree on {name}: upload {first_upload} says {first}, "
            f"upload {upload} says {value}; the first is kept",
            upload,
        )
        for name, first, first_upload, value, upload in against
    ]
    return _capped(told, "context")


def already_stored(upload: int) -> str:
    return f"already stored by upload {upload}: adds nothing"


def _bad_file(damage: Damage) -> str:
    place = [
        f"{word} {damage[key]}"
        for key, word in (("line", "line"), ("column", "column"))
        if damage.get(key) is not None
    ]
    at = f" ({', '.join(place)})" if place else ""
    return f"{damage['file']}: {damage['message']}{at}"


def _capped(told: list[Problem], kind: str) -> list[Problem]:
    if len(told) <= MOST:
        return told
    return [*told[:MOST], problem(kind, f"and {len(told) - MOST} more of the kind")]


def _not_received(missing: Sequence[tuple[str, int, int]]) -> str:
    some = [_part(*one) for one in missing[:NAMED]]
    if len(missing) == 1:
        return f"part {some[0]} was not received"
    more = len(missing) - len(some)
    rest = f" and {more} more" if more else ""
    return f"{len(missing)} parts were not received: {', '.join(some)}{rest}"


def _part(job: str, index: int, count: int) -> str:
    return f"{index}/{count}{_of(job)}"


def _tests(number: int) -> str:
    return "1 test" if number == 1 else f"{number} tests"
