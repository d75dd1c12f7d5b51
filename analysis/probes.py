"""The cheapest next experiment, when the runs so far cannot decide.

Guarantees: a probe is always executable (its tests exist in the suite) and always
says why; one order halves the belief, so log2 of the open candidates is enough.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np

from analysis.history import Floats, History
from analysis.judgement import Ask, Candidate, Probe, Status
from analysis.outcomes import Outcomes

_SPREAD = 0.5  # of the order posterior; a best candidate above it is tried alone
_FAINT, _MANY = 0.1, 8  # no candidate after that many failures: perhaps a pair
_WIDE = 0.005  # candidates below this share are left out of the next order


def propose(
    history: History,
    test: int,
    outcomes: Outcomes,
    candidates: Sequence[Candidate],
    posterior: Floats,
) -> Probe | None:
    """The probe for one test. posterior: (2 N,) leakers, then setters."""
    if any(one.status is Status.PROVEN for one in candidates):
        return None
    if np.isnan(outcomes.place).all():
        return Probe(Ask.TRACE, "The order of no run is known: record an order trace.")
    if not candidates:
        return Probe(Ask.MORE, "No test is suspected yet: more shuffled runs.")
    if _alone(history, test, candidates):
        why = f"{len(candidates[0].group)} tests ran before it in the same runs always."
        return Probe(Ask.SHUFFLE, f"{why} Shuffle the whole suite in 20 to 40 runs.")
    best = candidates[0]
    order_mass = float(posterior.sum())
    if best.status is Status.CONFIRMED or best.posterior > _SPREAD * order_mass:
        return Probe(
            Ask.PAIR,
            "Running the two in a fresh process proves or clears it.",
            (best.test, test),
        )
    if order_mass > _SPREAD and best.rank < _FAINT and outcomes.n_failed >= _MANY:
        return Probe(
            Ask.PREFIX,
            "No single test explains so many failures: minimise the shortest failing "
            "prefix.",
        )
    if order_mass > _SPREAD:
        return next_order(history, test, posterior)
    return Probe(Ask.MORE, "Order explains less than half of it: more shuffled runs.")


def _alone(history: History, test: int, candidates: Sequence[Candidate]) -> bool:
    group = candidates[0].group
    return len(group) > max(8, history.n_tests // 100)


def next_order(history: History, test: int, posterior: Floats) -> Probe:
    """Half of the posterior mass before the test, the rest after: one bit a run."""
    mass = posterior[: history.n_tests] + posterior[history.n_tests :]
    order = np.argsort(-mass, kind="stable")
    order = order[mass[order] > _WIDE * mass.sum()]
    total, chosen, held = float(mass[order].sum()), [], 0.0
    for one in order:
        if held + mass[one] / 2 <= total / 2:
            chosen.append(int(one))
            held += float(mass[one])
    why = "These hold half of the belief: run them first, then the test, then the rest."
    return Probe(Ask.ORDER, why, (*chosen, test))


def command(probe: Probe, nodeids: Sequence[str]) -> str:
    """The shell command of a probe; empty when it is not one command."""
    if probe.ask is Ask.SHUFFLE:
        return "pytest -p random_order --random-order-bucket=global"
    if not probe.tests:
        return ""
    names = " ".join(shlex.quote(nodeids[test]) for test in probe.tests)
    return f"pytest -p no:randomly -p no:random_order {names}"
