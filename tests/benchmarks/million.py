"""Ten million results in a database, quickly: through `results.recording`, not HTTP.

    python -m tests.benchmarks.million --data DIRECTORY [--runs 800] [--tests 12500]

Seeded. Outcomes and durations differ from run to run: some tests are flaky, some broke
for a while, each has its own pace. The database is kept, for the benchmark of pages.
"""

from __future__ import annotations

import argparse
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.benchmarks import installation

_options = argparse.ArgumentParser(description=__doc__)
_options.add_argument("--data", type=Path, required=True)
_options.add_argument("--runs", type=int, default=800)
_options.add_argument("--tests", type=int, default=12_500)
CHOSEN = _options.parse_args()
installation.install(kept=CHOSEN.data)

from django.db import transaction  # noqa: E402 - as set up above
from django.utils import timezone  # noqa: E402

from formats.context import Context  # noqa: E402
from formats.cycles import no_collections  # noqa: E402
from formats.outcomes import Outcome  # noqa: E402
from formats.report import (  # noqa: E402
    Contribution,
    OrderQuality,
    Reported,
    TestResult,
)
from ingest.models import State, Upload  # noqa: E402
from results import recording  # noqa: E402
from tests.benchmarks import feeding, reports, tables  # noqa: E402

if TYPE_CHECKING:
    from projects.models import Project

A_DAY = 10
_CAUSES = [f"assert total == {n * 7} in the ledger of branch" for n in range(60)]


class Suite:
    """Tests with their pace and temper; `run` draws one execution of all of them."""

    def __init__(self, tests: int, seed: int) -> None:
        self._draw = np.random.default_rng(seed)
        self._pace = self._draw.lognormal(-4.2, 1.0, tests)
        self._fails = np.where(self._draw.random(tests) < 0.02, 0.05, 0.0005)
        self._skips = self._draw.random(tests) < 0.006
        self._broken: dict[int, int] = {}  # test: runs that it stays so
        self._plain = [
            TestResult(
                key=f"{place}::{name}",
                nodeid=f"{place.replace('.', '/')}.py::{name}",
                rank=2,
                file=f"{place.replace('.', '/')}.py",
                suite="",
                name=name,
                params="",
                outcome=Outcome.PASSED,
                process=number % 4,
                position=number // 4,
            )
            for number, (place, name) in enumerate(reports.names(tests))
        ]

    def run(self) -> Contribution:
        noise = self._draw.lognormal(0, 0.2, len(self._plain))
        seconds = np.round(self._pace * noise, 3).tolist()
        failing = set(np.flatnonzero(self._draw.random(len(seconds)) < self._fails))
        failing |= set(self._broken)
        self._broken = {test: left - 1 for test, left in self._broken.items() if left}
        if self._draw.random() < 0.1:
            self._broken[int(self._draw.integers(len(seconds)))] = 15
        results = [
            one._replace(duration=time)
            for one, time in zip(self._plain, seconds, strict=True)
        ]
        for test in np.flatnonzero(self._skips):
            results[test] = results[test]._replace(
                outcome=Outcome.SKIPPED, message="not on this system"
            )
        for test in failing:
            results[test] = self._failed(results[test])
        return _contribution(results)

    def _failed(self, result: TestResult) -> TestResult:
        cause = _CAUSES[int(self._draw.integers(len(_CAUSES)))]
        number = int(self._draw.integers(10_000))
        text = f"{result.file}:{number % 300 + 1}: in {result.name}\n" + "\n".join(
            f"shop/part{depth}.py:{depth * 3 + 1}: in step_{depth}\n    go({depth})"
            for depth in range(25)
        )
        message = f"AssertionError: {cause} {number}"
        return result._replace(
            outcome=Outcome.FAILED, message=message, text=f"{text}\nE   {message}"
        )


def _contribution(results: list[TestResult]) -> Contribution:
    outcomes = [one.outcome for one in results]
    told = Reported(
        tests=len(results),
        passed=outcomes.count(Outcome.PASSED),
        failed=outcomes.count(Outcome.FAILED),
        skipped=outcomes.count(Outcome.SKIPPED),
    )
    return Contribution(
        results=results,
        processes=["gw0", "gw1", "gw2", "gw3"],
        order=OrderQuality.ASSUMED,
        reported=told,
        duration_s=sum(one.duration or 0.0 for one in results),
    )


def record(project: Project, number: int, contribution: Contribution) -> None:
    """Record a run, with the row of an upload that could have brought it."""
    start = timezone.now().replace(minute=0, second=0, microsecond=0)
    start -= timedelta(days=(CHOSEN.runs - number) // A_DAY + 1)
    start += timedelta(minutes=20 * (number % A_DAY))
    branch = "main" if number % 3 else f"feature/{number % 17}"
    context = Context(
        run=f"ci-{number}", branch=branch, commit=f"c{number}", started_at=start
    )
    upload = Upload.objects.create(
        project=project,
        delivery_id=f"d{number}",
        digest=f"{number:064}",
        state=State.PROCESSED,
        files=[{"n": 1, "kind": "junit", "name": "r.xml", "size": 9, "sha256": "0"}],
        body="gone",
        content_type="multipart/form-data",
        wire_bytes=9,
        unpacked_bytes=9,
        received_at=start,
        processed_at=start,
    )
    prepared = recording.prepare(
        project,
        upload_id=upload.pk,
        received_at=start,
        context=context,
        contribution=contribution,
        kinds=["junit"],
        file_digests=[str(number)],
    )
    with transaction.atomic():
        stored = recording.store(prepared)
        Upload.objects.filter(pk=upload.pk).update(run_id=stored.run_id)


def main() -> None:
    fed = feeding.make_project()
    suite = Suite(CHOSEN.tests, seed=7)
    with tables.spending() as spent, no_collections():
        for number in range(CHOSEN.runs):
            record(fed.project, number, suite.run())
            if number % A_DAY == A_DAY - 1:
                feeding.finish_days()
        feeding.finish_days()
    results = CHOSEN.runs * CHOSEN.tests
    tables.say(f"{results:,} results in {spent.wall:.0f} s")


if __name__ == "__main__":
    main()
