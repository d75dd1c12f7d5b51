"""The class of every unstable test, with its evidence in words and numbers.

Guarantees: each judged test has one; so has one that only leaks by a gate's word, and
one that could not be judged because too many were unstable at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis import METHOD_VERSION
from analysis.judgement import Class
from analysis.probes import command
from leaks.costs import of_tests
from leaks.places import failing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from analysis.judgement import Judgement
    from leaks.judging import Judged

_NAMED_RUNS = 20
_TOO_MANY = (
    "Too many tests are unstable at once: those that failed most were judged first."
)


@dataclass(frozen=True, slots=True)
class VerdictNow:
    """A verdict to be stored, the dearest first."""

    test: int
    name: Class
    missing: str = ""
    probe: dict[str, Any] | None = None  # Any: JSON
    evidence: dict[str, Any] = field(default_factory=dict)  # Any: JSON
    failed_runs: int = 0
    affected_prs: int = 0
    lost_s: float = 0.0
    last_failed: datetime | None = None


def verdicts_now(judged: Judged, nodeids: Sequence[str]) -> list[VerdictNow]:
    """Return the verdicts, the dearest first; `nodeids` are those of all tests."""
    costs = of_tests(judged)
    commits = {
        run.commit: facts.commit
        for run, facts in zip(judged.history.runs, judged.told.runs, strict=True)
    }
    found = []
    for test, judgement in judged.judgements.items():
        cost = costs.get(test)
        lost_s = cost.lost_s if cost else 0.0
        found.append(_judged(judged, judgement, commits, nodeids, lost_s))
    found += [
        _gated(judged, test) for test in judged.gated if test not in judged.judgements
    ]
    found += [
        VerdictNow(test, Class.UNEXPLAINED, missing=_TOO_MANY, evidence=_method(judged))
        for test in judged.crowd
        if test not in judged.gated
    ]
    return sorted(found, key=lambda one: (-one.lost_s, -one.failed_runs, one.test))


def _judged(
    judged: Judged,
    judgement: Judgement,
    commits: dict[int, str],
    nodeids: Sequence[str],
    lost_s: float,
) -> VerdictNow:
    test = judgement.test
    runs = {facts.id: facts for facts in failing(judged, test)}
    name = judgement.cls
    if name is Class.UNEXPLAINED and test in judged.gated:
        name = Class.GATE
    return VerdictNow(
        test=test,
        name=name,
        missing=judgement.missing if name is Class.UNEXPLAINED else "",
        probe=_probe(judgement, nodeids),
        evidence={
            **_method(judged),
            "stories": {
                story.value: float(mass) for story, mass in judgement.stories.items()
            },
            "failed": judgement.n_failed,
            "passed": judgement.n_passed,
            "same_commit": judgement.same_commit,
            "stretch": [commits.get(one, "") for one in judgement.stretch or ()],
            "runs": list(runs)[-_NAMED_RUNS:],
        },
        failed_runs=len(runs),
        affected_prs=len({one.pr for one in runs.values()} - {None}),
        lost_s=lost_s,
        last_failed=max((one.started_at for one in runs.values()), default=None),
    )


def _probe(judgement: Judgement, nodeids: Sequence[str]) -> dict[str, Any] | None:
    probe = judgement.probe
    if probe is None:
        return None
    return {
        "ask": probe.ask.value,
        "why": probe.why,
        "command": command(probe, nodeids),
    }


def _gated(judged: Judged, test: int) -> VerdictNow:
    gated = judged.gated[test]
    return VerdictNow(
        test=test,
        name=Class.GATE,
        evidence={**_method(judged), "kinds": gated.kinds, "leaks": gated.runs},
        last_failed=gated.last_at,
    )


def _method(judged: Judged) -> dict[str, Any]:  # Any: JSON
    return {"method_version": METHOD_VERSION, "window_days": judged.window}
