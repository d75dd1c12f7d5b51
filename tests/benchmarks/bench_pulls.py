"""How long a verdict, the list of pull requests and a look at ancestors take.

    python -m tests.benchmarks.bench_pulls [--tests N] [--failing N] [--open N]

One default branch that fails in many tests, and open pull requests of which each
inherits them; the list with 5,000; look-ups among 100,000 commits. Wall time in one
process, CPU time where it says so, on SQLite or on PostgreSQL.
"""

from __future__ import annotations

import argparse
import random
import time

from tests.benchmarks import installation

_options = argparse.ArgumentParser(description=__doc__)
_options.add_argument("--database", default=installation.SQLITE)
_options.add_argument("--tests", type=int, default=12_000)
_options.add_argument("--failing", type=int, default=200)
_options.add_argument("--open", type=int, default=500)
_options.add_argument("--listed", type=int, default=5_000)
_options.add_argument("--commits", type=int, default=100_000)
CHOSEN = _options.parse_args()
installation.install()

from django.core.management import call_command  # noqa: E402 - as set up above
from django.db import transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from formats.context import Context  # noqa: E402
from formats.report import TestResult  # noqa: E402
from projects.models import Project  # noqa: E402
from pulls import ancestry, contexts, queries, repositories, verdicts  # noqa: E402
from pulls.commits import find_commit  # noqa: E402
from pulls.models import Commit, Pull, Verdict  # noqa: E402
from tests.benchmarks import tables  # noqa: E402
from tests.benchmarks.tables import Figure, percentile  # noqa: E402
from tests.builders import (  # noqa: E402
    START,
    later,
    make_context,
    make_project,
    make_result,
    make_run,
)

NAMES = [f"test_{n}" for n in range(CHOSEN.tests)]


def results(failing: int, *, first: int = 0) -> list[TestResult]:
    """Results of which some fail; `first` is the place of the first of them."""
    red = {f"test_{n}" for n in range(first, first + failing)}
    return [make_result(name, "failed" if name in red else "passed") for name in NAMES]


def sha(n: int) -> str:
    return f"{n:040x}"


def store(project: Project, made: list[TestResult], context: Context) -> None:
    """A run with its facts, as the stage stores them."""
    run_id = make_run(project, made, context=context)
    with transaction.atomic():
        repositories.hold(project)
        contexts.store(project, context, run_id=run_id)


def drain() -> list[float]:
    """Judge all that is due; return the milliseconds of each."""
    spent = []
    while (claimed := verdicts.claim(timezone.now())) is not None:
        started = time.perf_counter()
        verdicts.work(claimed)
        spent.append((time.perf_counter() - started) * 1000)
    return spent


def judged(project: Project) -> list[Figure]:
    base = make_context("m1", commit=sha(1), ancestry=(sha(1),))
    store(project, results(CHOSEN.failing), base)
    red = results(CHOSEN.failing + 3)
    rows = []
    for n in range(CHOSEN.open):
        pull = later(make_context(f"p{n}", pr=n + 1, branch=f"b{n}"), hours=1)
        head = sha(1_000 + n)
        named = Context(
            run=pull.run,
            pr=pull.pr,
            branch=pull.branch,
            commit=head,
            ancestry=(head, sha(1)),
            started_at=pull.started_at,
        )
        if n < 12:  # the others are as they would be stored, at a fraction of the time
            store(project, red, named)
            rows += drain()
    copies(project)
    newer = later(make_context("m2", commit=sha(2), ancestry=(sha(2), sha(1))), hours=2)
    started = time.perf_counter()
    store(project, results(CHOSEN.failing // 2), newer)
    due = verdicts.waiting(project.pk)
    again = drain()
    whole = time.perf_counter() - started
    return [
        Figure("a verdict, p50", percentile(rows, 0.5), "ms"),
        Figure("a verdict, p95", percentile(rows, 0.95), "ms", most=1_000),
        Figure("judged again after a run of the default branch", due, "pulls"),
        Figure("… each, p95", percentile(again, 0.95), "ms", most=1_000),
        Figure("… all of them, with the run", whole, "s"),
    ]


def copies(project: Project) -> None:
    """Let the verdicts that were made stand for the others too."""
    kept = list(Verdict.objects.select_related("pull"))
    for n in range(len(kept), CHOSEN.open):
        like = kept[n % len(kept)]
        pull = Pull.objects.create(
            project=project, number=n + 1, created_at=START, head_sha=like.head
        )
        Verdict.objects.create(
            pull=pull,
            **{
                field.attname: getattr(like, field.attname)
                for field in Verdict._meta.concrete_fields
                if field.attname != "pull_id"
            },
        )


def listed(project: Project) -> list[Figure]:
    rows = [
        Pull(project=project, number=100_000 + n, title=f"Change {n}", created_at=START)
        for n in range(CHOSEN.listed - CHOSEN.open)
    ]
    Pull.objects.bulk_create(rows, batch_size=1_000)
    figures = []
    for name, ask in (
        ("summaries, 100", lambda: queries.summaries(project.pk)),
        (
            "summaries, open, 50",
            lambda: queries.summaries(project.pk, state="open", limit=50),
        ),
        ("summaries, red", lambda: queries.summaries(project.pk, red=True)),
        ("counts by word", lambda: queries.count_pulls(project.pk)),
        ("one with its evidence", lambda: queries.get_pull(project.pk, 7)),
    ):
        spent = []
        for _ in range(20):
            started = time.perf_counter()
            ask()
            spent.append((time.perf_counter() - started) * 1000)
        figures.append(Figure(name, percentile(spent, 0.95), "ms", most=150))
    return figures


def looked_up(project: Project) -> list[Figure]:
    count = CHOSEN.commits
    started = time.perf_counter()
    with transaction.atomic():
        repositories.hold(project)
        first = 10_000_000
        for start in range(0, count, 2_000):
            names = [sha(first + n) for n in range(start, min(start + 2_000, count))]
            before = [sha(first + start - 1)] if start else []
            ancestry.learn(project.pk, [*reversed(names), *before])
        newest = find_commit(project.pk, sha(first + count - 1))
        assert newest is not None
        ancestry.mark_default(newest)
        Commit.objects.filter(line=newest.line_id, depth__lt=60).update(tested=True)
    learned = time.perf_counter() - started
    rng, spent, bases = random.Random(3), [], []
    for _ in range(200):
        name = sha(first + rng.randrange(count // 2, count))
        started = time.process_time()
        commit = find_commit(project.pk, name)
        assert commit is not None
        assert len(ancestry.ancestors_with_runs(commit, most=50)) == 50
        spent.append((time.process_time() - started) * 1000)
        started = time.process_time()
        assert ancestry.merge_base(commit) is not None
        bases.append((time.process_time() - started) * 1000)
    return [
        Figure(f"{count:,} commits learned", learned, "s"),
        Figure(
            "50 ancestors with runs, CPU p95", percentile(spent, 0.95), "ms", most=20
        ),
        Figure("the merge base, CPU p95", percentile(bases, 0.95), "ms", most=20),
    ]


def main() -> None:
    call_command("migrate", verbosity=0)
    project = make_project("acme/app")
    tables.show("Verdicts", judged(project))
    tables.show("Reading", listed(project))
    tables.show("Ancestry", looked_up(project))


if __name__ == "__main__":
    main()
