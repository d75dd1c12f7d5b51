"""Seeded histories whose causes are known, for tests and benchmarks.

A `World` is a suite with places (files, folders) and the states its tests share;
`simulate` runs it. Nothing is drawn outside the generator that the caller seeds, so
one seed is one history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from analysis.history import Bools, History, Ints, Run, State

type Indices = NDArray[np.int64]

FILE = 20  # tests in a file
FOLDER = 10  # files in a folder
SAME_FILE, SAME_FOLDER = 0.54, 0.83  # where published leakers live


class Order(StrEnum):
    SHUFFLED = "shuffled"
    MODULE = "module"  # files shuffled, and the tests inside each file
    FIXED = "fixed"


@dataclass(frozen=True)
class Leak:
    """One shared state: who makes it dirty, who cleans it, who fails then.

    partners  every leaker must have run (since the last cleaner), not just one
    setter    mirrored: the state starts bad, `leakers` are setters that mend it
    """

    leakers: tuple[int, ...]
    victims: tuple[int, ...]
    cleaners: tuple[int, ...] = ()
    partners: bool = False
    setter: bool = False
    strength: float = 1.0  # chance that the harm shows


@dataclass(frozen=True)
class World:
    """A suite: how many tests, which leaks, and what else makes tests fail.

    flakes       test -> rate of unrelated failures
    regressions  test -> (first, last + 1) failing commits
    """

    n_tests: int
    leaks: tuple[Leak, ...] = ()
    flakes: dict[int, float] = field(default_factory=dict)
    regressions: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def files(self) -> Ints:
        return (np.arange(self.n_tests) // FILE).astype(np.int32)

    @property
    def folders(self) -> Ints:
        return (np.arange(self.n_tests) // (FILE * FOLDER)).astype(np.int32)

    def causes(self, victim: int) -> frozenset[int]:
        """The tests that are right answers to "who breaks it?"."""
        return frozenset(
            leaker
            for leak in self.leaks
            if victim in leak.victims
            for leaker in leak.leakers
        )


def simulate(
    world: World,
    rng: np.random.Generator,
    *,
    runs: int,
    processes: int = 1,
    order: Order = Order.SHUFFLED,
    noise: float = 0.0,
    commits: int = 1,
    growth: int = 0,
    first_commit: int = 0,
    known: bool = True,
) -> History:
    """Run the world.

    noise    rate of unrelated failures of the victims
    commits  spread over the runs in order (1 = all runs of one code state)
    growth   that many tests, spread evenly over the suite, arrive one by one with
             the commits: chunk boundaries and orders drift
    """
    late = _arrivals(world.n_tests, growth, commits, rng)
    made = []
    for index in range(runs):
        commit = first_commit + index * commits // runs
        present = np.flatnonzero(late <= commit - first_commit).astype(np.int32)
        groups = _deal(_ordered(present, order, rng), processes, order)
        made.append(_run(world, groups, rng, noise=noise, commit=commit, known=known))
    return History(
        runs=tuple(made),
        n_tests=world.n_tests,
        files=world.files,
        folders=world.folders,
    )


def _arrivals(
    n_tests: int, growth: int, commits: int, rng: np.random.Generator
) -> Ints:
    late = np.zeros(n_tests, dtype=np.int32)
    if growth:
        chosen = rng.choice(n_tests, growth, replace=False)
        late[chosen] = rng.integers(1, max(commits, 2), growth)
    return late


def _ordered(tests: Ints, order: Order, rng: np.random.Generator) -> Ints:
    if order is Order.FIXED:
        return tests
    if order is Order.SHUFFLED:
        return rng.permutation(tests)
    keys = rng.permutation(int(tests.max()) // FILE + 1)[tests // FILE]
    return tests[np.lexsort((rng.random(len(tests)), keys))]


def _deal(tests: Ints, processes: int, order: Order) -> list[Ints]:
    """Round robin when shuffled (as `load` does), in chunks when the order is kept."""
    if processes == 1:
        return [tests]
    if order is Order.SHUFFLED:
        return [tests[start::processes] for start in range(processes)]
    chunk = max(1, len(tests) // (4 * processes))
    owner = (np.arange(len(tests)) // chunk) % processes
    return [tests[owner == process] for process in range(processes)]


def _run(
    world: World,
    groups: Sequence[Ints],
    rng: np.random.Generator,
    *,
    noise: float,
    commit: int,
    known: bool,
) -> Run:
    tests = np.concatenate(groups).astype(np.int32)
    offsets = np.concatenate(([0], np.cumsum([len(group) for group in groups])))
    place = np.full(world.n_tests, -1, dtype=np.int64)
    place[tests] = np.arange(len(tests))
    process = (np.searchsorted(offsets, place, side="right") - 1).astype(np.int64)
    failed = np.zeros(world.n_tests, dtype=bool)
    for leak in world.leaks:
        _apply(leak, place, process, failed, rng, noise)
    for test, rate in world.flakes.items():
        failed[test] |= rng.random() < rate
    for test, (start, stop) in world.regressions.items():
        failed[test] |= start <= commit < stop
    return Run(
        tests=tests,
        states=np.where(failed[tests], State.FAILED, State.PASSED).astype(np.int8),
        offsets=offsets.astype(np.int32),
        commit=commit,
        ordered=known,
        traced=known,
    )


def _apply(
    leak: Leak,
    place: Indices,
    process: Indices,
    failed: Bools,
    rng: np.random.Generator,
    noise: float,
) -> None:
    """Let one leak act: the last writer before each victim decides."""
    leakers = np.array(leak.leakers, dtype=np.int64)
    cleaners = np.array(leak.cleaners, dtype=np.int64)
    for victim in leak.victims:
        ahead = _ahead(leakers, victim, place, process)
        cleaned = _ahead(cleaners, victim, place, process).max(initial=-1)
        needed = ahead.min() if leak.partners else ahead.max(initial=-1)
        dirty = needed > cleaned and rng.random() < leak.strength
        failed[victim] |= dirty != leak.setter
        failed[victim] |= rng.random() < noise


def _ahead(tests: Indices, victim: int, place: Indices, process: Indices) -> Indices:
    """Place of each test that ran before the victim in its process, else -1."""
    at = place[tests]
    before = (at >= 0) & (at < place[victim]) & (process[tests] == process[victim])
    return np.where(before, at, -1)


def near(victim: int, n_tests: int, rng: np.random.Generator) -> int:
    """A leaker for this victim, as near as published ones are."""
    draw = rng.random()
    if draw < SAME_FILE:
        low, size = victim // FILE * FILE, FILE
    elif draw < SAME_FOLDER:
        low, size = victim // (FILE * FOLDER) * FILE * FOLDER, FILE * FOLDER
    else:
        low, size = 0, n_tests
    size = min(size, n_tests - low)
    found = low + int(rng.integers(size))
    return found if found != victim else near(victim, n_tests, rng)


def scattered(
    n_tests: int,
    rng: np.random.Generator,
    *,
    leaks: int,
    victims: int = 1,
    leakers: int = 1,
    cleaners: int = 0,
    partners: bool = False,
    setter: bool = False,
) -> World:
    """A world with that many leaks of one kind; leakers live near the first victim."""
    made = []
    for _ in range(leaks):
        first = int(rng.integers(n_tests))
        chosen = [near(first, n_tests, rng) for _ in range(leakers)]
        taken = {first, *chosen}
        others = _others(first, n_tests, victims - 1, taken, rng)
        undo = _others(first, n_tests, cleaners, taken, rng)
        made.append(
            Leak(
                leakers=tuple(dict.fromkeys(chosen)),
                victims=(first, *others),
                cleaners=tuple(undo),
                partners=partners,
                setter=setter,
            )
        )
    return World(n_tests=n_tests, leaks=tuple(made))


def _others(
    first: int, n_tests: int, wanted: int, taken: set[int], rng: np.random.Generator
) -> list[int]:
    found: list[int] = []
    while len(found) < wanted:
        test = near(first, n_tests, rng)
        if test in taken:
            test = int(rng.integers(n_tests))
        if test not in taken:
            found.append(test)
            taken.add(test)
    return found
