"""The rules of effect ledgers said once more, slowly, straight from the format.

It knows nothing of `formats.effects`: it reads the lines' own objects, holds every
claim against every observation, and compares paths with the standard library. Only
for small ledgers that are known to be well formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

type Record = dict[str, Any]

READ_BY = {
    "filesystem": "filesystem_read",
    "owned": "owned_record_read",
    "external": "remote_readback",
}
WORST_FIRST = (
    "failed", "contradicted", "pending", "unverified", "not_executed",
    "state_observed", "verified",
)  # fmt: skip


@dataclass(frozen=True)
class Expected:
    execution: str
    impact: str | None
    verdict: str
    cleanup: str
    unresolved_impact: bool
    disclosure: str
    superseded: bool
    severity: str  # of its finding; empty: none
    freshness: tuple[str | None, ...]  # of the deciding look of each obligation


def overlap(one: Record, other: Record) -> bool:
    if one["kind"] != other["kind"]:
        return False
    *place, last = one["location"]
    *other_place, other_last = other["location"]
    if one["kind"] == "filesystem":
        path, other_path = PurePosixPath(last), PurePosixPath(other_last)
        related = (
            path == other_path
            or path in other_path.parents
            or other_path in path.parents
        )
        return bool(place == other_place and related)
    if one["kind"] == "owned":
        is_same = last == other_last or last == "*" or other_last == "*"
        return bool(place == other_place and is_same)
    return bool(one["location"] == other["location"])


def may_touch(claim: Record, resource: Record) -> bool:
    scope = claim["impact_scope"]
    return not scope or any(overlap(ref, resource) for ref in scope)


class Reference:
    def __init__(self, lines: list[Record], *, run_ended: bool) -> None:
        self.run_ended = run_ended
        self.claims = [x["record"] for x in lines if x["type"] == "claim"]
        self.looks = [x["record"] for x in lines if x["type"] == "observation"]
        self.outcomes = [x["record"] for x in lines if x["type"] == "outcome"]
        last = max((x["record"]["sequence"] for x in lines), default=0)
        for claim in self.claims if run_ended else []:
            if not self.outcomes_of(claim):
                last += 1
                self.outcomes.append(
                    {
                        "effect_id": claim["effect_id"],
                        "sequence": last,
                        "execution": "interrupted",
                        "impact": "possible",
                        "cleanup": "not_applicable",
                    }
                )

    def outcomes_of(self, claim: Record) -> list[Record]:
        told = [o for o in self.outcomes if o["effect_id"] == claim["effect_id"]]
        return sorted(told, key=lambda outcome: outcome["sequence"])

    def freshness(self, look: Record) -> str:
        resource, when = look["resource"], look["sequence"]
        touching = [c for c in self.claims if may_touch(c, resource)]
        for claim in touching:
            told = self.outcomes_of(claim)
            is_inert = bool(told) and told[-1]["impact"] == "none"
            if claim["sequence"] > when and not is_inert:
                return "stale"
        for later in self.looks:
            is_same = later["resource"]["location"] == resource["location"]
            moved = later["resource"]["incarnation"] != resource["incarnation"]
            if later["sequence"] > when and is_same and moved:
                return "stale"
        for claim in touching:
            before = [o for o in self.outcomes_of(claim) if o["sequence"] < when]
            is_open = not before or before[-1]["execution"] == "running"
            if claim["sequence"] < when and is_open:
                return "unsettled"
        return "fresh"

    def deciding(self, target: Record, settled: Record) -> Record | None:
        looks = [
            look
            for look in self.looks
            if look["resource"]["location"] == target["location"]
            and look["mechanism"] == READ_BY[target["kind"]]
            and look["sequence"] > settled["sequence"]
        ]
        return max(looks, key=lambda look: look["sequence"], default=None)

    def obligation(self, duty: Record, settled: Record) -> tuple[str, str | None]:
        """The verdict on one obligation and how fresh the look is."""
        look = self.deciding(duty["target"], settled)
        if look is None:
            return "unverified", None
        fresh = self.freshness(look)
        if fresh != "fresh":
            return "unverified", fresh
        holds = predicate(duty, look)
        if holds is None:
            return "unverified", fresh
        if not holds:
            return "contradicted", fresh
        if settled["execution"] == "failed":
            return "failed", fresh
        if settled["execution"] == "reported_success":
            return "verified", fresh
        return "state_observed", fresh

    def expect(self, claim: Record) -> Expected:
        told = self.outcomes_of(claim)
        last = told[-1] if told else None
        execution = last["execution"] if last else "attempted"
        impact = last["impact"] if last else None
        freshness: tuple[str | None, ...] = tuple(None for _ in claim["obligations"])
        if last is None or execution == "running":
            verdict = "pending"
        elif execution == "not_executed":
            verdict = "not_executed"
        elif not claim["obligations"]:
            verdict = "failed" if execution == "failed" else "unverified"
        else:
            each = [self.obligation(duty, last) for duty in claim["obligations"]]
            freshness = tuple(fresh for _, fresh in each)
            verdict = min((v for v, _ in each), key=WORST_FIRST.index)
            if execution == "failed" and verdict != "contradicted":
                verdict = "failed"
        unresolved = (
            impact != "none"
            and execution != "reported_success"
            and verdict not in ("state_observed", "contradicted")
        )
        cleanup = last["cleanup"] if last else "not_applicable"
        told_outside = disclosure(claim, execution, verdict)
        superseded = self.is_superseded(claim)
        severity = ""
        if verdict == "contradicted":
            severity = "P1"
        elif unresolved or cleanup == "failed":
            severity = "P2"
        elif told_outside or (execution == "running" and self.run_ended):
            severity = "P3"
        return Expected(
            execution,
            impact,
            verdict,
            cleanup,
            unresolved,
            told_outside,
            superseded,
            "" if superseded else severity,
            freshness,
        )

    def is_superseded(self, claim: Record) -> bool:
        """Every target was the target of a later claim."""
        mine = targets(claim)
        later = [c for c in self.claims if c["sequence"] > claim["sequence"]]
        return bool(mine) and all(
            any(target in targets(c) for c in later) for target in mine
        )


def targets(claim: Record) -> list[list[str]]:
    refs = [duty["target"] for duty in claim["obligations"]] or claim["impact_scope"]
    return [ref["location"] for ref in refs]


def predicate(duty: Record, look: Record) -> bool | None:
    exists, content = look["exists"], look["content_sha256"]
    if duty["predicate"] in ("exists", "absent"):
        return None if exists is None else exists == (duty["predicate"] == "exists")
    if exists is False:
        return False
    if look["coverage"] != "complete" or content == "":
        return None
    if duty["predicate"] == "content_sha256":
        return bool(content == duty["expected"])
    return bool(content != duty["expected"])


def disclosure(claim: Record, execution: str, verdict: str) -> str:
    if not claim["external"] or execution == "not_executed" or verdict == "verified":
        return ""
    if execution == "reported_success":
        return "reported success but not independently verified"
    return "reported failure" if execution == "failed" else "unknown outcome"
