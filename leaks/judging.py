"""One whole judgement of a project: its facts and proofs in, what is believed out.

Guarantees: nothing is written; the same facts and proofs give the same judgement; the
newest proof of a pair counts, and outranks what the runs say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.history import State
from analysis.judge import judge_all
from analysis.observations import mixed, observe, usable
from analysis.priors import GATE_FACTOR, Beliefs, Story
from analysis.settled import settled
from leaks.histories import read_history
from leaks.memory import Memory, Weighing, base_of, hash_of
from leaks.models import Proof, ProofResult
from projects import options
from results.queries.gated import gated_tests
from results.queries.state import epoch_of

if TYPE_CHECKING:
    from datetime import datetime

    from analysis.history import History, Ints
    from analysis.judgement import Judgement
    from analysis.observations import Observations
    from leaks.histories import Told
    from leaks.memory import Remembered
    from projects.models import Project
    from results.queries.leak_shapes import Gated

type Proofs = dict[tuple[int, int], Proof]  # by the numbers of leaker and victim

# Judged together; memory is about 80 bytes for each of these.
MOST_CANDIDATES = 12_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """`judgements` by test number; `crowd` are unstable tests that were too many."""

    project_id: int
    told: Told
    window: int
    seen: Observations  # of the judged tests, in their order
    judgements: dict[int, Judgement]
    gated: dict[int, Gated]
    proofs: Proofs
    crowd: tuple[int, ...]

    @property
    def history(self) -> History:
        return self.told.history


def judge_project(
    project: Project, *, now: datetime | None = None, memory: Memory | None = None
) -> Judged:
    """Read a project's window and judge all of its unstable tests together."""
    memory = memory or Memory()
    remembered = memory.of(project.pk, epoch_of(project.pk))
    window = options.read(project).window_days
    told = read_history(project.pk, window=window, now=now, remembered=remembered)
    gated = {one.number: one for one in gated_tests(project.pk, window=window, now=now)}
    proofs = proofs_of(project)
    tests, crowd = _chosen(told.history)
    beliefs = _beliefs(told.history, gated, proofs)
    seen = observe(told.history, tests)
    weigh = _weighing(told, beliefs, remembered)
    found = judge_all(
        told.history, tests, beliefs=beliefs, seen=settled(seen), weigh=weigh
    )
    weigh.finish()
    memory.trim()
    return Judged(
        project_id=project.pk,
        told=told,
        window=window,
        seen=seen,
        judgements={one.test: one for one in found},
        gated=gated,
        proofs=proofs,
        crowd=crowd,
    )


def _weighing(told: Told, beliefs: Beliefs, remembered: Remembered) -> Weighing:
    history = told.history
    keys = [hash_of(repr(key).encode()) for key in told.keys]
    parts = np.array(keys, np.uint64)
    base = base_of(history.n_tests, history.files, history.folders, beliefs.gate)
    return Weighing(remembered, parts, base)


def proofs_of(project: Project) -> Proofs:
    """Return the newest proof of each pair."""
    rows = Proof.objects.filter(project=project).select_related("leaker", "victim")
    return {
        (proof.leaker.number, proof.victim.number): proof
        for proof in rows.order_by("created_at", "pk")
    }


def _chosen(history: History) -> tuple[Ints, tuple[int, ...]]:
    """The unstable tests: all, or those that failed most; and the others."""
    unstable = mixed(history)
    most = max(MOST_CANDIDATES // max(history.n_tests, 1), 1)
    if len(unstable) <= most:
        return unstable, ()
    failures = np.zeros(history.n_tests, np.int64)
    for run in history.runs:
        if usable(run):
            failing = run.tests[run.states == State.FAILED]
            failures += np.bincount(failing, minlength=history.n_tests)
    ranked = unstable[np.argsort(-failures[unstable], kind="stable")]
    return np.sort(ranked[:most]), tuple(sorted(ranked[most:].tolist()))


def _beliefs(history: History, gated: dict[int, Gated], proofs: Proofs) -> Beliefs:
    gate = None
    known = [number for number in gated if number < history.n_tests]
    if known:
        gate = np.ones(history.n_tests)
        gate[known] = GATE_FACTOR
    refuted: dict[int, frozenset[int]] = {}
    proven: dict[int, dict[int, Story]] = {}
    for (leaker, victim), proof in proofs.items():
        if max(leaker, victim) >= history.n_tests:
            continue
        if proof.result == ProofResult.REFUTED:
            refuted[victim] = refuted.get(victim, frozenset()) | {leaker}
        else:
            proven.setdefault(victim, {})[leaker] = Story(proof.kind)
    return Beliefs(gate=gate, refuted=refuted, proven=proven)
