"""What of a run or pull request makes a build red, by the reasons that were named.

Guarantees: a pure function of what the server said; what it cannot tell is said, and
never makes a build red or green by itself; a quarantined test never makes it red.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Json = Any  # as the read API gives it

SHOWN = 10
_DONE = ("merged", "closed")
_LIVE = ("open", "reopened")


@dataclass(frozen=True)
class Facts:
    """What the server said."""

    runs: list[Json]
    gates: list[Json]
    pull: Json | None = None
    flaky: list[Json] = field(default_factory=list)
    known_flaky: list[Json] = field(default_factory=list)
    leakers: list[Json] = field(default_factory=list)


@dataclass(frozen=True)
class Answer:
    """One reason: what was found for it."""

    reason: str
    found: list[str]
    unknown: str = ""  # why it cannot be told

    @property
    def red(self) -> bool:
        return bool(self.found)


def judge(facts: Facts, fail_on: Sequence[str]) -> list[Answer]:
    """Answer each of the reasons."""
    return [_ANSWERS[reason](facts) for reason in fail_on]


def described(facts: Facts, answers: Sequence[Answer]) -> Iterator[str]:
    """Yield the answer in lines for a log."""
    for run, gate in zip(facts.runs, facts.gates):  # noqa: B905 - of one length
        where = ", ".join(run["environment"].values())
        named = f"{run['run']} ({where})" if where else run["run"]
        yield f"{named}: {gate['answer']}. {' '.join(gate['reasons'])}"
    if facts.pull:
        said = facts.pull.get("sentence") or facts.pull["verdict"]
        yield f"pull request {facts.pull['number']}: {said}"
    for answer in answers:
        if answer.unknown:
            yield f"  ?  {answer.reason}: {answer.unknown}"
        elif not answer.red:
            yield f"  ok {answer.reason}"
        for text in answer.found[:SHOWN]:
            yield f"  NO {answer.reason}: {text}"
        if len(answer.found) > SHOWN:
            yield f"     and {len(answer.found) - SHOWN} more"
    if facts.pull and any(answer.red for answer in answers):
        yield from (f"  -> {_label(each)}" for each in facts.pull.get("advice") or [])


def _introduced_leak(facts: Facts) -> Answer:
    reason = "introduced-leak"
    if facts.pull is not None:
        return Answer(reason, [_label(x) for x in facts.pull["leaks"]["introduced"]])
    mine = {run["id"] for run in facts.runs}
    return Answer(
        reason,
        [
            f"{leaker['nodeid']} ({', '.join(leaker['kinds'])})"
            for leaker in facts.leakers
            if (leaker["first_seen"] or {}).get("run") in mine
        ],
    )


def _introduced_failure(facts: Facts) -> Answer:
    reason = "introduced-failure"
    if facts.pull is None:
        return Answer(reason, _failure(facts).found)
    spared = {name for gate in facts.gates for name in gate["quarantined"]}
    labels = [_label(each) for each in facts.pull["failures"]["introduced"]]
    return Answer(reason, [label for label in labels if label not in spared])


def _failure(facts: Facts) -> Answer:
    found = []
    for run, gate in zip(facts.runs, facts.gates):  # noqa: B905 - of one length
        outside = run.get("failed_outside")
        if gate["answer"] == "fail" and (gate["unquarantined"] or outside):
            found += [f"{run['run']}: {text}" for text in gate["reasons"]]
    return Answer("failure", found)


def _p0(facts: Facts) -> Answer:
    if facts.pull is None:
        return Answer("p0", [], "there is no pull request to have findings")
    return Answer(
        "p0",
        [
            f"{each.get('path') or ''}: {each.get('title') or ''}"
            for each in facts.pull["findings"]
            if each.get("severity") == "P0" and each.get("state") in _LIVE
        ],
    )


def _blocked(facts: Facts) -> Answer:
    if facts.pull is None:
        return Answer("blocked", [], "there is no pull request to be blocked")
    direct = facts.pull["blockers"]["direct"]
    waiting = [each for each in direct if not _is_done(each)]
    return Answer("blocked", [_label(each) for each in waiting])


def _is_done(blocker: Json) -> bool:
    if not isinstance(blocker, dict):
        return False
    return blocker.get("state") in _DONE or blocker.get("open") is False


def _new_flaky(facts: Facts) -> Answer:
    """Known are those that were unstable before this run began."""
    began = min(str(run["started_at"]) for run in facts.runs)
    known = {
        each["nodeid"]
        for each in facts.known_flaky
        if str(each.get("since") or began) < began or each["failed_runs"] > 1
    }
    names = {row["nodeid"] for row in facts.flaky}
    return Answer("new-flaky", sorted(names - known))


def _incomplete(facts: Facts) -> Answer:
    bad = ("incomplete", "damaged", "no_results")
    return Answer(
        "incomplete",
        [
            f"{run['run']} is {run['outcome'].replace('_', ' ')}"
            for run in facts.runs
            if run["outcome"] in bad
        ],
    )


def _label(each: Json) -> str:
    """Return the name of whatever a list of the answer holds."""
    if isinstance(each, int):
        return f"#{each}"
    if not isinstance(each, dict):
        return str(each)
    for name in ("nodeid", "name", "title", "text", "sentence", "number", "ref"):
        if each.get(name) not in (None, ""):
            return f"#{each[name]}" if name == "number" else str(each[name])
    return ", ".join(f"{name} {value}" for name, value in each.items())


_ANSWERS = {
    "introduced-leak": _introduced_leak,
    "introduced-failure": _introduced_failure,
    "failure": _failure,
    "p0": _p0,
    "blocked": _blocked,
    "new-flaky": _new_flaky,
    "incomplete": _incomplete,
}
