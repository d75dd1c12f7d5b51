"""What a leaker, a flake or a regression cost: failures, red runs, minutes, people.

Guarantees: a red run is counted once and shared among its causes, so the charges of
one run sum to the run; a failure is charged by posterior weight, so an unsure claim
pays in part. The unexplained share is charged to nobody and shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

NOBODY = -1  # the share that no cause explains


@dataclass(frozen=True)
class RedRun:
    """One run that was red.

    failures   failing test -> cause -> weight (posterior, 0 .. 1)
    duration_s of the whole run
    reruns_s   spent on further attempts inside it
    repeats_s  spent on repeated CI attempts of its commit
    pull       pull request that it turned red, if any
    """

    failures: Mapping[int, Mapping[int, float]]
    duration_s: float
    reruns_s: float = 0.0
    repeats_s: float = 0.0
    pull: int | None = None


@dataclass
class _Tally:
    results: float = 0.0
    runs: float = 0.0
    seconds: float = 0.0
    pulls: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Cost:
    """What one cause cost. Fractions come from shared and unsure causes.

    pulls: each pull request turned red, once, however many runs it took.
    """

    cause: int
    failed_results: float
    failed_runs: float
    lost_s: float
    pulls: int


def charge(runs: Iterable[RedRun]) -> tuple[Cost, ...]:
    """Charge every red run to its causes, dearest first.

    Σ over failures of posterior weight = failed results; a run's share of a cause is
    its weight over all failures of the run; minutes = share × (duration + reruns +
    repeated attempts).
    """
    tallies: dict[int, _Tally] = {}
    for run in runs:
        weights = _weights(run.failures.values())
        total = sum(weights.values())
        for cause, weight in weights.items():
            tally = tallies.setdefault(cause, _Tally())
            share = weight / total
            tally.results += weight
            tally.runs += share
            tally.seconds += share * (run.duration_s + run.reruns_s + run.repeats_s)
            if run.pull is not None:
                tally.pulls.add(run.pull)
    costs = [
        Cost(cause, one.results, one.runs, one.seconds, len(one.pulls))
        for cause, one in tallies.items()
    ]
    return tuple(sorted(costs, key=lambda cost: (-cost.lost_s, cost.cause)))


def _weights(failures: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Cause -> summed weight; what the causes of a failure leave open is NOBODY's."""
    summed: dict[int, float] = {}
    for causes in failures:
        held = sum(causes.values())
        scale = 1.0 / held if held > 1.0 else 1.0
        for cause, weight in causes.items():
            if weight > 0:
                summed[cause] = summed.get(cause, 0.0) + weight * scale
        open_ = 1.0 - min(held, 1.0)
        if open_ > 1e-12:
            summed[NOBODY] = summed.get(NOBODY, 0.0) + open_
    return summed


def formula() -> Sequence[str]:
    """The formula as the page prints it."""
    return (
        "A failure is charged to its causes by their posterior.",
        "A red run counts once, shared among its causes by what they were charged.",
        "Minutes lost = share × (run + reruns inside it + repeated attempts).",
        "A pull request turned red counts once.",
    )
