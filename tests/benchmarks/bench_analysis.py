"""Prints the tables of docs/statistics.md: recorded suites, generated histories,
false alarms, speed, growth.

    python -m tests.benchmarks.bench_analysis [recorded generated alarms speed growth]

One core; times are CPU seconds of this process, so that a busy machine does not
spoil them much. Labels of the recorded suites are read for scoring alone.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any  # keyword options of the generator

import numpy as np

from analysis.history import History
from analysis.judge import judge_all
from analysis.judgement import Judgement, Status
from analysis.observations import mixed
from analysis.priors import GATE_FACTOR, Beliefs, Story
from tests.histories import Order, World, scattered, simulate
from tests.recorded import INJECTED, REAL, load_suite

N = 12_000


def say(line: str = "") -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@dataclass
class Score:
    """Counts over judged tests; `share` of named, `recall` of claimed."""

    tests: int = 0
    first: int = 0
    three: int = 0
    claimed: int = 0
    claims: int = 0
    right: int = 0

    def add(self, one: Judgement, causes: frozenset[int]) -> None:
        names = list(dict.fromkeys(c.test for c in one.candidates))[:3]
        claims = [c.test for c in one.candidates if c.status is Status.CONFIRMED]
        self.claims += len(claims)
        self.right += sum(test in causes for test in claims)
        if causes:
            self.tests += 1
            self.first += bool(names) and names[0] in causes
            self.three += any(test in causes for test in names)
            self.claimed += bool(claims)

    def of(self, count: int) -> float:
        return count / max(self.tests, 1)


def sampled(history: History, size: int, rng: np.random.Generator) -> History:
    chosen = np.sort(rng.choice(len(history.runs), size, replace=False))
    return replace(history, runs=tuple(history.runs[i] for i in chosen))


def recorded(samples: int = 20) -> None:
    say("| recorded suite | runs | first / first three | claimed | claims right |")
    say("|---|---|---|---|---|")
    totals = Counter[str]()
    for size in (5, 10, 20, 40):
        means = []
        for name in (*REAL, *INJECTED):
            score, classes = _recorded(name, size, samples)
            say(
                f"| {name} | {size} | {score.of(score.first):.2f} / "
                f"{score.of(score.three):.2f} | {score.of(score.claimed):.2f} | "
                f"{score.right} of {score.claims} |"
            )
            totals["right"] += score.right
            totals["claims"] += score.claims
            if name in REAL:
                means.append(
                    [score.of(x) for x in (score.first, score.three, score.claimed)]
                )
            else:
                totals.update({f"{k} at {size}": v for k, v in classes.items()})
        first, three, claimed = np.mean(means, axis=0)
        say(
            f"| **mean of {len(REAL)} real** | {size} | **{first:.3f} / {three:.3f}** |"
            f" **{claimed:.3f}** | |"
        )
    say()
    say(", ".join(f"{key}: {value}" for key, value in totals.items()))
    say()


def _recorded(name: str, size: int, samples: int) -> tuple[Score, Counter[str]]:
    suite, score, classes = load_suite(name), Score(), Counter[str]()
    for sample in range(samples):
        rng = np.random.default_rng([2026, size, sample])
        for one in judge_all(sampled(suite.history, size, rng)):
            kind, causes = suite.truth.get(one.test, ("unlabelled", frozenset()))
            score.add(one, causes)
            if kind == "cross-worker":
                classes[f"cross-worker classed {one.cls.value}"] += 1
                classes["cross-worker claims"] += len(one.claims)
    return score, classes


def generated(seeds: int = 8) -> None:
    say(
        "| generated, N = 12,000 | runs | processes | noise | first / three | claimed |"
        " claims right |"
    )
    say("|---|---|---|---|---|---|---|")
    pooled: dict[str, Any] = {"leaks": 6, "victims": 10}
    cleaned: dict[str, Any] = {"leaks": 6, "victims": 8, "cleaners": 12}
    rows: list[tuple[str, int, int, float, dict[str, Any]]] = [
        ("one leaker", 20, 1, 0.0, {}),
        ("one leaker", 25, 1, 0.0, {}),
        ("one leaker", 40, 4, 0.0, {}),
        ("one leaker", 40, 8, 0.0, {}),
        ("one leaker", 80, 8, 0.0, {}),
        ("one leaker", 40, 1, 0.02, {}),
        ("one leaker", 40, 1, 0.1, {}),
        ("10 victims a leaker", 10, 4, 0.0, pooled),
        ("10 victims a leaker", 20, 4, 0.0, pooled),
        ("8 victims, 12 cleaners", 40, 1, 0.0, cleaned),
        ("8 victims, 12 cleaners", 80, 1, 0.0, cleaned),
        ("3 alternative leakers", 40, 4, 0.0, {"leakers": 3}),
        ("two partners", 80, 4, 0.0, {"leakers": 2, "partners": True}),
        ("one setter", 40, 1, 0.0, {"setter": True}),
        ("5 setters", 40, 1, 0.0, {"setter": True, "leakers": 5}),
        ("gate", 10, 4, 0.0, {"gate": True}),
        ("gate", 20, 4, 0.0, {"gate": True}),
    ]
    for name, runs, processes, noise, options in rows:
        score = _generated(seeds, runs, processes, noise, dict(options))
        say(
            f"| {name} | {runs} | {processes} | {noise:.0%} | "
            f"{score.of(score.first):.3f} / {score.of(score.three):.3f} | "
            f"{score.of(score.claimed):.2f} | {score.right} of {score.claims} |"
        )
    say()


def _generated(seeds: int, runs: int, processes: int, noise: float, options) -> Score:
    score = Score()
    gate = options.pop("gate", False)
    for seed in range(seeds):
        rng = np.random.default_rng([2027, seed])
        world = scattered(N, rng, **{"leaks": 24, **options})
        history = simulate(world, rng, runs=runs, processes=processes, noise=noise)
        beliefs = _gate(world, rng) if gate else None
        for one in judge_all(history, beliefs=beliefs):
            score.add(one, world.causes(one.test))
    return score


def _gate(world: World, rng: np.random.Generator) -> Beliefs:
    """A gate that sees 60 % of the leaks and flags 0.5 % of the innocent."""
    flags = rng.random(world.n_tests) < 0.005
    for leak in world.leaks:
        flags[list(leak.leakers)] = rng.random(len(leak.leakers)) < 0.6
    return Beliefs(gate=np.where(flags, GATE_FACTOR, 1.0))


def alarms(seeds: int = 8) -> None:
    say(
        "| no order effect | order | processes | runs | judged | false pairs |"
        " right / wrong claims beside |"
    )
    say("|---|---|---|---|---|---|---|")
    for kind in ("flaky", "regression"):
        for order, processes, runs, commits, growth in (
            (Order.SHUFFLED, 2, 20, 1, 0),
            (Order.SHUFFLED, 2, 40, 1, 0),
            (Order.SHUFFLED, 2, 80, 1, 0),
            (Order.SHUFFLED, 4, 40, 40, 0),
            (Order.MODULE, 2, 40, 40, 0),
            (Order.FIXED, 1, 40, 40, 60),
            (Order.FIXED, 8, 40, 40, 60),
            (Order.FIXED, 8, 100, 100, 100),
        ):
            if kind == "regression" and commits == 1:
                continue
            judged, false, right, wrong = 0, 0, 0, 0
            for seed in range(100, 100 + seeds):
                rng = np.random.default_rng([2028, seed])
                world = _calm(rng, kind, commits)
                history = simulate(
                    world,
                    rng,
                    runs=runs,
                    processes=processes,
                    order=order,
                    commits=commits,
                    growth=growth,
                )
                for one in judge_all(history):
                    causes = world.causes(one.test)
                    if causes:
                        right += any(c.test in causes for c in one.claims)
                        wrong += any(c.test not in causes for c in one.claims)
                    else:
                        judged += 1
                        false += bool(one.claims)
            say(
                f"| {kind} | {order.value}, growth {growth} | {processes} | {runs} | "
                f"{judged} | {false} | {right} / {wrong} |"
            )
    say()


def _calm(rng: np.random.Generator, kind: str, commits: int) -> World:
    """600 tests, four leakers with five victims each, and forty without a cause."""
    world = scattered(600, rng, leaks=4, victims=5)
    used = {victim for leak in world.leaks for victim in leak.victims}
    chosen = [int(t) for t in rng.choice(600, 40, replace=False) if int(t) not in used]
    if kind == "flaky":
        rates = rng.choice([0.02, 0.05, 0.1, 0.3, 0.5], len(chosen))
        return replace(world, flakes=dict(zip(chosen, rates.tolist(), strict=True)))
    broken = {}
    for test in chosen:
        start = int(rng.integers(commits // 5, commits - 1))
        stays = rng.random() < 0.6
        broken[test] = (
            start,
            commits if stays else int(rng.integers(start + 1, commits + 1)),
        )
    return replace(world, regressions=broken)


def unstable(n_tests: int, runs: int, processes: int, tests: int) -> History:
    """A suite in which that many tests have both outcomes, half of them flaky."""
    rng = np.random.default_rng(3)
    world = scattered(n_tests, rng, leaks=max(1, tests // 8), victims=4)
    chosen = rng.choice(n_tests, tests // 2, replace=False)
    rates = rng.uniform(0.01, 0.2, len(chosen))
    world = replace(
        world, flakes=dict(zip(chosen.tolist(), rates.tolist(), strict=True))
    )
    return simulate(world, rng, runs=runs, processes=processes)


def _timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _measure(n_tests: int, runs: int, processes: int, tests: int) -> None:
    history = unstable(n_tests, runs, processes, tests)
    wanted = mixed(history)[:tests]
    judged: list[Judgement] = []
    whole = _timed(lambda: judged.extend(judge_all(history, wanted)))
    known = {c.test: c.story for one in judged for c in one.claims}
    last = history.runs[-1]
    failed = np.intersect1d(last.tests[last.states == 1], wanted).astype(np.int32)
    beliefs = Beliefs(leakers=dict[int, Story](known))
    again = _timed(lambda: judge_all(history, failed, beliefs=beliefs))
    say(
        f"| {n_tests:,} | {runs:,} | {processes} | {len(wanted)} | {whole:.2f} | "
        f"{again * 1000:.0f} ({len(failed)} tests) | {_peak()} |"
    )


_HEAD = (
    "| tests | runs | processes | unstable | all, CPU s | after one run, CPU ms |"
    " peak MB so far |"
)


def speed() -> None:
    say(_HEAD)
    say("|---|---|---|---|---|---|---|")
    _measure(N, 1000, 8, 200)
    _measure(N, 1000, 1, 200)
    say()


def growth() -> None:
    say(_HEAD)
    say("|---|---|---|---|---|---|---|")
    for n_tests, runs in (
        (3_000, 250),
        (6_000, 500),
        (12_000, 1_000),
        (25_000, 1_000),
        (25_000, 2_000),
        (50_000, 2_000),
    ):
        _measure(n_tests, runs, 8, 200)
    say()


SECTIONS = {
    "recorded": recorded,
    "generated": generated,
    "alarms": alarms,
    "speed": speed,
    "growth": growth,
}


def main(names: list[str]) -> None:
    for name in names or list(SECTIONS):
        SECTIONS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
